#include "calls/engine_places.hpp"

#include "base/c_library.hpp"
#include "calls/engine_capture.hpp"
#include "calls/filter_match.hpp"
#include "calls/got_jumps.hpp"
#include "elf/file_image.hpp"
#include "elf/function_symbols.hpp"
#include "elf/memory_image.hpp"
#include "proc/auxv.hpp"
#include "proc/maps.hpp"
#include "tracee/guardian.hpp"

#include <elf.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

namespace tracso::calls {
namespace {

// The rest is for the places where calls return.
constexpr std::size_t most_places = tracee::most_breakpoints / 2;

struct Loaded {
  EngineObject object;
  Mapping first;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> code;
};

// Files of which some part is mapped as code, in the order of their addresses.
std::vector<Loaded> loaded_files(const std::vector<Mapping>& maps) {
  std::vector<Loaded> files;
  for (const Mapping& mapping : maps) {
    if (!mapping.has_file()) {
      continue;
    }
    const bool continues = !files.empty() && files.back().object.device == mapping.device &&
                           files.back().object.inode == mapping.inode && mapping.offset != 0;
    if (!continues) {
      Loaded file;
      file.object.start = mapping.start;
      file.object.device = mapping.device;
      file.object.inode = mapping.inode;
      file.object.path = mapping.name;
      file.first = mapping;
      files.push_back(std::move(file));
    }
    files.back().object.end = mapping.end;
    if (mapping.executable) {
      files.back().code.emplace_back(mapping.start, mapping.end);
    }
  }
  std::erase_if(files, [](const Loaded& file) { return file.code.empty(); });
  return files;
}

// What is to be added to an address of the file; nullopt: not ELF of 64 bits.
std::optional<std::uint64_t> bias_of(const File& file, const Mapping& first) {
  const auto image = elf::FileImage::open(file, first.name);
  if (!image || !image->encoding().wide || image->header().machine != EM_X86_64) {
    return std::nullopt;
  }
  for (const auto& header : image->program_headers()) {
    if (header.type == PT_LOAD) {
      const auto page = header.address - header.address % page_bytes;
      const auto offset = header.offset - header.offset % page_bytes;
      return first.start - first.offset - (page - offset);
    }
  }
  return std::nullopt;
}

}  // namespace

bool EnginePlaces::insert(pid_t stopped, EngineMemory& memory, std::uint64_t address) {
  EnginePlace& place = memory.places[address];
  if (memory.breakpoints.is_inserted(address)) {
    return true;
  }
  place.code_bytes = read_target(stopped, address, std::as_writable_bytes(std::span(place.code)));
  const bool room = memory.places.size() <= tracee::most_breakpoints;
  if (!room || place.code_bytes == 0 || !memory.breakpoints.insert(stopped, address)) {
    memory.places.erase(address);
    return false;
  }
  return true;
}

void EnginePlaces::find_loader(const ProcessSource& process, pid_t stopped, EngineMemory& memory) {
  const auto bytes = process.read("auxv");
  const auto facts = bytes ? proc::parse_auxv(*bytes) : Result<proc::Auxv>(bytes.error());
  if (!facts || facts->elf_class != ElfClass::elf64) {
    return;
  }
  entry_ = facts->entry;
  const auto image = facts->base != 0 ? elf::MemoryImage::at_header(process, facts->base)
                                      : elf::MemoryImage::at_program_headers(
                                            process, facts->phdr, facts->phnum, facts->elf_class);
  const auto hook = image ? image->symbol(process, "_dl_debug_state") : std::nullopt;
  if (hook && insert(stopped, memory, hook->address)) {
    memory.places[hook->address].loader = true;
  }
}

void EnginePlaces::begin(pid_t pid, pid_t stopped, EngineMemory& memory) {
  entry_ = 0;
  if (const auto process = doors_.process(pid)) {
    find_loader(**process, stopped, memory);
  }
  look(pid, stopped, memory);
}

void EnginePlaces::look(pid_t pid, pid_t stopped, EngineMemory& memory) {
  const auto process = doors_.process(pid);
  const auto text = process ? (*process)->read("maps") : Result<std::string>(process.error());
  const auto maps = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  const auto program =
      process ? (*process)->read_link("exe") : Result<std::string>(process.error());
  if (!maps) {
    return;
  }
  const auto files = loaded_files(*maps);
  const auto is_there = [&](const EngineObject& object) {
    return std::any_of(files.begin(), files.end(), [&](const Loaded& file) {
      return file.object.start == object.start && file.object.inode == object.inode &&
             file.object.device == object.device;
    });
  };
  for (const EngineObject& object : memory.objects) {
    if (is_there(object)) {
      continue;
    }
    for (auto at = memory.places.lower_bound(object.start);
         at != memory.places.end() && at->first < object.end;) {
      memory.breakpoints.remove(stopped, at->first);
      at = memory.places.erase(at);
    }
  }
  std::erase_if(memory.objects, [&](const EngineObject& object) { return !is_there(object); });
  for (const Loaded& file : files) {
    const bool known =
        std::any_of(memory.objects.begin(), memory.objects.end(), [&](const EngineObject& object) {
          return object.start == file.object.start;
        });
    if (!known) {
      auto object = file.object;
      object.program = program && *program == object.path;
      add_object(**process, file.first, object, stopped, memory);
    }
  }
  // At the first event nothing but the program and its loader is there.
  if (memory.loader_events < 2 || !watched_.imports) {
    return;
  }
  for (const Loaded& file : files) {
    linkage_of(**process, file.first, file.object);  // where a function may be looked for
  }
  for (const Loaded& file : files) {
    const auto object =
        std::find_if(memory.objects.begin(), memory.objects.end(), [&](const EngineObject& one) {
          return one.start == file.object.start;
        });
    if (object != memory.objects.end() && !object->imports_done) {
      object->imports_done = true;
      add_imports(**process, file.first, *object, stopped, memory);
    }
  }
}

// Where the program begins, or a library's _init: of both nobody comes there again.
std::uint64_t EnginePlaces::spare_code_of(const File* file, const EngineObject& object) const {
  if (entry_ >= object.start && entry_ < object.end) {
    return entry_;
  }
  auto image =
      file != nullptr ? elf::FileImage::open(*file, object.path) : Result<elf::FileImage>(Error{});
  const auto entries =
      image ? image->dynamic_entries() : Result<std::vector<elf::DynamicEntry>>(image.error());
  const auto init = entries ? elf::find_value(*entries, DT_INIT) : std::nullopt;
  return init.value_or(0) == 0 ? 0 : object.bias + *init;
}

void EnginePlaces::add_object(const ProcessSource& process,
                              const Mapping& first,
                              const EngineObject& object,
                              pid_t stopped,
                              EngineMemory& memory) {
  const auto file = doors_.file(process, first);
  const auto bias = file ? bias_of(*file, first) : std::nullopt;
  auto& added = memory.objects.emplace_back(object);
  added.bias = bias.value_or(0);
  added.spare_code = spare_code_of(file.get(), added);
  added.imports_done = !bias;
  if (!bias) {
    unwatched_.unreadable += file ? 0 : 1;
    return;
  }
  const EngineObject known = added;
  if (watched_.entries) {
    add_entries(*file, known, stopped, memory);
  }
  if (is_c_library_name(known.path)) {
    if (const elf::Linkage* linkage = linkage_of(process, first, known)) {
      look_at_c_library(*linkage, known, stopped, memory);
    }
  }
}

void EnginePlaces::look_at_c_library(const elf::Linkage& linkage,
                                     const EngineObject& object,
                                     pid_t stopped,
                                     EngineMemory& memory) {
  const auto address_of = [&](std::string_view name) {
    const auto symbol = linkage.find(elf::SymbolName(name, ""));
    return symbol ? object.bias + linkage.symbol(*symbol).value : 0;
  };
  const auto asks = address_of("ptrace");
  if (asks != 0 && insert(stopped, memory, asks)) {
    memory.places[asks].asks = true;
  }
  // The word that it adds is filled in when the library is relocated: at the first failure.
  memory.errno_function = address_of("__errno_location");
}

void EnginePlaces::add_entries(const File& file,
                               const EngineObject& object,
                               pid_t stopped,
                               EngineMemory& memory) {
  const auto symbols = elf::function_symbols(file, object.path);
  if (!symbols) {
    ++unwatched_.unreadable;
    return;
  }
  const FilterParty library{object.path, object.program};
  for (const auto& symbol : *symbols) {
    if (object.program && memory.errno_function == 0 && symbol.name == "__errno_location") {
      memory.errno_function = object.bias + symbol.address;  // statically linked
    }
    if (!selects(*watched_.entries, symbol.name, library, library)) {
      continue;
    }
    std::erase_if(absent_,
                  [&](const Filter& one) { return selects(one, symbol.name, library, library); });
    if (symbol.indirect) {
      ++unwatched_.indirect;
      continue;
    }
    const auto address = object.bias + symbol.address;
    if (address < object.start || address >= object.end) {
      continue;
    }
    if (memory.places.size() >= most_places || !insert(stopped, memory, address)) {
      ++unwatched_.no_room;
      continue;
    }
    memory.places[address].entry = sites_.entry(symbol.name, object.path, object.program);
  }
}

const elf::Linkage* EnginePlaces::linkage_of(const ProcessSource& process,
                                             const Mapping& first,
                                             const EngineObject& object) {
  const Identity identity{object.device, object.inode};
  const auto [at, is_new] = linkages_.try_emplace(identity, nullptr);
  if (is_new) {
    const auto file = doors_.file(process, first);
    auto linkage = file ? elf::Linkage::read(*file, object.path) : Result<elf::Linkage>(Error{});
    if (linkage) {
      at->second = std::make_unique<elf::Linkage>(std::move(*linkage));
    }
  }
  return at->second.get();
}

void EnginePlaces::add_imports(const ProcessSource& process,
                               const Mapping& first,
                               EngineObject& object,
                               pid_t stopped,
                               EngineMemory& memory) {
  const bool perhaps = may_select(*watched_.imports, {object.path, object.program});
  const elf::Linkage* linkage = perhaps ? linkage_of(process, first, object) : nullptr;
  const auto file = linkage == nullptr ? nullptr : doors_.file(process, first);
  if (!file) {
    return;
  }
  std::unordered_map<std::uint64_t, const elf::ImportSlot*> slots;
  for (const auto& slot : linkage->slots()) {
    slots.emplace(slot.address, &slot);
  }
  std::vector<const elf::ImportSlot*> seen;
  const auto add = [&](std::uint64_t address, std::uint64_t word) {
    if (const auto slot = slots.find(word); slot != slots.end()) {
      seen.push_back(slot->second);
      add_import(object.bias + address, *slot->second, *linkage, object, stopped, memory);
    }
  };
  if (const auto pieces = elf::plt_code(*file, object.path)) {
    for (const auto& piece : *pieces) {
      find_jumps(piece, 0x25, add);
    }
  }
  // What has no PLT entry is called through the word itself.
  for (const auto* slot : seen) {
    slots.erase(slot->address);
  }
  std::erase_if(slots, [](const auto& slot) { return slot.second->jump; });
  if (!slots.empty()) {
    for (const auto& piece : code_segments(*file, object.path)) {
      find_jumps(piece, 0x15, add);
      find_jumps(piece, 0x25, add);
    }
  }
}

void EnginePlaces::add_import(std::uint64_t address,
                              const elf::ImportSlot& slot,
                              const elf::Linkage& linkage,
                              const EngineObject& object,
                              pid_t stopped,
                              EngineMemory& memory) {
  const auto facts = linkage.symbol(slot.symbol);
  const std::string symbol(linkage.name(slot.symbol));
  if (symbol.empty() || facts.type == STT_OBJECT || facts.type == STT_TLS) {
    return;
  }
  const auto callee = callee_of(slot, symbol, object, stopped, memory);
  const EngineObject* into = nullptr;
  for (const auto& other : memory.objects) {
    into = other.path == callee ? &other : into;
  }
  if (!selects(*watched_.imports,
               symbol,
               {object.path, object.program},
               {callee, into != nullptr && into->program})) {
    return;
  }
  if (memory.places.size() >= most_places || !insert(stopped, memory, address)) {
    ++unwatched_.no_room;
    return;
  }
  memory.places[address].import = sites_.import(symbol, object.path, callee);
}

// The library that the slot leads to, or else the first that has such a function.
std::string EnginePlaces::callee_of(const elf::ImportSlot& slot,
                                    std::string_view symbol,
                                    const EngineObject& caller,
                                    pid_t stopped,
                                    const EngineMemory& memory) {
  std::uint64_t target = 0;
  read_target(stopped, caller.bias + slot.address, std::as_writable_bytes(std::span(&target, 1)));
  const EngineObject* object = memory.object_at(target);
  if (object != nullptr && object->start != caller.start) {
    return object->path;
  }
  const elf::SymbolName name(symbol, "");
  for (const auto& other : memory.objects) {
    const auto known = linkages_.find(Identity{other.device, other.inode});
    if (other.start != caller.start && known != linkages_.end() && known->second &&
        known->second->find(name)) {
      return other.path;
    }
  }
  return "";
}

}  // namespace tracso::calls
