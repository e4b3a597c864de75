#include "collect/late_variables.hpp"

#include "elf/memory_image.hpp"

#include <array>
#include <cstring>
#include <map>
#include <string>

namespace tracso {
namespace {

constexpr std::string_view loader_prefix = "LD_";
constexpr std::size_t most_variables = 8192;
constexpr std::size_t longest_value = std::size_t{128} << 10U;  // MAX_ARG_STRLEN

using Variables = std::map<std::string, std::string>;

class EnvironmentReader {
 public:
  explicit EnvironmentReader(const Workspace& work)
      : work_(work), process_(*work.target.process), word_(word_bytes(*work.link_maps)) {}

  std::optional<Variables> read() const {
    const auto list = pointer_of("environ");
    if (list && *list == 0 && !has_started()) {
      return std::nullopt;
    }
    return list ? variables(*list) : std::nullopt;
  }

 private:
  static std::size_t word_bytes(const loader::LinkMaps& maps) {
    return maps.elf_class == ElfClass::elf32 ? 4 : 8;
  }

  // The word at the beginning of these bytes, whatever the byte order of this machine.
  std::uint64_t first_word(std::uint64_t bytes) const {
    std::uint32_t narrow = 0;
    std::memcpy(&narrow, &bytes, sizeof narrow);
    return word_ == sizeof narrow ? narrow : bytes;
  }

  std::optional<std::uint64_t> pointer_at(std::uint64_t address) const {
    std::uint64_t bytes = 0;
    const auto into = std::as_writable_bytes(std::span(&bytes, 1)).first(word_);
    return process_.read_memory(address, into) ? std::optional(first_word(bytes)) : std::nullopt;
  }

  // No list at all: clearenv(3), or the C library has not set up anything yet, and never will where
  // the loader ends the program. With the list it sets the program's name.
  bool has_started() const {
    const auto name = pointer_of("program_invocation_name");
    const auto text = name && *name != 0 ? elf::read_text(process_, *name, longest_value)
                                         : std::optional<std::string>();
    return text && !text->empty();
  }

  // What the first object of the base namespace that has the symbol holds there: a program that
  // uses it may hold the copy that all share.
  std::optional<std::uint64_t> pointer_of(std::string_view name) const {
    for (const auto& entry : work_.link_maps->entries) {
      if (entry.space != 0 || entry.dynamic == 0) {
        continue;
      }
      const auto image = elf::MemoryImage::at_dynamic(
          process_, entry.bias, entry.dynamic, work_.link_maps->elf_class);
      const auto symbol =
          image ? image->symbol(process_, name) : std::optional<elf::MemorySymbol>();
      if (symbol) {
        return pointer_at(symbol->address);
      }
    }
    return std::nullopt;
  }

  std::optional<Variables> variables(std::uint64_t list) const {
    const auto texts = list == 0 ? std::optional(std::vector<std::uint64_t>()) : addresses(list);
    if (!texts) {
      return std::nullopt;
    }
    // Of other variables no more than the first bytes is looked at.
    std::vector<std::array<char, loader_prefix.size()>> starts(texts->size());
    std::vector<MemoryRead> pieces;
    for (std::size_t i = 0; i < texts->size(); ++i) {
      pieces.push_back({(*texts)[i], std::as_writable_bytes(std::span(starts[i])), false});
    }
    process_.read_memory(pieces);
    Variables found;
    for (std::size_t i = 0; i < texts->size(); ++i) {
      if (pieces[i].got && std::string_view(starts[i].data(), starts[i].size()) == loader_prefix) {
        add((*texts)[i], found);
      }
    }
    return found;
  }

  // nullopt: it is just being changed, or is no such list.
  std::optional<std::vector<std::uint64_t>> addresses(std::uint64_t list) const {
    constexpr std::size_t step = 64;
    std::vector<std::uint64_t> found;
    while (found.size() < most_variables) {
      std::array<std::uint64_t, step>
          words{};  // of 32 bits: the lower half, on a little-endian one
      std::vector<MemoryRead> pieces;
      for (std::size_t i = 0; i < step; ++i) {
        const std::uint64_t at = list + (found.size() + i) * word_;
        pieces.push_back({at, std::as_writable_bytes(std::span(&words[i], 1)).first(word_), false});
      }
      process_.read_memory(pieces);
      for (std::size_t i = 0; i < step; ++i) {
        if (!pieces[i].got) {
          return std::nullopt;
        }
        const std::uint64_t address = first_word(words[i]);
        if (address == 0) {
          return found;
        }
        found.push_back(address);
      }
    }
    return std::nullopt;
  }

  void add(std::uint64_t address, Variables& found) const {
    const auto text = elf::read_text(process_, address, longest_value);
    const auto equals = text ? text->find('=') : std::string::npos;
    if (equals != std::string::npos) {
      found.emplace(text->substr(0, equals), text->substr(equals + 1));
    }
  }

  const Workspace& work_;
  const ProcessSource& process_;
  std::size_t word_;
};

// An empty value is none to the loader.
std::optional<std::string> value_of(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() || found->second.empty() ? std::nullopt
                                                           : std::optional(found->second);
}

}  // namespace

std::vector<ChangedVariable> find_changed_variables(const Workspace& work) {
  const bool secure = work.facts.auxv && work.facts.auxv->secure;
  if (!work.link_maps || !work.facts.environment || secure) {
    return {};
  }
  const auto now = EnvironmentReader(work).read();
  if (!now) {
    return {};
  }
  Variables before;
  for (const auto& [name, value] : *work.facts.environment) {
    if (name.starts_with(loader_prefix)) {
      before.emplace(name, value);
    }
  }
  std::vector<ChangedVariable> changed;
  for (const std::string name : {"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"}) {
    ChangedVariable one{name, value_of(before, name), value_of(*now, name)};
    if (one.before != one.now) {
      changed.push_back(std::move(one));
    }
  }
  return changed;
}

}  // namespace tracso
