#include "python/distributions.hpp"

#include "base/text.hpp"
#include "python/read_text.hpp"
#include "python/word_set.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tracso::python {
namespace {

constexpr std::uint64_t metadata_bytes = 16384;  // Name and Version stand at its beginning
constexpr std::uint64_t names_bytes = 65536;
constexpr std::uint64_t record_bytes = std::uint64_t{16} << 20;

// What an installer wrote down: one folder (or one file, an old .egg-info).
struct Distribution {
  std::string path;
  std::string title;                        // "numpy 2.1.0"; empty: its metadata cannot be read
  std::string name;                         // as a module would be spelt: "ruamel_yaml"
  std::set<std::string, std::less<>> tops;  // top_level.txt
  bool described = false;                   // the above has been read
  std::optional<WordSet> record;  // those files that are asked for, relative to the folder's parent
};

// Names are equal if they differ only in case and in - _ . (PEP 503).
std::string as_module_name(std::string_view name) {
  std::string text = lower_case(name);
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter == '-' || letter == '.'; }, '_');
  return text;
}

// "numpy-2.1.0.dist-info" -> "numpy"
std::string name_in_path(std::string_view path) {
  const auto name = base_name(path);
  return as_module_name(name.substr(0, name.find('-')));
}

bool is_distribution(std::string_view name) {
  return name.ends_with(".dist-info") || name.ends_with(".egg-info");
}

// "numpy.linalg._umath" in /x/numpy/linalg/_umath.so -> "/x"; empty: the file is not where a module
// of that name would be.
std::string folder_of(const PythonModule& module) {
  std::string_view path = *module.file;
  const bool is_package = base_name(path).rfind("__init__.", 0) == 0;
  auto parts = static_cast<std::size_t>(std::count(module.name.begin(), module.name.end(), '.'));
  parts += is_package ? 2 : 1;
  for (; parts > 0; --parts) {
    path = directory_of(path);
  }
  const auto top = split(module.name, '.').front();
  const auto inside =
      path.empty() ? std::string_view() : std::string_view(*module.file).substr(path.size());
  return inside.rfind("/" + std::string(top), 0) == 0 ? std::string(path) : "";
}

class DistributionSearch {
 public:
  DistributionSearch(const std::vector<PythonModule>& modules,
                     const FileSystem& files,
                     std::uint64_t limit);

  // Empty: none.
  std::string title_of(const PythonModule& module);

  UnreadFiles unread;

 private:
  std::vector<Distribution>& distributions_in(const std::string& folder);
  std::string read(const std::string& path, std::uint64_t most);
  void describe(Distribution& distribution);
  void read_record(Distribution& distribution);
  bool lists(Distribution& distribution, const std::string& file);
  Distribution* by_record(std::vector<Distribution>& all,
                          const std::string& top,
                          const std::string& file);
  Distribution* by_name(std::vector<Distribution>& all, const std::string& top);

  const FileSystem& files_;
  std::uint64_t left_;
  WordSet wanted_;  // files of the modules, relative to the folder of their top package
  std::unordered_map<std::string, std::vector<Distribution>> folders_;
};

DistributionSearch::DistributionSearch(const std::vector<PythonModule>& modules,
                                       const FileSystem& files,
                                       std::uint64_t limit)
    : files_(files), left_(limit) {
  for (const auto& module : modules) {
    const std::string folder = module.file ? folder_of(module) : "";
    if (!folder.empty()) {
      wanted_.insert(module.file->substr(folder.size() + 1));
    }
  }
}

std::string DistributionSearch::read(const std::string& path, std::uint64_t most) {
  const auto file = files_.open(TargetPath{path});
  if (!file) {
    if (file.error().kind != ErrorKind::not_found && file.error().kind != ErrorKind::unsupported) {
      note_unread(unread, path, file.error().reason);  // absent ones are looked for on suspicion
    }
    return {};
  }
  auto text = read_text(**file, std::min(most, left_));
  if (!text) {
    note_unread(unread, path, text.error().reason);
    return {};
  }
  left_ -= text->size();
  if (left_ == 0) {
    note_unread(unread, path, "more than is ever read");
  }
  return std::move(*text);
}

std::vector<Distribution>& DistributionSearch::distributions_in(const std::string& folder) {
  const auto known = folders_.find(folder);
  if (known != folders_.end()) {
    return known->second;
  }
  auto& found = folders_[folder];
  auto names = files_.list(TargetPath{folder});
  if (!names && names.error().kind != ErrorKind::not_found) {
    note_unread(unread, folder, names.error().reason);
  }
  if (names) {
    std::sort(names->begin(), names->end());
    for (const auto& name : *names) {
      if (is_distribution(name)) {
        Distribution distribution;
        distribution.path = folder + "/" + name;
        distribution.name = name_in_path(name);
        found.push_back(std::move(distribution));
      }
    }
  }
  return found;
}

void DistributionSearch::describe(Distribution& distribution) {
  if (distribution.described) {
    return;
  }
  distribution.described = true;
  std::string text = read(distribution.path + "/METADATA", metadata_bytes);
  text = text.empty() ? read(distribution.path + "/PKG-INFO", metadata_bytes) : text;
  text = text.empty() ? read(distribution.path, metadata_bytes) : text;
  std::string name, version;
  for (const auto line : split(text, '\n')) {
    if (trim(line).empty()) {
      break;  // behind the headers stands the description
    }
    if (name.empty() && line.rfind("Name:", 0) == 0) {
      name = trim(line.substr(5));
    } else if (version.empty() && line.rfind("Version:", 0) == 0) {
      version = trim(line.substr(8));
    }
  }
  distribution.title = version.empty() ? name : name + " " + version;
  const std::string tops = read(distribution.path + "/top_level.txt", names_bytes);
  for (const auto top : split_words(tops, "\r\n")) {
    distribution.tops.emplace(top);
  }
}

// A line is path,hash,size (CSV); only paths with a comma or a quote stand in quotes.
void DistributionSearch::read_record(Distribution& distribution) {
  distribution.record.emplace();
  const std::string text = read(distribution.path + "/RECORD", record_bytes);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = std::string_view(text).substr(at, end - at);
    const bool quoted = line.starts_with('"');
    const auto path = quoted ? line.substr(1, std::min(line.find('"', 1), line.size()) - 1)
                             : line.substr(0, line.find(','));
    if (wanted_.find(path) != wanted_.end()) {
      distribution.record->emplace(path);
    }
    at = end + 1;
  }
}

bool DistributionSearch::lists(Distribution& distribution, const std::string& file) {
  if (!distribution.record) {
    read_record(distribution);
  }
  return distribution.record->count(file) != 0;
}

// Most distributions are called like their module: those are looked at before all others, whose
// records are read only if need be.
Distribution* DistributionSearch::by_record(std::vector<Distribution>& all,
                                            const std::string& top,
                                            const std::string& file) {
  for (const bool same_name : {true, false}) {
    for (auto& distribution : all) {
      if ((distribution.name == top) == same_name && lists(distribution, file)) {
        return &distribution;
      }
    }
  }
  return nullptr;
}

Distribution* DistributionSearch::by_name(std::vector<Distribution>& all, const std::string& top) {
  for (auto& distribution : all) {
    describe(distribution);
    if (distribution.tops.count(top) != 0) {
      return &distribution;
    }
  }
  const auto same = std::find_if(all.begin(), all.end(), [&](const Distribution& distribution) {
    return distribution.name == as_module_name(top);
  });
  return same == all.end() ? nullptr : &*same;
}

std::string DistributionSearch::title_of(const PythonModule& module) {
  const std::string folder = module.file ? folder_of(module) : "";
  if (folder.empty()) {
    return "";
  }
  auto& all = distributions_in(folder);
  const std::string top(split(module.name, '.').front());
  const std::string file = module.file->substr(folder.size() + 1);
  auto* found = by_record(all, as_module_name(top), file);
  found = found != nullptr ? found : by_name(all, top);
  if (found == nullptr) {
    return "";
  }
  describe(*found);
  return found->title;
}

}  // namespace

Distributions find_distributions(const std::vector<PythonModule>& modules,
                                 const FileSystem& files,
                                 std::uint64_t limit) {
  DistributionSearch search(modules, files, limit);
  Distributions found;
  for (const auto& module : modules) {
    auto title = search.title_of(module);
    if (!title.empty()) {
      found.titles.emplace(module.name, std::move(title));
    }
  }
  found.unread = std::move(search.unread);
  return found;
}

}  // namespace tracso::python
