#include "python/importers.hpp"

#include "base/text.hpp"
#include "python/import_statements.hpp"
#include "python/may_import.hpp"
#include "python/read_text.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tracso::python {
namespace {

// An import statement for an extension module.
struct Candidate {
  std::size_t importer = 0;  // index into modules
  std::uint32_t line = 0;
  bool in_function = false;
};

using Candidates = std::unordered_map<std::string, std::vector<Candidate>>;

bool is_extension(const PythonModule& module) {
  return module.file && module.file->ends_with(".so");
}

bool is_source(const PythonModule& module) {
  // A script needs no suffix. A child of multiprocessing has it under a second name.
  return module.file && module.name != "__mp_main__" &&
         (module.file->ends_with(".py") || module.name == "__main__");
}

// nullopt: it is noted why.
std::optional<std::string> read_source(const FileSystem& files,
                                       const std::string& path,
                                       std::uint64_t limit,
                                       UnreadFiles& unread) {
  const auto file = files.open(TargetPath{path});
  const auto status = file ? (*file)->status() : Result<FileStatus>(file.error());
  if (!status) {
    note_unread(unread, path, status.error().reason);
    return std::nullopt;
  }
  if (status->bytes > limit) {
    note_unread(unread, path, "more than is ever read");
    return std::nullopt;
  }
  auto text = read_text(**file, limit);
  if (!text) {
    note_unread(unread, path, text.error().reason);
    return std::nullopt;
  }
  return std::move(*text);
}

std::string package_of(const PythonModule& module) {
  const bool is_package = base_name(*module.file) == "__init__.py";
  const auto dot = module.name.rfind('.');
  return is_package ? module.name : module.name.substr(0, dot == std::string::npos ? 0 : dot);
}

void add_candidates(const PythonModule& module,
                    std::size_t index,
                    const std::string& source,
                    Candidates& candidates) {
  for (const auto& imported : parse_imports(source, package_of(module))) {
    const auto wanted = candidates.find(imported.name);
    if (wanted != candidates.end() && imported.name != module.name) {
      wanted->second.push_back({index, imported.line, imported.in_function});
    }
  }
}

// Modules are entered into sys.modules when they begin to run, so who imports the extension stands
// before it, most often close before. One that stands behind it found it already there.
const Candidate* choose(const std::vector<Candidate>& candidates,
                        std::size_t extension,
                        bool in_function) {
  const Candidate* chosen = nullptr;
  for (const auto& candidate : candidates) {
    if (candidate.in_function != in_function) {
      continue;
    }
    const bool before = candidate.importer < extension;
    const bool chosen_before = chosen != nullptr && chosen->importer < extension;
    if (chosen == nullptr || (before && !chosen_before) ||
        (before && candidate.importer > chosen->importer) ||
        (!before && !chosen_before && candidate.importer < chosen->importer)) {
      chosen = &candidate;
    }
  }
  return chosen;
}

Candidates extensions_among(const std::vector<PythonModule>& modules) {
  Candidates candidates;
  for (const auto& module : modules) {
    if (is_extension(module)) {
      candidates[module.name];
    }
  }
  return candidates;
}

// Few sources have a statement that matters; the rest need not be parsed.
WordSet last_words(const Candidates& candidates) {
  WordSet words;
  for (const auto& [name, unused] : candidates) {
    words.insert(name.substr(name.rfind('.') + 1));
  }
  return words;
}

void read_sources(const std::vector<PythonModule>& modules,
                  const FileSystem& files,
                  const SourceLimits& limits,
                  Candidates& candidates,
                  UnreadFiles& unread) {
  const auto words = last_words(candidates);
  std::uint64_t left = candidates.empty() ? 0 : limits.all_bytes;
  for (std::size_t i = 0; i < modules.size() && !candidates.empty(); ++i) {
    if (!is_source(modules[i])) {
      continue;
    }
    const auto source =
        read_source(files, *modules[i].file, std::min(left, limits.file_bytes), unread);
    if (!source) {
      continue;
    }
    left -= source->size();
    if (may_import(*source, words)) {
      add_candidates(modules[i], i, *source, candidates);
    }
  }
}

}  // namespace

InferredImports infer_importers(const std::vector<PythonModule>& modules,
                                const FileSystem& files,
                                const SourceLimits& limits) {
  InferredImports found;
  auto candidates = extensions_among(modules);
  read_sources(modules, files, limits, candidates, found.unread);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto of_module = candidates.find(modules[i].name);
    if (!is_extension(modules[i]) || of_module == candidates.end()) {
      continue;
    }
    const auto* chosen = choose(of_module->second, i, false);
    chosen = chosen != nullptr ? chosen : choose(of_module->second, i, true);
    if (chosen != nullptr) {
      const auto& importer = modules[chosen->importer];
      found.imports.push_back({modules[i].name, importer.name, *importer.file, chosen->line});
    }
  }
  return found;
}

}  // namespace tracso::python
