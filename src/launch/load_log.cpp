#include "launch/load_log.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace tracso::launch {

void LoadLog::came(std::uint64_t record, LoadRecord load) {
  loaded_[record] = {load.dynamic, loads_.size()};
  if (loads_.size() < most_loads) {
    loads_.push_back(std::move(load));
  } else {
    loaded_[record].place = most_loads;
    ++untold_loads_;
  }
}

void LoadLog::gone(std::uint64_t record, std::chrono::nanoseconds at) {
  const auto loaded = loaded_.extract(record);
  if (loaded && loaded.mapped().place < loads_.size()) {
    loads_[loaded.mapped().place].unloaded = at;
  }
}

void LoadLog::failed(FailedLoad failure) {
  if (failures_.size() < most_failures) {
    failures_.push_back(std::move(failure));
  } else {
    ++untold_failures_;
  }
}

std::vector<std::uint64_t> LoadLog::dynamics() const {
  std::vector<std::uint64_t> all;
  all.reserve(loaded_.size());
  for (const auto& [record, loaded] : loaded_) {
    all.push_back(loaded.dynamic);
  }
  return all;
}

std::uint64_t LoadLog::dynamic_of(std::uint64_t record) const {
  const auto loaded = loaded_.find(record);
  return loaded == loaded_.end() ? 0 : loaded->second.dynamic;
}

void LoadLog::give(RunResult& result) {
  result.loads = std::move(loads_);
  result.failed_loads = std::move(failures_);
  if (untold_loads_ > 0) {
    result.notices.push_back(
        {"loads-not-listed",
         counted(untold_loads_, "more object was", "more objects were") + " loaded",
         "they are not in the list of loads",
         ""});
  }
  if (untold_failures_ > 0) {
    result.notices.push_back({"failed-loads-not-listed",
                              counted(untold_failures_, "more object") + " could not be loaded",
                              "they are not in the list of failed loads",
                              ""});
  }
}

}  // namespace tracso::launch
