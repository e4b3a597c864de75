#pragma once
// One search of the dynamic loader: a requester wants a name, which file is it, by which rule, and
// where else was looked? The order (glibc elf/dl-load.c, _dl_map_object): RPATH of the requester
// and of those who loaded it, unless the requester has a RUNPATH; LD_LIBRARY_PATH; RUNPATH of the
// requester; ld.so.cache; the system directories. Nothing here knows what is loaded already: that
// is the resolver's part, or ld.so's own records'.

#include "tracso/dynamic_section.hpp"
#include "tracso/search_step.hpp"
#include "tracso/target.hpp"

#include "loader/file_probe.hpp"
#include "loader/search_directories.hpp"
#include "loader/search_places.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracso::loader {

/// The answer to one search.
struct Found {
  enum class Verdict : std::uint8_t { found, missing, fatal };
  Verdict verdict = Verdict::missing;
  Rule rule = Rule::none;
  std::string detail;  ///< "inherited from app", "hwcaps x86-64-v3", "cwd"; of a missing one the
                       ///< loader's words where they say more than that it is missing
  std::string l_name;  ///< the path as the loader composes it
  TargetPath path;     ///< the same from the root
  FileStatus status;
  std::string fatal;              ///< the loader's words where it gives up
  std::vector<SearchStep> steps;  ///< in order; empty unless asked for
};

/// Whether a search writes down where it looked, and which files would have been next.
enum class Evidence : std::uint8_t { none, steps };

/// Searches for one program (or process), by the rules of glibc or musl as the traits say.
/// Remembers what it saw: a directory and a name are looked at once.
class Searcher {
 public:
  /// `main` is the program: its RPATH and its $ORIGIN are everyone's.
  Searcher(const SearchScene& scene, const ProgramKind& kind, const Requester& main);

  Found search(const Requester& requester,
               std::string_view name,
               Evidence evidence,
               Purpose purpose = Purpose::needed);

  /// The name with the requester's tokens expanded; nullopt: AT_SECURE forbids it or a token has no
  /// value.
  std::optional<std::string> expand(const Requester& requester, std::string_view name) const {
    return places_.expand(requester, name);
  }

  /// What was seen of a path, and the file behind it.
  FileProbes& probes() { return probes_; }

  const LoaderTraits& traits() const { return scene_.traits; }

  const LoadEnvironment& environment() const { return scene_.environment; }

  /// The process changes to another directory: relative paths mean something else from here on.
  void set_working_directory(std::string directory) {
    places_.set_working_directory(std::move(directory));
  }

  const std::string& working_directory() const { return places_.working_directory(); }

 private:
  struct Run;

  Found search_path(const Requester& requester, std::string_view path, Evidence evidence);
  Found reserved_name();
  void go_through_list(const Place& place, Run& run);
  DirectoryAnswer answer_of(DirectoryId directory, const Run& run);
  void take(const Place& place,
            const PlaceElement& element,
            const DirectoryAnswer& answer,
            Run& run);
  void pass_over(const Place& place, const PlaceElement& element, const FileProbe* probe, Run& run);
  void look_for_loser(const Place& place, const PlaceElement& element, Run& run);
  void ask_cache(const Place& place, Run& run);
  void take_cached(const Place& place, const CacheHit& hit, const FileProbe& probe, Run& run);
  bool refuses(const Requester& requester, std::string_view cached) const;
  const std::optional<CacheHit>& cache_hit(NameId id, std::string_view name);
  void write_step(Run& run,
                  const Place& place,
                  const PlaceElement* element,
                  SearchStep::Outcome outcome,
                  std::string_view path,
                  std::string_view note);
  void write_cache_step(Run& run,
                        const Place& place,
                        std::string_view file,
                        SearchStep::Outcome outcome,
                        std::string_view note);

  SearchScene scene_;
  std::optional<CacheAbi> abi_;
  FileProbes probes_;
  SearchDirectories directories_;
  SearchPlaces places_;
  std::unordered_map<std::uint32_t, std::optional<CacheHit>> hits_;
};

}  // namespace tracso::loader
