#include "os/secure_start.hpp"

#include "base/byte_view.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <bit>

namespace tracso::os {
namespace {

// linux/capability.h, struct vfs_cap_data: a word with a flag, then permitted and inheritable.
bool gives_capabilities(std::string_view attribute) {
  constexpr std::uint32_t effective_flag = 1;
  const ByteView bytes(attribute, std::endian::little);
  const std::uint32_t head = bytes.get<std::uint32_t>(0).value_or(0);
  const std::uint32_t permitted =
      bytes.get<std::uint32_t>(4).value_or(0) | bytes.get<std::uint32_t>(12).value_or(0);
  return (head & effective_flag) != 0 || permitted != 0;
}

Starter this_process() {
  return {::getuid(), ::getgid(), ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1};
}

}  // namespace

std::string secure_start(const StartedFile& file, const Starter& starter) {
  const bool bits_count = !file.on_nosuid_mount && !starter.gains_nothing;
  if (bits_count && (file.mode & S_ISUID) != 0 && file.owner != starter.user) {
    return fmt::format("its set-user-ID bit makes it run as user {}, and you are user {}",
                       file.owner,
                       starter.user);
  }
  // Without the right to execute the bit means mandatory locking.
  const bool is_set_group = (file.mode & S_ISGID) != 0 && (file.mode & S_IXGRP) != 0;
  if (bits_count && is_set_group && file.group != starter.group) {
    return fmt::format("its set-group-ID bit makes it run with group {}, and yours is {}",
                       file.group,
                       starter.group);
  }
  if (!file.on_nosuid_mount && starter.user != 0 && gives_capabilities(file.capabilities)) {
    return fmt::format("it has file capabilities, and you are user {}", starter.user);
  }
  return "";
}

std::string secure_start(const FileSystem& files, const TargetPath& path) {
  const auto real = files.resolve(path);
  if (!real) {
    return "";
  }
  const std::string name = files.host_path(*real);

  struct stat from {};

  struct statvfs mount {};

  if (::stat(name.c_str(), &from) != 0) {
    return "";
  }
  StartedFile file{from.st_mode, from.st_uid, from.st_gid, false, {}};
  file.on_nosuid_mount = ::statvfs(name.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0;
  std::array<char, 64> attribute{};
  const ssize_t bytes =
      ::getxattr(name.c_str(), "security.capability", attribute.data(), attribute.size());
  if (bytes > 0) {
    file.capabilities.assign(attribute.data(), static_cast<std::size_t>(bytes));
  }
  return secure_start(file, this_process());
}

}  // namespace tracso::os
