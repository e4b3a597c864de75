#pragma once
// tracso dump: what every thread of a process is doing.

#include "tracso/renderer.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tracso {

struct DumpRequest {
  std::int32_t pid = 0;
  std::uint64_t count = 1;  ///< looks
  std::chrono::milliseconds interval{1000};
  bool native = false;  ///< native stacks: threads are held, one after the other
  std::string signal;   ///< "USR1": sent after each look, where it has a handler; empty: none
  bool json = false;
  std::optional<std::string> file;  ///< nullopt or "-": stdout
  RenderOptions render;
  bool demangle = false;  ///< C++ names as in the source
  std::chrono::milliseconds timeout{5000};
};

/// The exit status: 0, 3 no such process or it ended before the first look, 4 not permitted (also a
/// signal without a handler),
/// 5 this build has no native stacks.
int dump(const DumpRequest& request);

}  // namespace tracso
