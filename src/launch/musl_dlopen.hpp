#pragma once
// What is known of a dlopen of musl, whose records tell less than those of glibc: who has called it
// is noted when it begins, and why it was refused is read when it ends.
//
// Every refusal goes through one function (src/ldso/dlerror.c), which has vsnprintf count the
// words, allocates room and has vsnprintf write them there. So during a dlopen the entry of
// vsnprintf is watched, and where the format is one of the loader's own (ldso/dynlink.c) the room
// is noted: at the end of that dlopen, which musl tells as a change of its list even if nothing
// came, it holds what dlerror will give.

#include "tracso/target.hpp"

#include "launch/run.hpp"
#include "tracee/registers.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace tracso::launch {

struct MuslDlopen {
  std::uint64_t stack = 0;  ///< where its return address lies
  std::uint64_t caller = 0;
  std::uint64_t name = 0;   ///< of the text that was asked for
  std::uint64_t words = 0;  ///< where its refusal will stand; 0: none so far
};

class MuslDlopens {
 public:
  /// A thread stands at the entry of dlopen.
  void begin(const ProcessSource& process, pid_t thread, const tracee::Registers& registers);
  /// A thread stands at the entry of vsnprintf.
  void print(const ProcessSource& process, pid_t thread, const tracee::Registers& registers);
  /// The innermost one that has not returned to below that stack pointer; null: none.
  MuslDlopen* innermost(pid_t thread, std::uint64_t stack);

  /// How many have begun.
  std::size_t count() const { return count_; }

 private:
  std::map<pid_t, std::vector<MuslDlopen>> open_;  // outermost first
  std::size_t count_ = 0;
};

/// Is that format one of those by which the loader refuses a dlopen? Not those of dlsym, nor what
/// RTLD_NOLOAD did not find.
bool refuses_dlopen(std::string_view format);

/// Name and reason of musl's words, "Error loading shared library libz.so: No such file or
/// directory (needed by /opt/plugin.so)".
FailedLoad musl_refusal(std::string_view words);

}  // namespace tracso::launch
