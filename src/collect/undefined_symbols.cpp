// Symbols that nothing would define if a FILE were loaded: what `ldd -r` says, without running
// anything.

#include "tracso/problem_facts.hpp"

#include "base/text.hpp"
#include "elf/linkage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso {
namespace {

class Scope {
 public:
  Scope(const FileSystem& files, const Trace& trace) : files_(files), trace_(trace) {}

  /// False: a library is missing, or a file could not be read; nothing can be said then.
  bool read() {
    for (std::size_t i = 0; i < trace_.graph.nodes().size(); ++i) {
      const ObjectFile* file = object(trace_.graph.nodes()[i]);
      if (file == nullptr || file->link_namespace != 0) {
        continue;
      }
      if (file->state == ObjectFile::State::missing) {
        missing_ = missing_ || is_wanted(static_cast<NodeId>(i));
      } else if (file->elf.dynamic.present) {
        add(static_cast<NodeId>(i), *file);
      }
    }
    return !missing_ && unreadable_ == 0;
  }

  std::size_t unreadable() const { return unreadable_; }

  std::vector<UndefinedName> undefined() {
    std::vector<UndefinedName> found;
    for (const auto& [node, table] : tables_) {
      std::vector<std::uint32_t> wanted(table.addresses_taken().begin(),
                                        table.addresses_taken().end());
      for (const elf::ImportSlot& slot : table.slots()) {
        wanted.push_back(slot.symbol);
      }
      std::sort(wanted.begin(), wanted.end());
      wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
      for (const std::uint32_t symbol : wanted) {
        if (is_undefined(table, symbol)) {
          found.push_back(
              {node, std::string(table.name(symbol)), std::string(table.needed_version(symbol))});
        }
      }
    }
    return found;
  }

 private:
  bool is_wanted(NodeId node) const {
    const auto causes = trace_.graph.causes_of(node);
    return std::any_of(causes.begin(), causes.end(), [&](EdgeId id) {
      return !trace_.graph[id].optional && trace_.graph[id].kind != EdgeKind::preload &&
             trace_.graph[id].kind != EdgeKind::audit;
    });
  }

  void add(NodeId node, const ObjectFile& file) {
    is_program_ = is_program_ || file.role == ObjectFile::Role::executable;
    const auto opened = files_.open(file.path);
    auto table = opened ? elf::Linkage::read(**opened, file.path.text)
                        : Result<elf::Linkage>(opened.error());
    if (table) {
      tables_.emplace_back(node, std::move(*table));
    } else {
      ++unreadable_;
    }
  }

  bool is_undefined(const elf::Linkage& table, std::uint32_t symbol) {
    const elf::LinkSymbol about = table.symbol(symbol);
    const std::string_view name = table.name(symbol);
    if (about.defined || about.binding == elf::weak_binding || name.empty() || is_of_python(name)) {
      return false;
    }
    const auto key = std::pair(std::string(name), std::string(table.needed_version(symbol)));
    if (known_.count(key) != 0) {
      return false;
    }
    if (!somebody_has(key.first, key.second)) {
      return true;
    }
    known_.insert(key);
    return false;
  }

  // Of another version: that is told as missing-version.
  bool somebody_has(std::string_view name, std::string_view version) const {
    const elf::SymbolName exact(name, version);
    const elf::SymbolName any(name, "");
    return std::any_of(tables_.begin(), tables_.end(), [&](const auto& one) {
      return one.second.find(exact) || (!version.empty() && one.second.find(any));
    });
  }

  // An extension module is loaded by a Python, which has its own API, be it in its program or in
  // libpython.
  bool is_of_python(std::string_view name) const {
    return !is_program_ && (name.starts_with("Py") || name.starts_with("_Py"));
  }

  const FileSystem& files_;
  const Trace& trace_;
  std::vector<std::pair<NodeId, elf::Linkage>> tables_;
  std::set<std::pair<std::string, std::string>> known_;
  bool is_program_ = false, missing_ = false;
  std::size_t unreadable_ = 0;
};

}  // namespace

void collect_file_facts(const FileSystem& files, Trace& trace, ProblemFacts& facts) {
  Scope scope(files, trace);
  if (scope.read()) {
    facts.undefined = scope.undefined();
  } else if (scope.unreadable() > 0) {
    trace.notices.push_back(
        {"symbols-unreadable",
         fmt::format("the symbols of {} could not be read", counted(scope.unreadable(), "file")),
         "whether a symbol is undefined is not known",
         ""});
  }
}

}  // namespace tracso
