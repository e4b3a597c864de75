#pragma once
// Would the kernel start a file in secure mode (AT_SECURE, getauxval(3)) if we executed it?

#include "tracso/target.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tracso::os {

/// Who would start it.
struct Starter {
  std::uint32_t user = 0, group = 0;  ///< real ids
  bool gains_nothing = false;         ///< PR_SET_NO_NEW_PRIVS: the set-ID bits do not count
};

/// What of a file decides.
struct StartedFile {
  std::uint32_t mode = 0, owner = 0, group = 0;
  bool on_nosuid_mount = false;
  std::string capabilities;  ///< the bytes of the attribute security.capability; empty: none
};

/// "its set-user-ID bit makes it run as user 0, and you are user 1000"; empty: it would not be
/// secure. The kernel's rule (security/commoncap.c, cap_bprm_creds_from_file): an effective id
/// differs from the real one that starts it, or somebody who is not root gets capabilities.
std::string secure_start(const StartedFile& file, const Starter& starter);

/// The same for this process and a file. Empty also where the file cannot be looked at.
std::string secure_start(const FileSystem& files, const TargetPath& path);

}  // namespace tracso::os
