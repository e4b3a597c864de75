#pragma once
// Where the loader looks for a name, and in which order: what a requester's RPATH and RUNPATH, the
// environment, the cache and the system directories come to (glibc elf/dl-load.c, musl
// ldso/dynlink.c).

#include "tracso/dynamic_section.hpp"
#include "tracso/search_step.hpp"
#include "tracso/target.hpp"

#include "loader/environment.hpp"
#include "loader/loader_traits.hpp"
#include "loader/search_directories.hpp"
#include "loader/tokens.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracso::loader {

/// Who wants a library: an object that is loaded, or would be.
struct Requester {
  std::string name;    ///< as messages say it: its l_name; the path of the program
  std::string origin;  ///< what $ORIGIN stands for, see origin_of
  const ElfFile* elf = nullptr;
  const Requester* loader = nullptr;  ///< who loaded it; null: the program, or a dlopen
  bool is_main = false;
};

/// The directory of the name an object was opened under. Of the program it is that of the real
/// path, links followed, which the caller has to pass.
std::string origin_of(std::string_view l_name, std::string_view working_directory);

/// needed: DT_NEEDED, DT_FILTER, dlopen. secure_preload: for a set-user-ID program, which takes a
/// preload from trusted places with the set-user-ID bit only.
enum class Purpose : std::uint8_t { needed, secure_preload };

/// All that a search depends on besides requester and name. Must outlive the Searcher.
struct SearchScene {
  const FileSystem& files;
  const LoadEnvironment& environment;
  const LoaderTraits& traits;
  const LdCache* cache;  ///< null: none
};

/// An element of a search path, ready to be looked into.
struct PlaceElement {
  std::string written;
  std::size_t position = 0;              ///< 1 for the first
  std::optional<DirectoryId> directory;  ///< nullopt: dropped, a token has no value
};

/// One source of directories, at its turn.
struct Place {
  Rule rule = Rule::none;
  const std::vector<PlaceElement>* list = nullptr;  ///< null: the cache, or nothing to ask
  const Requester* owner = nullptr;                 ///< of RPATH and RUNPATH
  bool inherited = false;                           ///< the owner is not the requester
  std::string_view why_skipped;                     ///< not empty: it is not asked
};

/// Puts together the places of each search. Every path text is taken apart once.
class SearchPlaces {
 public:
  SearchPlaces(const SearchScene& scene, const Requester& main, SearchDirectories& directories);

  /// In the order asked. Good until the working directory is changed.
  std::vector<Place> places_for(const Requester& requester, Purpose purpose);

  /// The name with the requester's tokens expanded; nullopt: AT_SECURE forbids it or a token has no
  /// value.
  std::optional<std::string> expand(const Requester& requester, std::string_view name) const;

  /// "RPATH of /x/app (inherited)", "LD_LIBRARY_PATH entry 2", "ld.so.cache", "default directory".
  std::string setting(const Place& place, const PlaceElement* element) const;

  bool is_musl() const { return scene_.traits.family == LoaderFamily::musl; }

  const std::string& working_directory() const { return working_directory_; }

  void set_working_directory(std::string directory);

 private:
  using PathList = std::vector<PlaceElement>;

  std::vector<Place> glibc_places(const Requester& requester, Purpose purpose);
  std::vector<Place> musl_places(const Requester& requester);
  void add_rpaths(std::vector<Place>& places, const Requester& requester);
  bool is_inhibited(const Requester& owner) const;
  Place environment_place();
  Place cache_place(Purpose purpose) const;
  Place system_place(const Requester& requester);
  Place musl_path_place(const Requester& owner);
  const PathList& glibc_list(const Requester& owner, std::string_view text, bool is_environment);
  const PathList& musl_list(const std::string& text, const std::string& origin);
  const PathList& system_list();
  PathList make_list(const std::vector<PathElement>& elements);
  TokenRules token_rules(const Requester& owner) const;

  SearchScene scene_;
  const Requester& main_;
  SearchDirectories& directories_;
  std::string working_directory_;
  std::unordered_map<std::string, PathList> lists_;
};

}  // namespace tracso::loader
