// The names that a program gave its threads (threading.Thread(name=...)). Before 3.14 Python keeps
// them to itself: threading._active is a dict from pthread_self() to the Thread
// (Lib/threading.py), whose attribute _name is the text.

#include "python/layouts.hpp"
#include "python/memory_locate.hpp"
#include "python/runtime_stacks.hpp"

namespace tracso::python {
namespace {

constexpr std::size_t most_named_threads = 65536;

}  // namespace

void RuntimeReader::read_names(ThreadStacks& into) {
  objects_.forget_objects();
  for (const auto& interpreter : interpreter_states(objects_, runtime_)) {
    const auto module = objects_.find(interpreter.modules, Name::threading).object;
    if (module == 0) {
      continue;
    }
    const auto names = memory_.pointer(module + objects_.layout().object.bytes + module_dict);
    const auto active = objects_.find(names, Name::active_threads).object;
    // A thread that comes or goes changes the dict: what is there is still true of the others.
    const auto entries = objects_.entries(active, Count::any);
    if (!entries || entries->size() > most_named_threads) {
      continue;
    }
    for (const auto& entry : *entries) {
      const auto pthread = objects_.integer(entry.key);
      const auto id = pthread ? thread_of(static_cast<std::uint64_t>(*pthread)) : 0;
      const auto name = objects_.instance_attribute(entry.value, Name::thread_name);
      const auto text = name.object == 0 ? std::nullopt : objects_.text(name.object);
      if (id != 0 && text) {
        into.names.push_back({id, *text});
      }
    }
  }
}

}  // namespace tracso::python
