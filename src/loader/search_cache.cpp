// The turn of ld.so.cache in a search.

#include "base/text.hpp"
#include "loader/search_run.hpp"
#include "loader/tokens.hpp"

#include <algorithm>

namespace tracso::loader {
namespace {

constexpr std::string_view cache_path = "/etc/ld.so.cache";
constexpr std::string_view nodeflib_words =
    "DF_1_NODEFLIB: the requester refuses the system directories";

}  // namespace

const std::optional<CacheHit>& Searcher::cache_hit(NameId id, std::string_view name) {
  const auto [entry, is_new] = hits_.try_emplace(static_cast<std::uint32_t>(id));
  if (is_new && abi_) {
    const Hwcaps& hwcaps = scene_.traits.hwcaps;
    entry->second =
        scene_.cache->find({name, *abi_, hwcaps.names, hwcaps.isa_level, hwcaps.hwcap_bits});
  }
  return entry->second;
}

// DF_1_NODEFLIB refuses cache entries by how their path starts.
bool Searcher::refuses(const Requester& requester, std::string_view cached) const {
  const auto& system = scene_.traits.system_directories;
  return requester.elf->dynamic.nodeflib() &&
         std::any_of(system.begin(), system.end(), [&](const std::string& directory) {
           return cached.starts_with(directory);
         });
}

void Searcher::ask_cache(const Place& place, Run& run) {
  const auto& hit = cache_hit(run.id, run.name);
  if (!hit) {
    if (!run.done) {
      write_cache_step(run, place, cache_path, SearchStep::Outcome::absent, "no entry");
    }
    return;
  }
  if (refuses(run.requester, hit->path)) {
    if (!run.done) {
      write_cache_step(run, place, hit->path, SearchStep::Outcome::skipped, nodeflib_words);
    }
    return;
  }
  const std::string hwcap = hit->hwcap.empty() ? "" : "hwcaps " + std::string(hit->hwcap);
  const std::string path = absolute_path(hit->path, places_.working_directory());
  if (run.done) {
    const FileProbe& probe = probes_.peek(path);
    if (probe.verdict == FileProbe::Verdict::usable && run.is_new_file(probe.status)) {
      write_cache_step(run, place, hit->path, SearchStep::Outcome::lost, hwcap);
    }
    return;
  }
  take_cached(place, *hit, probes_.at(path), run);
}

void Searcher::take_cached(const Place& place,
                           const CacheHit& hit,
                           const FileProbe& probe,
                           Run& run) {
  switch (probe.verdict) {
    case FileProbe::Verdict::usable: {
      run.win(probe, Rule::cache, std::string(hit.path));
      run.found.detail = hit.hwcap.empty() ? "" : "hwcaps " + std::string(hit.hwcap);
      write_cache_step(run, place, hit.path, SearchStep::Outcome::found, run.found.detail);
      if (run.writes() && hit.hwcap.empty()) {
        const std::string directory = std::string(directory_of(probe.path.text)) + "/";
        run.visited.push_back(directories_.identity(directories_.add(directory, directory)));
      }
      return;
    }
    case FileProbe::Verdict::fatal:
      run.fail(probe, Rule::cache, probe.words);
      break;
    case FileProbe::Verdict::absent:
      write_cache_step(run, place, hit.path, SearchStep::Outcome::absent, "its file is gone");
      return;
    case FileProbe::Verdict::wrong_class:
      run.other_class = probe.words;
      break;
    case FileProbe::Verdict::denied:
    case FileProbe::Verdict::broken:
      break;
  }
  write_cache_step(run, place, hit.path, outcome_of(probe), probe.words);
}

// The file that the entry names stands where other places have their directory.
void Searcher::write_cache_step(Run& run,
                                const Place& place,
                                std::string_view file,
                                SearchStep::Outcome outcome,
                                std::string_view note) {
  if (run.writes()) {
    const bool is_there = outcome != SearchStep::Outcome::absent;
    run.found.steps.push_back({place.rule,
                               places_.setting(place, nullptr),
                               std::string(file),
                               outcome,
                               std::string(is_there ? file : ""),
                               std::string(note)});
  }
}

}  // namespace tracso::loader
