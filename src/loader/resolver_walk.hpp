#pragma once
// The resolver at work; only resolver.cpp and its parts include this.

#include "loader/loaded_list.hpp"
#include "loader/resolver.hpp"
#include "loader/search.hpp"

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::loader {

/// Of DT_FLAGS_1 (glibc elf/elf.h): a program, no library.
constexpr std::uint64_t df_1_pie = 0x08000000;

class Resolver::Walk {
 public:
  Walk(const FileSystem& files, const ElfReader& reader, LoadEnvironment environment)
      : files_(files), reader_(reader), environment_(std::move(environment)) {}

  Result<Done> start(const TargetPath& program);
  std::size_t dlopen(std::size_t requester, std::string_view name);
  void set_working_directory(std::string directory);

  Resolution result;

 private:
  /// One request on its way to an edge.
  struct Request {
    std::size_t requester = 0;
    std::string_view name;  ///< as written
    RequestKind kind = RequestKind::needed;
    std::size_t link_namespace = 0;
    std::string_view origin = {};  ///< of preload and audit
  };

  using ElfResult = std::shared_ptr<const Result<ElfFile>>;
  using FileKey = std::pair<std::uint64_t, std::uint64_t>;

  struct Pending {
    std::size_t object;
    bool done = false;
  };

  bool is_musl() const { return result.traits.family == LoaderFamily::musl; }

  // resolver_start.cpp: the program, its loader, and what the user adds.
  Result<Done> read_program(const TargetPath& path);
  bool is_static(const ElfFile& program) const;
  void find_loader();
  void add_loader(const std::string& path);
  void read_cache();
  void add_audits();
  void add_audit(std::string_view name, std::string_view origin);
  std::vector<std::size_t> add_preloads();
  void check_cpu();

  // resolver_load.cpp: one request.
  std::size_t request(const Request& request);
  bool match_loaded(const Request& request, std::string_view name, ResolvedEdge& edge);
  bool match_musl(const Request& request, ResolvedEdge& edge);
  bool match_vdso(std::string_view name, ResolvedEdge& edge);
  void search(const Request& request, const std::string& name, ResolvedEdge& edge);
  void take(const Request& request, const std::string& name, Found& found, ResolvedEdge& edge);
  void note_loaded(ResolvedEdge& edge, std::size_t object, std::string_view how);
  void check_fragile(const Request& request, const std::string& name, ResolvedEdge& edge);
  std::optional<std::string> expanded(const Request& request, ResolvedEdge& edge) const;
  std::string_view refusal(const ElfFile& file, RequestKind kind) const;
  std::size_t add_object(ResolvedObject object, std::string origin);
  void add_names(std::size_t object);

  // resolver.cpp: the order of it all.
  void walk(std::size_t root, const std::vector<std::size_t>& preloads);
  bool load_needed(std::list<Pending>& queue, std::list<Pending>::iterator at);
  void read_ahead(const std::list<Pending>& queue);
  ElfResult read_file(const FileProbe& probe);
  Result<ElfFile> read_path(const TargetPath& path);

  const FileSystem& files_;
  const ElfReader& reader_;
  LoadEnvironment environment_;
  std::optional<LdCache> own_cache_;
  std::unique_ptr<Searcher> searcher_;
  std::deque<Requester> requesters_;     // one per object; they point at each other
  std::vector<LoadedList> lists_;        // one per namespace
  std::vector<std::string> brought_by_;  // per object: the origin of a preload
  std::vector<bool> walked_;             // per object: its needed entries are done
  std::vector<bool> in_walk_;            // per object: it is in the current walk
  std::vector<bool> read_ahead_;         // per object: what it needs was read in one go
  std::map<FileKey, ElfResult> elves_;
  std::optional<std::size_t> loader_;  // the loader's object
};

}  // namespace tracso::loader
