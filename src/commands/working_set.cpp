#include "commands/working_set.hpp"

#include "base/text.hpp"
#include "os/sampler.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tracso {
namespace {

using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

Notice not_told(const Error& error) {
  return {"used-unknown",
          "what it uses of its memory cannot be told: " + error.reason,
          "--used has no figures",
          "run as its user or as root"};
}

}  // namespace

WorkingSet working_set_of(const std::vector<proc::MappingCost>& costs, std::int64_t window_ns) {
  WorkingSet set;
  set.window_ns = window_ns;
  std::map<FileKey, WorkingSet::Library> files;
  std::map<FileKey, bool> is_code;
  for (const proc::MappingCost& cost : costs) {
    // The kernel counts what was read meanwhile as well: a page may be used and gone.
    const std::uint64_t used = std::min(cost.referenced, cost.resident);
    set.resident += cost.resident;
    set.used += used;
    if (cost.mapping.has_file()) {
      const FileKey key(cost.mapping.device, cost.mapping.inode);
      WorkingSet::Library& library = files[key];
      library.name = std::string(base_name(cost.mapping.name));
      library.resident += cost.resident;
      library.used += used;
      is_code[key] = is_code[key] || cost.mapping.executable;
    }
  }
  for (auto& [key, library] : files) {
    if (is_code[key]) {
      set.untouched += library.used == 0 ? 1 : 0;
      set.libraries.push_back(std::move(library));
    }
  }
  std::sort(set.libraries.begin(), set.libraries.end(), [](const auto& a, const auto& b) {
    return a.used != b.used ? a.used > b.used : a.name < b.name;
  });
  return set;
}

bool begin_working_set(std::int32_t pid, std::vector<Notice>& notices) {
  const auto done = os::forget_touched_pages(pid);
  if (!done) {
    notices.push_back(not_told(done.error()));
    return false;
  }
  notices.push_back(
      {"used-marks-cleared",
       "the kernel's marks of touched pages were cleared for --used",
       "a page that several processes share has one mark, so what another one touched "
       "counts as used; under want of memory the kernel may choose other pages of this "
       "process to give up for a while; it was not stopped",
       ""});
  return true;
}

std::optional<WorkingSet> end_working_set(const ProcessSource& process,
                                          std::int64_t window_ns,
                                          std::vector<Notice>& notices) {
  const auto text = process.read("smaps");
  const auto costs =
      text ? proc::parse_smaps(*text) : Result<std::vector<proc::MappingCost>>(text.error());
  if (!costs) {
    notices.push_back(not_told(costs.error()));
    return std::nullopt;
  }
  return working_set_of(*costs, window_ns);
}

}  // namespace tracso
