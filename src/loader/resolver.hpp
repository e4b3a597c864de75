#pragma once
// What the dynamic loader would load for a file on disk: its whole list of objects, in order, and
// every edge with the rule that chose it. The walk is breadth-first with one list of what is loaded
// per namespace: a name that is on the list already is never searched for (glibc elf/dl-deps.c,
// musl ldso/dynlink.c).

#include "tracso/elf_reader.hpp"
#include "tracso/search_step.hpp"
#include "tracso/target.hpp"

#include "loader/environment.hpp"
#include "loader/loader_traits.hpp"
#include "loader/search_places.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

struct ResolvedObject {
  enum class Role : std::uint8_t { program, loader, library, vdso };
  Role role = Role::library;
  std::string l_name;  ///< the name it was opened under; empty: the program
  TargetPath path;     ///< the same from the root; empty: the vDSO
  FileStatus status;   ///< all zero: the vDSO
  std::shared_ptr<const ElfFile> elf;
  std::optional<std::size_t> loader;  ///< index of who loaded it; nullopt: the program, a dlopen
  std::size_t link_namespace = 0;     ///< 0 the program's; each audit module has its own
};

enum class RequestKind : std::uint8_t {
  needed,
  filter,
  auxiliary,
  preload,
  audit,
  interpreter,
  dlopen
};

struct ResolvedEdge {
  std::size_t from = 0;           ///< index of an object
  std::optional<std::size_t> to;  ///< nullopt: missing or fatal
  std::string needed;             ///< the name as written
  RequestKind kind = RequestKind::needed;
  std::string origin;  ///< of preload and audit: "LD_PRELOAD", "/etc/ld.so.preload", "DT_AUDIT"
  Rule rule = Rule::none;
  std::string detail;     ///< "inherited from app", "hwcaps x86-64-v3", "soname"; of a missing one
                          ///< the loader's words where they say more than that it is missing
  bool first = false;     ///< this one brought the object in
  bool optional = false;  ///< a missing one stops nothing (DT_AUXILIARY, preload, audit, dlopen)
  std::string fatal;      ///< the loader's words where it would stop
  bool fragile = false;   ///< alone it would be missing or another file
  std::vector<SearchStep> search;  ///< where it was looked for; of an already loaded one what it
                                   ///< matched, and if fragile its own search behind that
};

struct Resolution {
  std::vector<ResolvedObject> objects;  ///< in load order: the program, the loader, preloads ...
  std::vector<ResolvedEdge> edges;      ///< in the order of the requests
  LoaderTraits traits;
  bool is_static = false;     ///< no loader works on it: one object, no edge
  bool is_cut = false;        ///< there were more objects than this code takes
  std::string cache_problem;  ///< why /etc/ld.so.cache is there and was not read; empty: none
  /// Objects for a better CPU than this one: once all is loaded, the loader stops at the last of
  /// them.
  std::vector<std::size_t> above_cpu;
};

/// Resolves one program, and dlopens after its start. The doors and the environment must outlive
/// it.
class Resolver {
 public:
  Resolver(const FileSystem& files, const ElfReader& reader, LoadEnvironment environment);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// A program with PT_INTERP: by that loader. A library: as `ld.so --verify` would, by the usual
  /// loader of its machine. Errors: those of opening and reading the file; malformed: not ELF.
  Result<Done> start(const TargetPath& program);

  /// As if that object called dlopen, with all that follows. Returns the index of the edge.
  std::size_t dlopen(std::size_t requester, std::string_view name);

  /// chdir(2) of the program: what relative paths mean from now on.
  void set_working_directory(std::string directory);

  const Resolution& resolution() const;
  Resolution take();

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
};

/// One program, resolved.
Result<Resolution> resolve(const FileSystem& files,
                           const ElfReader& reader,
                           const LoadEnvironment& environment,
                           const TargetPath& program);

}  // namespace tracso::loader
