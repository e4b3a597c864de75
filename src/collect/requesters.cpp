#include "collect/requesters.hpp"

namespace tracso {
namespace {

loader::Requester make_requester(const Workspace& work,
                                 std::size_t object,
                                 const std::string& l_name,
                                 const std::string& directory) {
  const MappedObject& mapped = work.mapped.objects[object];
  loader::Requester requester;
  requester.is_main = object == work.executable;
  // The program's $ORIGIN is that of its real path, which is what the kernel names; a library's
  // that of the name it was opened by.
  requester.name = requester.is_main || l_name.empty() ? mapped.path.text : l_name;
  requester.origin = loader::origin_of(requester.name, directory);
  requester.elf = &mapped.elf;
  return requester;
}

void add_requesters_of_records(const Workspace& work,
                               const StartFacts& start,
                               Requesters& requesters) {
  const auto& entries = work.link_maps->entries;
  std::vector<loader::Requester*> of_entry(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto object = work.object_of_entry[i];
    if (!object) {
      continue;
    }
    const auto& directory = start.directory_of_entry[i];
    requesters.all.push_back(make_requester(
        work, *object, entries[i].name, directory.value_or(start.environment.working_directory)));
    if (requesters.all.back().is_main && !start.program_origin.empty()) {
      requesters.all.back().origin = start.program_origin;
    } else if (requesters.all.back().is_main && !start.has_origin) {
      requesters.all.back().origin.clear();
    }
    of_entry[i] = &requesters.all.back();
    auto& known = requesters.of_object[*object];
    known = known == nullptr ? of_entry[i] : known;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (of_entry[i] != nullptr && entries[i].requester && *entries[i].requester != i) {
      of_entry[i]->loader = of_entry[*entries[i].requester];
    }
  }
}

}  // namespace

Requesters make_requesters(const Workspace& work, const StartFacts& start) {
  Requesters requesters;
  requesters.of_object.resize(work.mapped.objects.size());
  if (work.link_maps) {
    add_requesters_of_records(work, start, requesters);
  }
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    if (requesters.of_object[i] == nullptr) {
      requesters.all.push_back(make_requester(work, i, "", work.facts.working_directory));
      requesters.of_object[i] = &requesters.all.back();
    }
  }
  requesters.main = work.executable ? requesters.of_object[*work.executable] : nullptr;
  return requesters;
}

}  // namespace tracso
