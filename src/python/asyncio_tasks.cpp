// Every task is in a set of weak references that asyncio/tasks.py holds (_all_tasks; since 3.12
// _scheduled_tasks, and _eager_tasks without weak references; since 3.14 these are for tasks of
// other makings, and its own are links of lists). The fields of a task of the C module have moved
// from version to version and no header tells where they are. But its coroutine is the only one
// among its words, and its name follows, and the future it waits for comes before
// (Modules/_asynciomodule.c, TaskObj): a layout that shows itself.

#include "python/asyncio_tasks.hpp"

#include "python/layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso::python {
namespace {

constexpr std::size_t most_tasks = 20000;
constexpr std::uint64_t most_set_slots = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_task_bytes = 512;
constexpr std::uint32_t first_with_two_sets = 12;

// Counted from the end of PyObject.
constexpr std::uint32_t reference_object = 0,
                        task_loop = 0;  // each the first field

class TasksReader {
 public:
  explicit TasksReader(Objects& objects) : objects_(objects), memory_(objects.memory()) {}

  TasksReading read(std::uint64_t module_names, const TaskLists& lists);

 private:
  std::uint64_t word(std::uint64_t object, std::uint32_t offset) {
    return memory_.pointer(object + objects_.layout().object.bytes + offset);
  }

  bool add_set(std::uint64_t set, std::vector<std::uint64_t>& members);
  void add_tasks(std::uint64_t names, Name name, std::vector<std::uint64_t>& tasks, bool& whole);
  bool add_list(std::uint64_t head, std::uint64_t node, std::vector<std::uint64_t>& tasks);
  bool is_task(std::uint64_t object);
  std::optional<TaskReading> task(std::uint64_t address);
  std::string task_name(std::uint64_t object);
  std::uint64_t thread_of(std::uint64_t loop);

  Objects& objects_;
  MemoryReader& memory_;
  std::unordered_map<std::uint64_t, bool> task_types_;
  std::unordered_map<std::uint64_t, std::uint64_t> threads_;  // of loops
};

// PySetObject: slots of an object and its hash; a removed one has the hash -1.
bool TasksReader::add_set(std::uint64_t set, std::vector<std::uint64_t>& members) {
  if (objects_.type_name(objects_.type_of(set)) != "set") {
    return false;
  }
  const auto slots = word(set, set_mask) + 1;
  const auto table = word(set, set_table);
  if (slots > most_set_slots || word(set, set_fill) > slots) {
    return false;
  }
  std::vector<std::array<std::uint64_t, 2>> entries(static_cast<std::size_t>(slots));
  if (!memory_.read(table, std::as_writable_bytes(std::span(entries)))) {
    return false;
  }
  for (const auto& [object, hash] : entries) {
    if (object != 0 && hash != UINT64_MAX) {
      members.push_back(object);
    }
  }
  return true;
}

void TasksReader::add_tasks(std::uint64_t names,
                            Name name,
                            std::vector<std::uint64_t>& tasks,
                            bool& whole) {
  const auto holder = objects_.find(names, name);
  const bool is_set =
      holder.object != 0 && objects_.type_name(objects_.type_of(holder.object)) == "set";
  const auto data = holder.object == 0 ? Found{}
                    : is_set           ? holder
                                       : objects_.instance_attribute(holder.object, Name::data);
  std::vector<std::uint64_t> members;
  if (data.object == 0 || !add_set(data.object, members)) {
    whole = false;
    return;
  }
  for (const auto member : members) {
    memory_.plan(member, 64);
  }
  memory_.fetch();
  for (const auto member : members) {
    tasks.push_back(is_set ? member : word(member, reference_object));
  }
}

// struct llist_node: a ring through the head. false: it does not come back to it.
bool TasksReader::add_list(std::uint64_t head,
                           std::uint64_t node,
                           std::vector<std::uint64_t>& tasks) {
  for (auto at = memory_.pointer(head); at != head; at = memory_.pointer(at)) {
    if (at < node || tasks.size() > most_tasks) {
      return false;
    }
    tasks.push_back(at - node);
  }
  return true;
}

bool TasksReader::is_task(std::uint64_t object) {
  const auto type = objects_.type_of(object);
  const auto known = task_types_.find(type);
  if (known != task_types_.end()) {
    return known->second;
  }
  const auto types = objects_.method_resolution_order(type);
  const bool found = std::any_of(types.begin(), types.end(), [&](std::uint64_t one) {
    return objects_.type_name(one) == "_asyncio.Task";
  });
  return task_types_.emplace(type, found).first->second;
}

// Since 3.12 a name that nobody gave is kept as its number until it is asked for.
std::string TasksReader::task_name(std::uint64_t object) {
  if (auto text = objects_.text(object)) {
    return *text;
  }
  const auto number = objects_.type_name(objects_.type_of(object)) == "int"
                          ? objects_.integer(object)
                          : std::nullopt;
  return number ? fmt::format("Task-{}", *number) : "";
}

std::uint64_t TasksReader::thread_of(std::uint64_t loop) {
  const auto known = threads_.find(loop);
  if (known != threads_.end()) {
    return known->second;
  }
  const auto found = objects_.instance_attribute(loop, Name::thread_id);
  const auto number =
      found.object != 0 && objects_.type_name(objects_.type_of(found.object)) == "int"
          ? objects_.integer(found.object)
          : std::nullopt;
  return threads_.emplace(loop, static_cast<std::uint64_t>(number.value_or(0))).first->second;
}

std::optional<TaskReading> TasksReader::task(std::uint64_t address) {
  const auto type = objects_.type_of(address);
  const auto bytes = std::min(word(type, body::type_basicsize), most_task_bytes);
  std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes / 8));
  if (words.empty() || !memory_.read(address, std::as_writable_bytes(std::span(words)))) {
    return std::nullopt;
  }
  for (std::size_t i = 3; i + 1 < words.size(); ++i) {
    const auto kind = words[i] == 0 ? "" : objects_.type_name(objects_.type_of(words[i]));
    if (kind != "coroutine" && kind != "generator") {
      continue;
    }
    auto chain = await_chain(objects_, words[i]);
    TaskReading task;
    task.address = address;
    task.name = task_name(words[i + 1]);
    task.thread = thread_of(word(address, task_loop));
    task.state = chain.state;
    task.waits_for = words[i - 1];
    task.waits_for_type =
        task.waits_for == 0 ? "" : objects_.type_name(objects_.type_of(task.waits_for));
    task.frames = std::move(chain.frames);
    task.whole = chain.whole;
    return task;
  }
  return std::nullopt;
}

TasksReading TasksReader::read(std::uint64_t names, const TaskLists& lists) {
  TasksReading found;
  std::vector<std::uint64_t> addresses;
  if (objects_.layout().minor < first_with_two_sets) {
    add_tasks(names, Name::all_tasks, addresses, found.whole);
  } else {
    add_tasks(names, Name::scheduled_tasks, addresses, found.whole);
    add_tasks(names, Name::eager_tasks, addresses, found.whole);
  }
  for (const auto head : lists.heads) {
    found.whole = add_list(head, lists.node, addresses) && found.whole;
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  if (addresses.size() > most_tasks) {
    addresses.resize(most_tasks);
    found.whole = false;
  }
  for (const auto address : addresses) {
    memory_.plan(address, 256);
  }
  memory_.fetch();
  for (const auto address : addresses) {
    const auto type = objects_.type_of(address);
    if (objects_.type_name(type) == "NoneType") {
      continue;  // it is no more
    }
    auto one = is_task(address) ? task(address) : std::nullopt;
    if (!one) {
      ++found.others;
    } else if (one->state != CoroutineState::done) {
      found.tasks.push_back(std::move(*one));
    }
  }
  return found;
}

}  // namespace

std::optional<TasksReading> read_tasks(Objects& objects,
                                       std::uint64_t modules,
                                       const TaskLists& lists) {
  const auto module = objects.find(modules, Name::asyncio_tasks);
  if (module.object == 0 || objects.type_name(objects.type_of(module.object)) != "module") {
    return std::nullopt;
  }
  const auto names =
      objects.memory().pointer(module.object + objects.layout().object.bytes + module_dict);
  return TasksReader(objects).read(names, lists);
}

}  // namespace tracso::python
