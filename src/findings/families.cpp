#include "findings/families.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso::findings {
namespace {

struct Row {
  std::string_view stem;  // ends in '*': any stem that begins so
  Family family;
};

// One row per name that the field uses. A newcomer to the table: add a row, and a test that raises
// the finding it is for.
constexpr std::array rows{
    Row{"libgomp", {"openmp", "GNU", true}},
    Row{"libomp", {"openmp", "LLVM", true}},
    Row{"libiomp", {"openmp", "Intel", true}},
    Row{"libcrypto", {"openssl", "crypto", true}},
    Row{"libssl", {"openssl", "ssl", true}},
    Row{"libgnutls", {"gnutls", "", true}},
    Row{"libopenblas*", {"openblas", "", false}},
    Row{"libscipy_openblas*", {"openblas", "", false}},
    Row{"libstdc++", {"libstdc++", "", true}},
    Row{"libc++", {"libc++", "", true}},
    Row{"libgcc_s", {"libgcc_s", "", true}},
    Row{"libprotobuf*", {"protobuf", "", true}},
    Row{"libxml2", {"libxml2", "", true}},
    Row{"libxslt", {"libxslt", "", true}},
    Row{"libhdf5*", {"hdf5", "", true}},
    Row{"libnetcdf", {"netcdf", "", true}},
    Row{"libproj", {"proj", "", true}},
    Row{"libgdal", {"gdal", "", true}},
    Row{"libgeos*", {"geos", "", true}},
    Row{"libsqlite3", {"sqlite", "", true}},
    Row{"libqt5core", {"qt", "5", true}},
    Row{"libqt6core", {"qt", "6", true}},
    Row{"libmpi", {"mpi", "", true}},
    Row{"libmpich", {"mpi", "", true}},
    Row{"libglib", {"glib", "", true}},
    Row{"libcudart*", {"cuda", "cudart", true}},
    Row{"libcudnn*", {"cudnn", "", true}},
    Row{"libcublas*", {"cublas", "", true}},
    Row{"libnccl", {"nccl", "", true}},
    Row{"libcuda", {"cuda", "driver", true}},
    Row{"libpython", {"libpython", "", true}},
    Row{"libtbb", {"tbb", "", true}},
    Row{"libicu*", {"icu", "", false, true}},
    Row{"libpcre2", {"pcre2", "", false, true}},  // one library for each width of characters
    Row{"libjemalloc", {"allocator", "jemalloc", true}},
    Row{"libtcmalloc*", {"allocator", "tcmalloc", true}},
    Row{"libmimalloc", {"allocator", "mimalloc", true}},
};

bool matches(std::string_view pattern, std::string_view stem) {
  return pattern.ends_with('*') ? stem.starts_with(pattern.substr(0, pattern.size() - 1))
                                : stem == pattern;
}

bool is_hash(std::string_view text) {
  constexpr std::size_t digits = 8;  // auditwheel's; delvewheel writes 32
  return text.size() >= digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::string stem_of(std::string_view file_name) {
  std::string stem = lower_case(base_name(file_name));
  if (const auto suffix = stem.find(".so"); suffix != std::string::npos) {
    stem.resize(suffix);
  }
  // A wheel repaired twice has two hashes.
  for (auto dash = stem.rfind('-');
       dash != std::string::npos && is_hash(std::string_view(stem).substr(dash + 1));
       dash = stem.rfind('-')) {
    stem.resize(dash);
  }
  // "libboost_system-1.74", "libpython3.11": the version behind a sign. Digits that follow a letter
  // may belong to the name (libx264, libpcre2); they go only where a family is left.
  for (auto last = stem.find_last_not_of("0123456789");
       last != std::string::npos && last + 1 < stem.size() && last > 0 &&
       std::string_view("-._").find(stem[last]) != std::string_view::npos;
       last = stem.find_last_not_of("0123456789")) {
    stem.resize(last);
  }
  while (!stem.empty() && std::string_view("-._").find(stem.back()) != std::string_view::npos) {
    stem.pop_back();
  }
  const auto letter = stem.find_last_not_of("0123456789");
  const std::string bare = stem.substr(0, letter == std::string::npos ? 0 : letter + 1);
  return family_of_stem(bare) && !family_of_stem(stem) ? bare : stem;
}

std::optional<Family> family_of_stem(std::string_view stem) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const Row& row) { return matches(row.stem, stem); });
  return found == rows.end() ? std::nullopt : std::optional(found->family);
}

std::string stem_of(const ObjectFile& file) {
  return stem_of(std::string_view(file.path.text));
}

std::optional<Family> family_of(const ObjectFile& file) {
  return family_of_stem(stem_of(file));
}

}  // namespace tracso::findings
