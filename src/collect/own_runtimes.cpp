#include "collect/own_runtimes.hpp"

#include "base/text.hpp"
#include "collect/library_version.hpp"
#include "collect/mapped_file.hpp"

#include <array>
#include <utility>

namespace tracso {
namespace {

struct Sign {
  std::string_view symbol, family, kind;
  std::string_view own_file;  ///< how the file of the runtime itself is called
};

// One symbol per runtime that each of its builds exports and nobody else does.
constexpr std::array signs{Sign{"__kmpc_fork_call", "openmp", "LLVM", "libomp"},
                           Sign{"GOMP_parallel", "openmp", "GNU", "libgomp"},
                           Sign{"OPENSSL_init_crypto", "openssl", "crypto", "libcrypto"},
                           Sign{"mallocx", "allocator", "jemalloc", "libjemalloc"},
                           Sign{"H5Fopen", "hdf5", "", "libhdf5"},
                           Sign{"sqlite3_open_v2", "sqlite", "", "libsqlite3"},
                           Sign{"xmlInitParser", "libxml2", "", "libxml2"}};

bool is_its_own_file(const Sign& sign, std::string_view name) {
  // LLVM's and Intel's runtimes have GNU's entry points too, to take its place.
  return name.starts_with(sign.own_file) ||
         (sign.family == "openmp" && (name.starts_with("libomp") || name.starts_with("libiomp")));
}

}  // namespace

std::vector<OwnRuntime> find_own_runtimes(const Workspace& work, const LinkageSet& set) {
  std::vector<OwnRuntime> found;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const elf::Linkage* table = set.table(i);
    const std::string_view name = base_name(work.mapped.objects[i].path.text);
    std::string_view family;
    for (const Sign& sign : signs) {
      if (table != nullptr && sign.family != family && !is_its_own_file(sign, name) &&
          table->find({sign.symbol, ""})) {
        family = sign.family;  // LLVM's stands before GNU's, whose names it has too
        found.push_back({work.node_of_object[i],
                         std::string(sign.family),
                         std::string(sign.kind),
                         std::string(sign.symbol)});
      }
    }
  }
  return found;
}

std::vector<KnownVersion> find_openssl_versions(const Workspace& work) {
  constexpr std::size_t most = 8;
  std::vector<std::size_t> objects;
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    const std::string_view name = base_name(work.mapped.objects[i].path.text);
    if (name.starts_with("libcrypto") && objects.size() < most) {
      objects.push_back(i);
    }
  }
  std::vector<KnownVersion> found;
  for (std::size_t i = 0; objects.size() > 1 && i < objects.size(); ++i) {
    const MappedObject& about = work.mapped.objects[objects[i]];
    const Mapping& mapping = work.facts.mappings[about.mappings.front()];
    const MappedRange range{mapping.start, mapping.end, mapping.device, mapping.inode};
    const auto file = open_mapped_object(work.target, range, about.path);
    if (file) {
      LibraryVersion version = find_library_version(
          **file, about.path.text, about.elf.dynamic.soname.value_or(std::string()));
      found.push_back(
          {work.node_of_object[objects[i]], std::move(version.text), std::move(version.source)});
    }
  }
  return found;
}

}  // namespace tracso
