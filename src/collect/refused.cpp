#include "collect/refused.hpp"

#include "base/text.hpp"

#include <deque>
#include <set>
#include <utility>

namespace tracso {
namespace {

constexpr std::size_t most_objects = 300;

// The walk that the loader has made for one dlopen: breadth first from the file that was asked for.
class Walk {
 public:
  Walk(const Workspace& work, loader::Searcher& searcher) : work_(work), searcher_(searcher) {
    for (const MappedObject& object : work.mapped.objects) {
      seen_.insert(object.elf.dynamic.soname.value_or(std::string(base_name(object.path.text))));
    }
  }

  void explain(const loader::Requester& caller, const RefusedName& refused, FailedLoad& failed) {
    const std::string& asked = refused.asked.empty() ? refused.name : refused.asked;
    auto found = searcher_.search(caller, asked, loader::Evidence::steps);
    if (found.verdict != loader::Found::Verdict::found) {
      if (asked == refused.name) {
        failed.search = std::move(found.steps);
      }
      return;
    }
    add(found, nullptr);
    for (std::size_t at = 0; at < queue_.size() && queue_.size() < most_objects; ++at) {
      if (look_below(queue_[at], refused.name, failed)) {
        return;
      }
    }
  }

 private:
  struct Item {
    ElfFile elf;
    loader::Requester requester;
  };

  void add(const loader::Found& found, const loader::Requester* loader) {
    const TargetPath path = found.path;
    const ElfInput input{path.text, work_.target.files->host_path(path), [this, path] {
                           return work_.target.files->open(path);
                         }};
    auto read = work_.reader.read(std::span(&input, 1));
    if (read.size() != 1 || !read.front()) {
      return;
    }
    queue_.push_back({std::move(*read.front()), {}});
    Item& item = queue_.back();
    item.requester.name = found.l_name;
    item.requester.origin = loader::origin_of(found.l_name, searcher_.working_directory());
    item.requester.elf = &item.elf;
    item.requester.loader = loader;
  }

  // true: that is who needs it.
  bool look_below(const Item& item, const std::string& missing, FailedLoad& failed) {
    for (const NeededEntry& needed : item.elf.dynamic.needed) {
      if (!seen_.insert(needed.name).second && needed.name != missing) {
        continue;
      }
      auto found = searcher_.search(item.requester, needed.name, loader::Evidence::steps);
      if (needed.name == missing && found.verdict != loader::Found::Verdict::found) {
        failed.needed_by = item.requester.name;
        failed.search = std::move(found.steps);
        return true;
      }
      if (found.verdict == loader::Found::Verdict::found) {
        add(found, &item.requester);
      }
    }
    return false;
  }

  const Workspace& work_;
  loader::Searcher& searcher_;
  std::deque<Item> queue_;  // requesters point at each other
  std::set<std::string> seen_;
};

// The object in whose file the dynamic section lies; the program where that is not known.
const loader::Requester& caller_of(const Workspace& work,
                                   const Requesters& requesters,
                                   std::uint64_t dynamic) {
  const auto& mappings = work.facts.mappings;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const auto object = work.mapped.of_mapping[i];
    if (object && mappings[i].start <= dynamic && dynamic < mappings[i].end) {
      return *requesters.of_object[*object];
    }
  }
  return *requesters.main;
}

}  // namespace

void explain_refused(Workspace& work, const Requesters& requesters, loader::Searcher& searcher) {
  for (const RefusedName& refused : work.options.refused) {
    FailedLoad failed;
    failed.name = refused.name;
    failed.asked = refused.asked;
    if (requesters.main != nullptr) {
      Walk(work, searcher).explain(caller_of(work, requesters, refused.caller), refused, failed);
    }
    work.trace.failed_loads.push_back(std::move(failed));
  }
}

}  // namespace tracso
