#include "loader/search_places.hpp"

#include "base/text.hpp"
#include "loader/musl_rules.hpp"

#include <algorithm>

namespace tracso::loader {

std::string origin_of(std::string_view l_name, std::string_view working_directory) {
  return std::string(directory_of(absolute_path(l_name, working_directory)));
}

SearchPlaces::SearchPlaces(const SearchScene& scene,
                           const Requester& main,
                           SearchDirectories& directories)
    : scene_(scene),
      main_(main),
      directories_(directories),
      working_directory_(scene.environment.working_directory) {}

void SearchPlaces::set_working_directory(std::string directory) {
  working_directory_ = std::move(directory);
  lists_.clear();
}

std::vector<Place> SearchPlaces::places_for(const Requester& requester, Purpose purpose) {
  return is_musl() ? musl_places(requester) : glibc_places(requester, purpose);
}

std::string SearchPlaces::setting(const Place& place, const PlaceElement* element) const {
  switch (place.rule) {
    case Rule::rpath:
      return "RPATH of " + place.owner->name + (place.inherited ? " (inherited)" : "");
    case Rule::runpath:
      return "RUNPATH of " + place.owner->name + (place.inherited ? " (inherited)" : "");
    case Rule::env:
      return scene_.environment.library_path_setting +
             (element != nullptr ? " entry " + std::to_string(element->position) : "");
    case Rule::cache:
      return "ld.so.cache";
    default:
      return is_musl() ? "system path" : "default directory";
  }
}

TokenRules SearchPlaces::token_rules(const Requester& owner) const {
  if (!scene_.environment.secure) {
    return {};
  }
  return {owner.is_main ? TokenTrust::trusted_directories : TokenTrust::first_component,
          &scene_.traits.system_directories};
}

std::optional<std::string> SearchPlaces::expand(const Requester& requester,
                                                std::string_view name) const {
  if (is_musl() || !has_token(name)) {
    return std::string(name);
  }
  const TokenValues values{requester.origin, scene_.traits.lib, scene_.traits.hwcaps.platform};
  return expand_tokens(name, values, token_rules(requester));
}

SearchPlaces::PathList SearchPlaces::make_list(const std::vector<PathElement>& elements) {
  PathList list;
  for (const auto& element : elements) {
    list.push_back({element.written, element.position, std::nullopt});
    if (!element.dropped) {
      std::string absolute = absolute_path(element.directory, working_directory_);
      absolute += absolute.ends_with('/') ? "" : "/";
      list.back().directory = directories_.add(element.directory, absolute);
    }
  }
  return list;
}

const SearchPlaces::PathList& SearchPlaces::glibc_list(const Requester& owner,
                                                       std::string_view text,
                                                       bool is_environment) {
  // What the list depends on, besides the scene.
  std::string key = owner.origin + '\0';
  key.append(is_environment ? "e" : owner.is_main ? "m" : "o").append(text);
  const auto [entry, is_new] = lists_.try_emplace(std::move(key));
  if (is_new) {
    const TokenValues values{owner.origin, scene_.traits.lib, scene_.traits.hwcaps.platform};
    const std::string_view separators = is_environment ? ":;" : ":";
    entry->second = make_list(split_search_path(text, separators, values, token_rules(owner)));
  }
  return entry->second;
}

const SearchPlaces::PathList& SearchPlaces::musl_list(const std::string& text,
                                                      const std::string& origin) {
  const auto [entry, is_new] = lists_.try_emplace(origin + '\0' + text);
  if (is_new) {
    std::vector<PathElement> elements;
    for (const auto& directory : split_musl_path(text)) {
      elements.push_back({directory, elements.size() + 1, false, directory});
    }
    entry->second = make_list(elements);
  }
  return entry->second;
}

const SearchPlaces::PathList& SearchPlaces::system_list() {
  const auto [entry, is_new] = lists_.try_emplace("system directories");
  if (is_new) {
    std::vector<PathElement> elements;
    for (const auto& directory : scene_.traits.system_directories) {
      elements.push_back({directory, elements.size() + 1, false, directory});
    }
    entry->second = make_list(elements);
  }
  return entry->second;
}

// --inhibit-rpath names objects by their l_name; that of the program is empty. Nothing behind the
// last colon is no name.
bool SearchPlaces::is_inhibited(const Requester& owner) const {
  const auto& list = scene_.environment.inhibit_rpath;
  if (!list || scene_.environment.secure) {
    return false;
  }
  const std::string_view l_name = owner.is_main ? std::string_view() : owner.name;
  auto names = split(*list, ':');
  if (names.size() > 1 && names.back().empty()) {
    names.pop_back();
  }
  return std::find(names.begin(), names.end(), l_name) != names.end();
}

// The requester's own RPATH, then that of who loaded it, and so on; the program's comes last even
// if the chain ends in a dlopen. An object with a RUNPATH has no RPATH.
void SearchPlaces::add_rpaths(std::vector<Place>& places, const Requester& requester) {
  if (requester.elf->dynamic.runpath) {
    return;
  }
  const auto add = [&](const Requester& owner) {
    const DynamicSection& dynamic = owner.elf->dynamic;
    if (dynamic.rpath && !dynamic.runpath) {
      places.push_back({Rule::rpath, nullptr, &owner, &owner != &requester, {}});
      if (is_inhibited(owner)) {
        places.back().why_skipped = "--inhibit-rpath";
      } else {
        places.back().list = &glibc_list(owner, *dynamic.rpath, false);
      }
    }
  };
  bool was_main = false;
  for (const Requester* owner = &requester; owner != nullptr; owner = owner->loader) {
    was_main = was_main || owner->is_main;
    add(*owner);
  }
  if (!was_main) {
    add(main_);
  }
}

Place SearchPlaces::environment_place() {
  Place place;
  place.rule = Rule::env;
  const std::string& text = *scene_.environment.library_path;
  if (scene_.environment.secure) {
    place.why_skipped = "AT_SECURE: the loader ignores it";
  } else {
    place.list = is_musl() ? &musl_list(text, "") : &glibc_list(main_, text, true);
  }
  return place;
}

Place SearchPlaces::cache_place(Purpose purpose) const {
  Place place;
  place.rule = Rule::cache;
  if (scene_.environment.inhibit_cache) {
    place.why_skipped = "--inhibit-cache";
  } else if (purpose == Purpose::secure_preload) {
    place.why_skipped = "AT_SECURE: not for a preload";
  }
  return place;
}

Place SearchPlaces::system_place(const Requester& requester) {
  Place place;
  place.rule = Rule::default_dir;
  if (requester.elf->dynamic.nodeflib()) {
    place.why_skipped = "DF_1_NODEFLIB: the requester refuses the system directories";
  } else {
    place.list = &system_list();
  }
  return place;
}

std::vector<Place> SearchPlaces::glibc_places(const Requester& requester, Purpose purpose) {
  std::vector<Place> places;
  add_rpaths(places, requester);
  if (scene_.environment.library_path && !scene_.environment.library_path->empty()) {
    places.push_back(environment_place());
  }
  if (const auto& runpath = requester.elf->dynamic.runpath) {
    places.push_back({Rule::runpath, nullptr, &requester, false, {}});
    if (is_inhibited(requester)) {
      places.back().why_skipped = "--inhibit-rpath";
    } else {
      places.back().list = &glibc_list(requester, *runpath, false);
    }
  }
  if (scene_.cache != nullptr) {
    places.push_back(cache_place(purpose));
  }
  places.push_back(system_place(requester));
  return places;
}

Place SearchPlaces::musl_path_place(const Requester& owner) {
  const DynamicSection& dynamic = owner.elf->dynamic;
  const std::string& text = dynamic.runpath ? *dynamic.runpath : *dynamic.rpath;
  Place place;
  place.rule = dynamic.runpath ? Rule::runpath : Rule::rpath;
  place.owner = &owner;
  const auto expanded = expand_musl_rpath(text, owner.origin);
  const bool has_origin = text.find('$') != std::string::npos;
  if (!expanded) {
    place.why_skipped = "musl ignores a path with a token other than $ORIGIN";
  } else if (has_origin && scene_.environment.secure &&
             (owner.is_main || !owner.origin.starts_with('/'))) {
    place.why_skipped = "AT_SECURE: $ORIGIN is not trusted";
  } else {
    place.list = &musl_list(*expanded, owner.origin);
  }
  return place;
}

// The environment comes first; RUNPATH and RPATH are one thing, and inherited from all ancestors.
std::vector<Place> SearchPlaces::musl_places(const Requester& requester) {
  std::vector<Place> places;
  if (scene_.environment.library_path) {
    places.push_back(environment_place());
  }
  for (const Requester* owner = &requester; owner != nullptr; owner = owner->loader) {
    if (owner->elf->dynamic.runpath || owner->elf->dynamic.rpath) {
      places.push_back(musl_path_place(*owner));
      places.back().inherited = owner != &requester;
    }
  }
  places.push_back({Rule::default_dir, &system_list(), nullptr, false, {}});
  return places;
}

}  // namespace tracso::loader
