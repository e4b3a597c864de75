#include "loader/search.hpp"

#include "base/text.hpp"
#include "loader/musl_rules.hpp"
#include "loader/search_run.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace tracso::loader {
namespace {

std::string shown(const std::string& directory) {
  if (directory.empty()) {
    return ".";
  }
  return directory == "/" ? directory : directory.substr(0, directory.find_last_not_of('/') + 1);
}

void add_detail(std::string& detail, std::string_view part) {
  if (!part.empty()) {
    detail.append(detail.empty() ? "" : ", ").append(part);
  }
}

// "glibc-hwcaps/x86-64-v3/" -> "hwcaps x86-64-v3"; "tls/x86_64/" -> "legacy hwcaps tls/x86_64"
std::string subdirectory_text(std::string_view path) {
  constexpr std::string_view prefix = "glibc-hwcaps/";
  path.remove_suffix(path.ends_with('/') ? 1 : 0);
  if (path.starts_with(prefix)) {
    return "hwcaps " + std::string(path.substr(prefix.size()));
  }
  return "legacy hwcaps " + std::string(path);
}

}  // namespace

SearchStep::Outcome outcome_of(const FileProbe& probe) {
  switch (probe.verdict) {
    case FileProbe::Verdict::usable:
      return SearchStep::Outcome::found;
    case FileProbe::Verdict::absent:
      return SearchStep::Outcome::absent;
    case FileProbe::Verdict::denied:
      return SearchStep::Outcome::denied;
    case FileProbe::Verdict::wrong_class:
      return SearchStep::Outcome::wrong_class;
    case FileProbe::Verdict::broken:
      return SearchStep::Outcome::skipped;
    case FileProbe::Verdict::fatal:
      return SearchStep::Outcome::fatal;
  }
  return SearchStep::Outcome::absent;
}

Searcher::Searcher(const SearchScene& scene, const ProgramKind& kind, const Requester& main)
    : scene_(scene),
      abi_(cache_abi(kind.elf_class, kind.machine, kind.flags)),
      probes_(scene.files, kind, scene.traits),
      directories_(probes_, scene.traits.hwcaps.subdirectories),
      places_(scene, main, directories_) {}

void Searcher::write_step(Run& run,
                          const Place& place,
                          const PlaceElement* element,
                          SearchStep::Outcome outcome,
                          std::string_view path,
                          std::string_view note) {
  if (!run.writes()) {
    return;
  }
  std::string directory;
  if (element != nullptr) {
    directory =
        element->directory ? shown(directories_.text(*element->directory)) : element->written;
  }
  run.found.steps.push_back({place.rule,
                             places_.setting(place, element),
                             std::move(directory),
                             outcome,
                             std::string(path),
                             std::string(note)});
}

// After the answer: a file that would have been next. Only the directories themselves are looked
// at, each once, however many names it has.
void Searcher::look_for_loser(const Place& place, const PlaceElement& element, Run& run) {
  const DirectoryId id = *element.directory;
  if (!run.is_new_directory(directories_.identity(id))) {
    return;
  }
  const FileProbe* probe = directories_.plain(id, run.id);
  if (probe != nullptr && probe->verdict == FileProbe::Verdict::usable &&
      run.is_new_file(probe->status)) {
    const std::string path = directories_.text(id) + std::string(run.name);
    write_step(run, place, &element, SearchStep::Outcome::lost, path, {});
  }
}

void Searcher::take(const Place& place,
                    const PlaceElement& element,
                    const DirectoryAnswer& answer,
                    Run& run) {
  const std::string& directory = directories_.text(*element.directory);
  std::string subdirectory;
  std::string note;
  if (answer.subdirectory != 0) {
    subdirectory = scene_.traits.hwcaps.subdirectories[answer.subdirectory - 1];
    note = subdirectory_text(subdirectory);
  }
  const std::string path = directory + subdirectory + std::string(run.name);
  if (answer.kind == DirectoryAnswer::Kind::fatal) {
    run.fail(*answer.probe, place.rule, answer.probe->words);
    write_step(run, place, &element, SearchStep::Outcome::fatal, path, run.found.fatal);
    return;
  }
  run.win(*answer.probe, place.rule, path);
  if (place.inherited) {
    add_detail(run.found.detail, "inherited from " + std::string(base_name(place.owner->name)));
  }
  add_detail(run.found.detail, note);
  add_detail(run.found.detail, directory.starts_with('/') ? "" : "cwd");
  write_step(run, place, &element, SearchStep::Outcome::found, path, note);
  if (answer.subdirectory == 0) {
    run.visited.push_back(directories_.identity(*element.directory));
  } else if (run.writes()) {
    // The plain file of the same directory lost against its hwcaps variant.
    look_for_loser(place, element, run);
  }
}

void Searcher::pass_over(const Place& place,
                         const PlaceElement& element,
                         const FileProbe* probe,
                         Run& run) {
  if (probe == nullptr) {
    const bool exists = directories_.exists(*element.directory);
    write_step(
        run, place, &element, SearchStep::Outcome::absent, {}, exists ? "" : "no such directory");
    return;
  }
  if (probe->verdict == FileProbe::Verdict::wrong_class) {
    run.other_class = probe->words;
  }
  write_step(run, place, &element, outcome_of(*probe), probe->path.text, probe->words);
}

DirectoryAnswer Searcher::answer_of(DirectoryId directory, const Run& run) {
  if (run.purpose == Purpose::secure_preload) {
    return directories_.look(directory, run.id, [](const FileProbe& probe) {
      return (probe.status.mode & S_ISUID) != 0;
    });
  }
  DirectoryAnswer answer = directories_.look(directory, run.id);
  // The first file that musl can open is final, even one of another machine.
  if (places_.is_musl() && answer.passed_over != nullptr &&
      answer.passed_over->verdict == FileProbe::Verdict::wrong_class) {
    answer.kind = DirectoryAnswer::Kind::fatal;
    answer.probe = answer.passed_over;
  }
  return answer;
}

void Searcher::go_through_list(const Place& place, Run& run) {
  for (const PlaceElement& element : *place.list) {
    if (!run.wants_more()) {
      return;
    }
    if (!element.directory) {
      if (!run.done) {
        write_step(
            run, place, &element, SearchStep::Outcome::skipped, {}, "a token in it has no value");
      }
      continue;
    }
    if (run.done) {
      look_for_loser(place, element, run);
      continue;
    }
    const DirectoryAnswer answer = answer_of(*element.directory, run);
    switch (answer.kind) {
      case DirectoryAnswer::Kind::found:
      case DirectoryAnswer::Kind::fatal:
        take(place, element, answer, run);
        break;
      case DirectoryAnswer::Kind::absent:
        pass_over(place, element, answer.passed_over, run);
        break;
      case DirectoryAnswer::Kind::stop:
        // Another error than "not there" ends this list; the next place is still asked.
        pass_over(place, element, answer.passed_over, run);
        return;
    }
  }
}

Found Searcher::search_path(const Requester& requester, std::string_view name, Evidence evidence) {
  Run run{requester, name, NameId{}, Purpose::needed, evidence};
  const auto write = [&](const std::string& path,
                         SearchStep::Outcome outcome,
                         const std::string& note) {
    if (run.writes()) {
      const bool is_there = outcome != SearchStep::Outcome::absent;
      run.found.steps.push_back({Rule::direct, "path", path, outcome, is_there ? path : "", note});
    }
  };
  const auto expanded = expand(requester, name);
  if (!expanded || expanded->empty()) {
    run.found.detail = "a token in the name has no value";
    write(std::string(name), SearchStep::Outcome::skipped, run.found.detail);
    return std::move(run.found);
  }
  const FileProbe& probe = probes_.at(absolute_path(*expanded, places_.working_directory()));
  SearchStep::Outcome outcome = outcome_of(probe);
  if (places_.is_musl() && outcome == SearchStep::Outcome::wrong_class) {
    outcome = SearchStep::Outcome::fatal;
  }
  if (outcome == SearchStep::Outcome::found) {
    run.win(probe, Rule::direct, *expanded);
    run.found.detail = expanded->starts_with('/') ? "" : "cwd";
  } else if (outcome == SearchStep::Outcome::fatal) {
    run.fail(probe, Rule::direct, probe.words);
  } else {
    run.found.detail = probe.words;
  }
  write(*expanded, outcome, probe.words);
  return std::move(run.found);
}

// musl: the names of the C library's parts mean the loader, which is the C library.
Found Searcher::reserved_name() {
  Found found;
  const FileProbe& probe = probes_.at(scene_.traits.path.text);
  found.verdict = Found::Verdict::found;
  found.rule = Rule::reserved;
  found.l_name = probe.path.text;
  found.path = probe.path;
  found.status = probe.status;
  found.steps.push_back({Rule::reserved,
                         "name of the C library",
                         found.l_name,
                         SearchStep::Outcome::found,
                         found.l_name,
                         {}});
  return found;
}

Found Searcher::search(const Requester& requester,
                       std::string_view name,
                       Evidence evidence,
                       Purpose purpose) {
  if (places_.is_musl() && (name.empty() || is_musl_reserved(name))) {
    return name.empty() ? Found{} : reserved_name();
  }
  if (name.find('/') != std::string_view::npos) {
    return search_path(requester, name, evidence);
  }
  Run run{requester, name, directories_.name(name), purpose, evidence};
  for (const Place& place : places_.places_for(requester, purpose)) {
    if (!run.wants_more()) {
      break;
    }
    if (!place.why_skipped.empty()) {
      if (!run.done) {
        write_step(run, place, nullptr, SearchStep::Outcome::skipped, {}, place.why_skipped);
      }
    } else if (place.list == nullptr) {
      ask_cache(place, run);
    } else {
      go_through_list(place, run);
    }
  }
  if (!run.done) {
    run.found.detail = run.other_class;
  }
  // musl's one error for whatever it cannot map.
  if (places_.is_musl() && run.found.verdict == Found::Verdict::fatal) {
    run.found.fatal = "Exec format error";
  }
  return std::move(run.found);
}

}  // namespace tracso::loader
