#include "graph/subject_json.hpp"

#include <limits>
#include <string>
#include <string_view>

namespace tracso {
namespace {

ElfFile read_elf(const JsonItem& item) {
  ElfFile elf;
  elf.elf_class = enumerator(item, "class", ElfClass::none);
  elf.byte_order = enumerator(item, "byte_order", ByteOrder::little);
  elf.os_abi = item.number<std::uint8_t>("os_abi");
  elf.type = item.number<std::uint16_t>("type");
  elf.machine = item.number<std::uint16_t>("machine");
  elf.flags = item.number<std::uint32_t>("flags");
  elf.interp = item.text("interpreter");
  elf.executable_stack = item.flag("executable_stack");
  elf.dynamic.present = item.flag("dynamic");
  elf.dynamic.rpath = item.optional_text("rpath");
  elf.dynamic.runpath = item.optional_text("runpath");
  for (const JsonItem& one : item.items("needed")) {
    elf.dynamic.needed.push_back(
        {enumerator(one, "kind", NeededEntry::Kind::needed), one.text("name")});
  }
  elf.dynamic.audit = item.texts("audit");
  elf.dynamic.depaudit = item.texts("depaudit");
  elf.dynamic.flags = item.number<std::uint64_t>("dynamic_flags");
  elf.dynamic.flags_1 = item.number<std::uint64_t>("dynamic_flags_1");
  return elf;
}

ObjectFile read_object(const JsonItem& item, ObjectFile::Role role) {
  ObjectFile file;
  file.role = role;
  file.state = enumerator(item, "state", ObjectFile::State::current);
  file.loaded = item.flag("loaded");
  file.path.text = item.text("path");
  file.device = item.number<std::uint64_t>("device");
  file.inode = item.number<std::uint64_t>("inode");
  file.wanted = item.text("wanted");
  file.elf = read_elf(item.at("elf"));
  file.elf.dynamic.soname = item.optional_text("soname");
  file.elf.build_id = item.text("build_id");
  for (const JsonItem& base : item.items("bases")) {
    file.bases.push_back(base.own_number(std::numeric_limits<std::uint64_t>::max()).value_or(0));
  }
  file.link_namespace = item.number<std::int64_t>("link_namespace");
  file.in_link_map = item.flag("in_link_map");
  file.dlopen_count = item.number<std::uint32_t>("dlopen_count");
  file.load_order = item.optional_number<std::uint32_t>("load_order");
  file.baseline = item.flag("baseline");
  file.first_cause = item.text("first_cause");
  file.note = item.text("note");
  return file;
}

PythonSource read_source(const JsonItem& item) {
  constexpr std::string_view prefix = "py:";
  PythonSource source;
  source.name = item.text("name");
  if (!source.name.starts_with(prefix)) {
    item.at("name").wrong("a module's name begins with py:");
  } else {
    source.name.erase(0, prefix.size());
  }
  source.modules = item.texts("modules");
  source.distribution = item.text("distribution");
  return source;
}

}  // namespace

Subject read_subject(const JsonItem& item) {
  const std::string kind = item.text("kind");
  if (const auto role = from_word<ObjectFile::Role>(kind)) {
    return read_object(item, *role);
  }
  if (kind == "process") {
    return TargetRoot{item.text("name"), item.number<std::int32_t>("pid")};
  }
  if (kind == "module") {
    return read_source(item);
  }
  if (kind == "environment") {
    return EnvironmentOrigin{item.text("name"), item.text("value")};
  }
  if (kind != "vdso") {
    item.at("kind").wrong(fmt::format("unknown word '{}'", kind));
  }
  return Vdso{item.text("soname")};
}

}  // namespace tracso
