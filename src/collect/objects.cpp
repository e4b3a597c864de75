#include "collect/objects.hpp"

#include "base/text.hpp"
#include "collect/process_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::optional<std::size_t> mapping_at(const std::vector<Mapping>& mappings, std::uint64_t address) {
  const auto next = std::upper_bound(
      mappings.begin(), mappings.end(), address, [](std::uint64_t a, const Mapping& mapping) {
        return a < mapping.start;
      });
  if (address == 0 || next == mappings.begin() || std::prev(next)->end <= address) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::prev(next) - mappings.begin());
}

std::optional<std::size_t> object_at(const Workspace& work, std::uint64_t address) {
  const auto mapping = mapping_at(work.facts.mappings, address);
  return mapping ? work.mapped.of_mapping[*mapping] : std::nullopt;
}

void note_unreadable_records(Workspace& work, const Error& error) {
  if (error.kind == ErrorKind::unsupported) {
    work.log("no link map: " + error.reason);
    return;
  }
  work.trace.notices.push_back(
      {"link-map-unreadable",
       "the loader's own records could not be read: " + error.reason,
       "who asked for a library first is inferred from the files",
       error.kind == ErrorKind::denied ? "run as the user of the process or as root" : ""});
}

bool lacks_mapping(const loader::LinkMapEntry& entry) {
  return entry.dynamic != 0 && !entry.mapping;
}

// What they cost is read along with the mappings, which takes long of a large process: a library
// that has come meanwhile is in the records and not among them, and would be left out.
Result<loader::LinkMaps> read_records_and_mappings(Workspace& work) {
  const ProcessSource& process = *work.target.process;
  auto maps = loader::read_link_maps(process, work.facts.mappings, *work.facts.auxv);
  if (!maps || !process.may_read_ahead() ||
      std::none_of(maps->entries.begin(), maps->entries.end(), lacks_mapping)) {
    return maps;
  }
  auto mappings = read_mappings_again(process);
  auto again = loader::read_link_maps(process, mappings, *work.facts.auxv);
  if (mappings.empty() || !again) {
    return maps;
  }
  work.facts.mappings = std::move(mappings);
  return again;
}

void read_records(Workspace& work) {
  if (!work.facts.auxv) {
    return;
  }
  auto maps = read_records_and_mappings(work);
  if (!maps) {
    note_unreadable_records(work, maps.error());
    return;
  }
  work.log(
      fmt::format("link map: {} via {}{}",
                  counted(maps->entries.size(), "object"),
                  maps->via,
                  maps->private_fields ? "" : ", public fields only: " + maps->private_reason));
  if (!maps->consistent) {
    work.trace.notices.push_back(
        {"link-map-changing",
         "the process was loading or unloading libraries while tracso looked: " +
             maps->inconsistency,
         "a library may be missing, or still be listed",
         "look again"});
  }
  work.trace.intrusion.method = "memory";
  work.link_maps = std::move(*maps);
}

// musl keeps nothing more than the public part, and tells no lies by it.
void note_public_fields_only(Workspace& work) {
  const bool musl = work.executable && work.mapped.objects[*work.executable].elf.interp.find(
                                           "ld-musl") != std::string::npos;
  if (!work.link_maps || work.link_maps->private_fields || musl) {
    return;
  }
  work.trace.notices.push_back({"link-map-public-only",
                                "only the public part of the loader's records is understood: " +
                                    work.link_maps->private_reason,
                                "who asked for a library first is inferred from the load order",
                                ""});
}

std::vector<bool> known_mappings(const Workspace& work) {
  std::vector<bool> known(work.facts.mappings.size());
  if (work.link_maps) {
    for (const auto& entry : work.link_maps->entries) {
      if (entry.mapping) {
        known[*entry.mapping] = true;
      }
    }
  }
  return known;
}

// The program: where the kernel entered it; started as "ld.so ./program" it is the first entry of
// the link map.
std::optional<std::size_t> find_executable(const Workspace& work) {
  if (work.link_maps && work.object_of_entry.front()) {
    return work.object_of_entry.front();
  }
  if (work.facts.auxv) {
    if (const auto object = object_at(work, work.facts.auxv->entry)) {
      return object;
    }
  }
  const auto& objects = work.mapped.objects;
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const MappedObject& object) {
    return object.path.text == work.facts.exe;
  });
  return found == objects.end() ? std::nullopt
                                : std::optional(static_cast<std::size_t>(found - objects.begin()));
}

std::optional<std::size_t> find_loader(const Workspace& work) {
  if (work.link_maps && work.link_maps->loader && work.object_of_entry[*work.link_maps->loader]) {
    return work.object_of_entry[*work.link_maps->loader];
  }
  return work.facts.auxv ? object_at(work, work.facts.auxv->base) : std::nullopt;
}

// A loader names no interpreter; a static program that lies anywhere says that it is one.
bool may_be_loader(const ElfFile& file) {
  constexpr std::uint16_t et_dyn = 3;             // elf(5)
  constexpr std::uint64_t df_1_pie = 0x08000000;  // glibc elf/elf.h
  return file.type == et_dyn && file.interp.empty() && (file.dynamic.flags_1 & df_1_pie) == 0;
}

// What a kernel would start. C libraries name an interpreter too, and have a DT_SONAME.
bool may_be_program(const ElfFile& file) {
  constexpr std::uint16_t et_exec = 2;
  return file.type == et_exec || (!file.interp.empty() && !file.dynamic.soname);
}

// Of several the one that the command line names.
std::optional<std::size_t> find_program_of_loader(const Workspace& work) {
  const auto is_named = [&](std::size_t index) {
    const std::string_view name = base_name(work.mapped.objects[index].path.text);
    return std::any_of(work.facts.command.begin(),
                       work.facts.command.end(),
                       [&](const std::string& word) { return base_name(word) == name; });
  };
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    if (may_be_program(work.mapped.objects[i].elf) &&
        (!found || (!is_named(*found) && is_named(i)))) {
      found = i;
    }
  }
  return found;
}

// "ld.so ./program" where the loader's records may not be read: the kernel has entered the loader,
// and all that it tells of is that.
void look_behind_loader(Workspace& work) {
  if (work.link_maps || !work.executable ||
      !may_be_loader(work.mapped.objects[*work.executable].elf)) {
    return;
  }
  if (const auto program = find_program_of_loader(work)) {
    work.log("started by name: the program is told by the memory map");
    work.loader = work.executable;
    work.executable = program;
  }
}

ObjectFile object_file(const Workspace& work, std::size_t index) {
  const MappedObject& from = work.mapped.objects[index];
  ObjectFile object;
  object.role = index == work.executable ? ObjectFile::Role::executable
                : index == work.loader   ? ObjectFile::Role::loader
                                         : ObjectFile::Role::library;
  object.state = from.state;
  object.loaded = true;
  object.path = from.path;
  object.device = from.device;
  object.inode = from.inode;
  object.elf = from.elf;
  object.bases = {from.base};
  return object;
}

// What the loader says of the object; the first entry that names it is the one that loaded it.
void add_record(const loader::LinkMapEntry& entry, std::size_t order, ObjectFile& object) {
  if (object.in_link_map) {
    object.dlopen_count += entry.direct_opens;
    if (!entry.proxy && entry.bias != object.bases.front()) {
      object.bases.push_back(entry.bias);
    }
    return;
  }
  object.in_link_map = true;
  object.bases = {entry.bias};
  object.link_namespace = static_cast<std::int64_t>(entry.space);
  object.dlopen_count = entry.direct_opens;
  object.load_order = static_cast<std::uint32_t>(order);
}

// One file, mapped once for each namespace of dlmopen that has it: one node, and its copies by
// name.
void note_copies(Workspace& work, std::size_t object) {
  std::vector<std::string> spaces;
  std::vector<std::uint64_t> told;
  for (std::size_t i = 0; i < work.object_of_entry.size(); ++i) {
    const auto& entry = work.link_maps->entries[i];
    if (work.object_of_entry[i] == object && !entry.proxy &&
        std::find(told.begin(), told.end(), entry.bias) == told.end()) {
      told.push_back(entry.bias);
      spaces.push_back(std::to_string(entry.space));
    }
  }
  auto& node = work.trace.graph.mutable_node(work.node_of_object[object]);
  std::get<ObjectFile>(node.subject).note =
      fmt::format("there are {} copies of it (dlmopen), in the namespaces {}",
                  spaces.size(),
                  join(spaces, ", "));
}

std::vector<std::size_t> load_order(const Workspace& work) {
  std::vector<std::size_t> order;
  std::vector<bool> taken(work.mapped.objects.size());
  const auto take = [&](std::optional<std::size_t> object) {
    if (object && !taken[*object]) {
      taken[*object] = true;
      order.push_back(*object);
    }
  };
  take(work.executable);
  for (const auto& object : work.object_of_entry) {
    take(object);
  }
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    take(i);
  }
  return order;
}

void add_vdso(Workspace& work) {
  const auto& mappings = work.facts.mappings;
  if (std::any_of(mappings.begin(), mappings.end(), [](const Mapping& mapping) {
        return mapping.name == "[vdso]";
      })) {
    const NodeId vdso = work.trace.graph.add(Vdso{"linux-vdso.so.1"});
    Edge edge = edge_between(work.root, vdso, EdgeKind::origin);
    edge.detail = "given by the kernel";
    edge.witnesses = {Witness::maps};
    work.trace.graph.connect(std::move(edge));
  }
}

}  // namespace

void collect_objects(Workspace& work) {
  read_records(work);
  work.mapped = collect_mapped_objects(work.target,
                                       work.facts.mappings,
                                       work.reader,
                                       known_mappings(work),
                                       work.link_maps.has_value(),
                                       work.trace.notices);
  if (work.link_maps) {
    for (const auto& entry : work.link_maps->entries) {
      work.object_of_entry.push_back(entry.mapping ? work.mapped.of_mapping[*entry.mapping]
                                                   : std::nullopt);
    }
  }
  work.executable = find_executable(work);
  work.loader = find_loader(work);
  if (work.loader == work.executable) {
    work.loader.reset();
  }
  look_behind_loader(work);
  note_public_fields_only(work);
}

void add_object_nodes(Workspace& work) {
  Graph& graph = work.trace.graph;
  work.root = graph.add(TargetRoot{work.trace.target, work.target.process->pid()});
  work.node_of_object.resize(work.mapped.objects.size());
  for (const std::size_t index : load_order(work)) {
    const NodeId node = graph.add(object_file(work, index));
    if (const auto& status = work.mapped.objects[index].status) {
      graph.mutable_node(node).cost.file = status->bytes;
    }
    work.node_of_object[index] = node;
  }
  for (std::size_t entry = 0; entry < work.object_of_entry.size(); ++entry) {
    if (work.object_of_entry[entry]) {
      auto& node = graph.mutable_node(work.node_of_entry(entry));
      add_record(work.link_maps->entries[entry], entry, std::get<ObjectFile>(node.subject));
    }
  }
  for (std::size_t i = 0; i < work.node_of_object.size(); ++i) {
    if (object(graph[work.node_of_object[i]])->bases.size() > 1) {
      note_copies(work, i);
    }
  }
  add_vdso(work);
}

}  // namespace tracso
