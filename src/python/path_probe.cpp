#include "python/path_probe.hpp"

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "proc/root_prefix.hpp"
#include "proc/status.hpp"
#include "python/interpreter.hpp"
#include "python/path_probe_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracso::python {
namespace {

struct Recognized {
  Implementation implementation = Implementation::none;
  std::string version;
};

// "3.11" of "python3.11" and "libpython3.11.so.1.0"; empty: the name does not tell.
std::string version_behind(std::string_view name, std::string_view word) {
  const auto at = name.find(word);
  if (at == std::string_view::npos) {
    return "";
  }
  name.remove_prefix(at + word.size());
  name = name.substr(0, std::min(name.find_first_not_of("0123456789."), name.size()));
  const auto parts = split(name, '.');
  const bool whole = parts.size() >= 2 && !parts[0].empty() && !parts[1].empty();
  return whole ? fmt::format("{}.{}", parts[0], parts[1]) : "";
}

// Without its memory: does a name of what is mapped tell of an interpreter?
Recognized recognize_by_names(const ProbeInput& input) {
  for (const auto& mapping : input.mappings) {
    const auto name = base_name(mapping.name);
    const bool program = mapping.name == input.executable;
    if (!mapping.has_file()) {
      continue;
    }
    if (name.starts_with("libpypy") || (program && name.starts_with("pypy"))) {
      return {Implementation::pypy, version_behind(name, "pypy")};
    }
    if (name.starts_with("libpython") || (program && name.starts_with("python"))) {
      return {Implementation::cpython, version_behind(name, "python")};
    }
  }
  const bool extension =
      std::any_of(input.mappings.begin(), input.mappings.end(), [](const Mapping& mapping) {
        const auto name = extension_name(base_name(mapping.name));
        return name && name->tagged && mapping.name.find(".cpython-") != std::string::npos;
      });
  return {extension ? Implementation::cpython : Implementation::none, ""};
}

Result<Recognized> recognize(const ProbeInput& input) {
  auto found = find_interpreter(input);
  Recognized recognized;
  if (found) {
    recognized = {found->implementation, std::move(found->version)};
  } else {
    recognized = recognize_by_names(input);
    if (recognized.implementation == Implementation::none) {
      return found.error();
    }
  }
  if (recognized.implementation == Implementation::none) {
    return Error{ErrorKind::unsupported,
                 "find Python modules in",
                 fmt::format("process {}", input.target.process->pid()),
                 "no Python runs in it",
                 ""};
  }
  return recognized;
}

// PYTHONPATH as the process was started with, relative entries from where it is now.
std::vector<std::string> search_path(const ProcessSource& process) {
  std::vector<std::string> directories;
  const auto environment = process.read("environ");
  if (!environment) {
    return directories;
  }
  const auto working_directory = process.read_link("cwd");
  for (const auto& [name, value] : proc::parse_environment(*environment)) {
    if (name != "PYTHONPATH") {
      continue;
    }
    for (const auto entry : split_words(value, ":")) {
      if (entry.starts_with('/')) {
        directories.emplace_back(entry);
      } else if (working_directory) {
        directories.push_back(
            fmt::format("{}/{}",
                        proc::without_prefix(*working_directory, proc::loading_prefix(process)),
                        entry));
      }
    }
  }
  return directories;
}

class Modules {
 public:
  explicit Modules(const ProbeInput& input)
      : input_(input), search_path_(search_path(*input.target.process)) {}

  std::vector<PythonModule> find();

 private:
  bool is_package(const std::string& directory);
  bool is_module(const Mapping& mapping) const;

  const ProbeInput& input_;
  std::vector<std::string> search_path_;
  std::map<std::string, bool> packages_;
};

bool Modules::is_package(const std::string& directory) {
  const auto [entry, is_new] = packages_.try_emplace(directory, false);
  if (is_new && input_.target.files != nullptr) {
    entry->second =
        static_cast<bool>(input_.target.files->status(TargetPath{directory + "/__init__.py"}));
  }
  return entry->second;
}

// A name without an ABI tag may be a plugin of another kind: a module exports PyInit_NAME. Where
// memory is closed the name has to do.
bool Modules::is_module(const Mapping& mapping) const {
  const auto name = extension_name(base_name(mapping.name));
  if (!name || name->tagged || mapping.offset != 0) {
    return name.has_value();
  }
  const auto image = elf::MemoryImage::at_header(*input_.target.process, mapping.start);
  if (!image) {
    return image.error().kind == ErrorKind::denied;
  }
  return image->symbol(*input_.target.process, "PyInit_" + name->stem).has_value();
}

std::vector<PythonModule> Modules::find() {
  std::vector<PythonModule> modules;
  std::set<std::string_view> seen;
  for (const auto& mapping : input_.mappings) {
    if (!mapping.has_file() || !mapping.name.starts_with('/') ||
        !seen.insert(mapping.name).second) {
      continue;
    }
    auto name = module_of_path(mapping.name, search_path_, [this](const std::string& directory) {
      return is_package(directory);
    });
    if (name && is_module(mapping)) {
      modules.push_back({std::move(*name), mapping.name, ""});
    }
  }
  return modules;
}

class PathProbe final : public PythonProbe {
 public:
  std::string_view name() const override { return "path"; }

  Result<PythonFacts> probe(const ProbeInput& input) const override {
    auto recognized = recognize(input);
    if (!recognized) {
      return recognized.error();
    }
    PythonFacts facts;
    facts.implementation = recognized->implementation == Implementation::pypy ? "pypy" : "cpython";
    facts.version = std::move(recognized->version);
    facts.modules = Modules(input).find();
    facts.probe = "path";
    facts.detail = "names of mapped files";
    facts.complete = false;
    return facts;
  }
};

}  // namespace

std::unique_ptr<PythonProbe> make_path_probe() {
  return std::make_unique<PathProbe>();
}

}  // namespace tracso::python
