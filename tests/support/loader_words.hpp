#pragma once
// What glibc's loader itself says that it does, by LD_DEBUG=files (ld.so(8)).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::test {

struct ToldLoad {
  std::string file;           ///< the name it was asked for by
  std::uint64_t dynamic = 0;  ///< address of its dynamic section
  std::string requester;      ///< name of the object that it came for; empty: not said
  bool by_dlopen = false;     ///< "dynamically loaded by", not "needed by"
  bool destroyed = false;     ///< it went again
};

/// The objects that the text says were loaded, in order. The program, ld.so and the vDSO are not
/// told.
std::vector<ToldLoad> parse_loader_words(std::string_view text);

}  // namespace tracso::test
