#include "collect/usual_interposers.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso {
namespace {

template <std::size_t Count>
bool starts_with_any(std::string_view text, const std::array<std::string_view, Count>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
    return text.starts_with(start);
  });
}

// The parts of one glibc stand in for each other (malloc of ld.so before libc is there, functions
// that moved from libpthread into libc, libm's of two versions).
bool is_c_library(const ObjectFile& file) {
  static constexpr std::array<std::string_view, 13> names{"ld-linux",
                                                          "ld.so",
                                                          "ld64.so",
                                                          "ld-musl",
                                                          "libc.so",
                                                          "libc.musl",
                                                          "libm.so",
                                                          "libmvec.so",
                                                          "libpthread.so",
                                                          "libdl.so",
                                                          "librt.so",
                                                          "libresolv.so",
                                                          "libutil.so"};
  return starts_with_any(file.elf.dynamic.soname.value_or(std::string(base_name(file.path.text))),
                         names);
}

// Templates, inline functions, type information: every file has its own, the first one serves all.
bool is_vague(std::string_view symbol) {
  static constexpr std::array<std::string_view, 6> starts{
      "_ZTI", "_ZTS", "_ZTV", "_ZGV", "_ZTT", "_ZTh"};
  return starts_with_any(symbol, starts);
}

}  // namespace

std::string_view usual_interposition(const ObjectFile& provider,
                                     const ObjectFile& promised,
                                     std::string_view symbol,
                                     bool weak) {
  static constexpr std::array<std::string_view, 7> sanitizers{
      "libasan", "libtsan", "libubsan", "liblsan", "libhwasan", "libmsan", "libclang_rt"};
  static constexpr std::array<std::string_view, 5> allocators{
      "libjemalloc", "libtcmalloc", "libmimalloc", "libsnmalloc", "libhoard"};
  const std::string_view name = base_name(provider.path.text);
  if (starts_with_any(name, sanitizers)) {
    return "sanitizer";
  }
  if (starts_with_any(name, allocators) && is_c_library(promised)) {
    return "allocator";
  }
  if (provider.first_cause == "preload") {
    return "preload";
  }
  if (is_c_library(provider) && is_c_library(promised)) {
    return "C library";
  }
  return weak ? "weak symbol" : is_vague(symbol) ? "C++" : "";
}

}  // namespace tracso
