#include "loader/search_directories.hpp"

#include <sys/stat.h>

namespace tracso::loader {
namespace {

// After so many names that were not there, reading the directory once is cheaper than asking on.
constexpr std::size_t misses_before_listing = 24;

// "/usr/lib/" -> "/usr/lib"
TargetPath without_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return TargetPath{std::string(path)};
}

}  // namespace

DirectoryId SearchDirectories::add(const std::string& text, const std::string& absolute) {
  const auto id = static_cast<DirectoryId>(directories_.size());
  const auto [entry, is_new] = known_.try_emplace(text + '\0' + absolute, id);
  if (is_new) {
    Directory directory;
    directory.text = text;
    directory.absolute = absolute;
    directories_.push_back(std::move(directory));
  }
  return entry->second;
}

NameId SearchDirectories::name(std::string_view text) {
  const auto [entry, is_new] =
      name_ids_.try_emplace(std::string(text), static_cast<NameId>(names_.size()));
  if (is_new) {
    names_.emplace_back(text);
  }
  return entry->second;
}

// A combination such as tls/haswell/x86_64 cannot be there if tls is not.
void SearchDirectories::find_subdirectories(Directory& directory) {
  std::map<std::string_view, bool> first_parts;
  for (std::size_t i = 0; i < subdirectories_.size(); ++i) {
    const std::string_view path = subdirectories_[i];
    const std::string_view first = path.substr(0, path.find('/') + 1);
    const auto [part, is_new] = first_parts.try_emplace(first, false);
    const auto is_directory = [&](std::string_view below) {
      const auto status =
          probes_.files().status(without_slash(directory.absolute + std::string(below)));
      return status && S_ISDIR(status->mode);
    };
    if (is_new) {
      part->second = is_directory(first);
    }
    if (part->second && (first == path || is_directory(path))) {
      directory.subdirectories.push_back(i);
    }
  }
}

void SearchDirectories::examine(Directory& directory) {
  if (directory.exists) {
    return;
  }
  const auto status = probes_.files().status(without_slash(directory.absolute));
  directory.exists = status && S_ISDIR(status->mode);
  if (*directory.exists) {
    const auto next = static_cast<std::uint32_t>(identities_.size() + 1);
    directory.identity =
        identities_.try_emplace({status->device, status->inode}, next).first->second;
    find_subdirectories(directory);
  }
}

bool SearchDirectories::exists(DirectoryId id) {
  examine(at(id));
  return *at(id).exists;
}

std::uint32_t SearchDirectories::identity(DirectoryId id) {
  examine(at(id));
  return at(id).identity;
}

bool SearchDirectories::may_hold(Directory& directory, const std::string& name) {
  if (!directory.listing && directory.misses == misses_before_listing) {
    // One try: a directory may be searchable but not readable.
    ++directory.misses;
    if (auto names = probes_.files().list(without_slash(directory.absolute))) {
      directory.listing.emplace(names->begin(), names->end());
    }
  }
  return !directory.listing || directory.listing->contains(name);
}

bool SearchDirectories::try_file(DirectoryAnswer& answer,
                                 std::size_t place,
                                 const FileProbe& probe,
                                 const Wanted& is_wanted) {
  switch (probe.verdict) {
    case FileProbe::Verdict::usable:
      if (is_wanted && !is_wanted(probe)) {
        break;
      }
      answer.kind = DirectoryAnswer::Kind::found;
      answer.probe = &probe;
      answer.subdirectory = place;
      return true;
    case FileProbe::Verdict::fatal:
      answer.kind = DirectoryAnswer::Kind::fatal;
      answer.probe = &probe;
      answer.subdirectory = place;
      return true;
    case FileProbe::Verdict::broken:
      // Only the last look counts: a later file that is merely absent makes the loader go on.
      answer.kind = DirectoryAnswer::Kind::stop;
      answer.passed_over = &probe;
      return false;
    case FileProbe::Verdict::denied:
    case FileProbe::Verdict::wrong_class:
      answer.passed_over = &probe;
      break;
    case FileProbe::Verdict::absent:
      break;
  }
  answer.kind = DirectoryAnswer::Kind::absent;
  return false;
}

DirectoryAnswer SearchDirectories::look(DirectoryId id, NameId name, const Wanted& is_wanted) {
  DirectoryAnswer answer;
  Directory& directory = at(id);
  examine(directory);
  if (!*directory.exists) {
    return answer;
  }
  const std::string& text = names_[static_cast<std::size_t>(name)];
  for (const auto i : directory.subdirectories) {
    const auto& probe = probes_.at(directory.absolute + subdirectories_[i] + text);
    if (try_file(answer, i + 1, probe, is_wanted)) {
      return answer;
    }
  }
  if (may_hold(directory, text)) {
    const auto& probe = probes_.at(directory.absolute + text);
    directory.misses += probe.verdict == FileProbe::Verdict::absent ? 1 : 0;
    try_file(answer, 0, probe, is_wanted);
  } else {
    answer.kind = DirectoryAnswer::Kind::absent;
  }
  return answer;
}

const DirectoryAnswer& SearchDirectories::look(DirectoryId id, NameId name) {
  const std::uint64_t key =
      (std::uint64_t{static_cast<std::uint32_t>(id)} << 32U) | static_cast<std::uint32_t>(name);
  const auto found = answers_.find(key);
  if (found != answers_.end()) {
    return found->second;
  }
  return answers_.emplace(key, look(id, name, Wanted{})).first->second;
}

const FileProbe* SearchDirectories::plain(DirectoryId id, NameId name) {
  Directory& directory = at(id);
  examine(directory);
  const std::string& text = names_[static_cast<std::size_t>(name)];
  if (!*directory.exists || !may_hold(directory, text)) {
    return nullptr;
  }
  const auto& probe = probes_.peek(directory.absolute + text);
  directory.misses += probe.verdict == FileProbe::Verdict::absent ? 1 : 0;
  return probe.verdict == FileProbe::Verdict::absent ? nullptr : &probe;
}

}  // namespace tracso::loader
