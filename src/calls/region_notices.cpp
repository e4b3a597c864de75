#include "calls/region_notices.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracso::calls {
namespace {

bool is_exec(std::string_view symbol) {
  return symbol.starts_with("execv") || symbol.starts_with("execl") || symbol == "fexecve";
}

// Children that a C library makes for its caller, or with vfork: their calls pass by us.
bool starts_child(std::string_view symbol) {
  return symbol == "vfork" || symbol == "system" || symbol == "popen" ||
         symbol.starts_with("posix_spawn");
}

void add_children(const Region& region, std::span<const CallRow> rows, CallsReport& into) {
  std::uint64_t others = 0;
  std::uint64_t forks = 0;
  for (const CallRow& row : rows) {
    others += starts_child(row.symbol) ? row.calls : 0;
    forks += row.symbol == "fork" ? row.calls : 0;
  }
  const auto children = std::max<std::uint64_t>(forks, region.head().children) + others;
  if (children != 0) {
    into.notices.push_back({"calls-children",
                            fmt::format("process {} has started child processes (at least {})",
                                        static_cast<std::int32_t>(region.head().pid),
                                        children),
                            "what they called is not here",
                            "-f follows them"});
  }
}

}  // namespace

void add_region_notices(const Region& region,
                        std::size_t first_row,
                        bool follow,
                        CallsReport& into) {
  const auto& head = region.head();
  const auto pid = static_cast<std::int32_t>(head.pid);
  if (head.no_mirror != 0 && into.mode != CallMode::count) {
    into.notices.push_back({"calls-not-timed",
                            fmt::format("process {} has no address space for timing", pid),
                            "its calls are counted, their times are 0",
                            "try: ulimit -v unlimited; or the program uses that part of it "
                            "itself, as node does: tracso calls CMD is there before"});
  }
  if (head.locks_memory != 0) {
    into.notices.push_back(
        {"calls-locked-on-touch",
         fmt::format("process {} locks its memory (mlockall); what the agent reserves would fill "
                     "the machine, so pages are locked when they are touched (MCL_ONFAULT)",
                     pid),
         "pages that it has not touched yet are not brought in beforehand",
         ""});
  }
  if (head.threads_shared != 0) {
    into.notices.push_back({"calls-threads-shared",
                            fmt::format("process {} has more threads than are kept apart", pid),
                            "some counts of theirs may be lost",
                            ""});
  }
  if (head.starts_without_agent != 0) {
    into.notices.push_back(
        {"calls-not-followed",
         fmt::format("process {}, or a child of it, has started a program as another user, or in "
                     "another root, where the agent cannot be opened",
                     pid),
         "what that program called is not here",
         "tracso as that user, or there"});
  }
  if (head.objects_left != 0) {
    into.notices.push_back(
        {"calls-objects-left",
         fmt::format("process {} has loaded more libraries, one after the other, "
                     "than can be kept apart ({})",
                     pid,
                     static_cast<int>(tracso_most_objects)),
         fmt::format("what {} of them called is missing", head.objects_left),
         ""});
  }
  if (head.left_sites != 0) {
    into.notices.push_back(
        {"calls-sites-left",
         fmt::format("{} in process {} cannot be changed while it runs",
                     counted(head.left_sites, "call site"),
                     pid),
         "calls from there are missing, of functions whose address is used as well",
         "tracso calls CMD traces them from the start"});
  }
  if (head.lookups_by_caller != 0) {
    into.notices.push_back(
        {"calls-lookups",
         fmt::format(
             "{} in process {} with RTLD_DEFAULT or RTLD_NEXT, by libraries for which dlsym "
             "must see who asks",
             counted(head.lookups_by_caller, "look-up was made", "look-ups were made"),
             pid),
         "calls through the pointers that it gave are missing",
         ""});
  }
  if (!follow) {
    add_children(region, std::span(into.rows).subspan(first_row), into);
  }
  const bool execs = std::any_of(into.rows.begin() + static_cast<std::ptrdiff_t>(first_row),
                                 into.rows.end(),
                                 [](const CallRow& row) { return is_exec(row.symbol); });
  if (execs && head.ended == 0 && !follow) {
    into.notices.push_back({"calls-exec",
                            fmt::format("process {}, or a child of vfork in its memory, was "
                                        "replaced by another program (exec)",
                                        pid),
                            "what that program called is not here",
                            "of a command, -f follows it"});
  }
}

}  // namespace tracso::calls
