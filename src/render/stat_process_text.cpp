#include "analysis/descriptor_groups.hpp"
#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/descriptor_words.hpp"
#include "render/stat_report.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

constexpr std::size_t listed = 12;

std::string change_text(std::size_t before, std::size_t after) {
  return before == after  ? fmt::format("{} -> {}", before, after)
         : after > before ? fmt::format("{} -> {} (+{})", before, after, after - before)
                          : fmt::format("{} -> {} (-{})", before, after, before - after);
}

}  // namespace

void StatReport::descriptors() {
  if (!stat_.descriptors) {
    line("fds",
         stat_.descriptor_count
             ? fmt::format("{} open; what they are is not known", *stat_.descriptor_count)
             : "not known");
    return;
  }
  const DescriptorChange& change = *stat_.descriptors;
  line("fds",
       is_one_look() ? fmt::format("{} open", change.after)
                     : change_text(change.before, change.after));
  descriptor_list(change.opened, "opened");
  descriptor_list(change.closed, "closed");
}

// Each by itself where they are few; else what is open how often.
void StatReport::descriptor_list(const std::vector<Descriptor>& descriptors,
                                 std::string_view label) {
  if (options_.limit_libraries == 0 || descriptors.size() <= listed) {
    for (const Descriptor& one : descriptors) {
      line("", fmt::format("{} {}", label, descriptor_phrase(one)));
    }
    return;
  }
  const auto groups = group_descriptors(descriptors);
  std::size_t untold = descriptors.size();
  for (std::size_t i = 0; i < std::min(groups.size(), listed); ++i) {
    const DescriptorGroup& group = groups[i];
    untold -= group.fds.size();
    line("",
         fmt::format("{} {}",
                     label,
                     group.fds.size() == 1 ? descriptor_phrase(*group.first)
                                           : printable(group_phrase(group))));
  }
  line(
      "",
      fmt::format(
          "{} {}--limit 0 lists each", label, untold == 0 ? "" : fmt::format("{} more; ", untold)));
}

void StatReport::threads() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < stat_.threads.size() && i < listed; ++i) {
    names.push_back(printable(stat_.threads[i].name));
  }
  if (stat_.threads.size() > listed) {
    names.push_back(fmt::format("{} more", stat_.threads.size() - listed));
  }
  if (stat_.threads.empty()) {  // a process has one at least
    line("threads", "not known");
    return;
  }
  line("threads",
       fmt::format("{}   {}",
                   stat_.threads_before == 0 || is_one_look()
                       ? std::to_string(stat_.threads.size())
                       : change_text(stat_.threads_before, stat_.threads.size()),
                   join(names, ", ")));
}

void StatReport::children() {
  const auto zombies = std::count_if(stat_.children.begin(),
                                     stat_.children.end(),
                                     [](const ChildProcess& child) { return child.state == 'Z'; });
  const auto orphans = std::count_if(stat_.children.begin(),
                                     stat_.children.end(),
                                     [](const ChildProcess& child) { return child.orphan; });
  const ChildPeaks& peaks = stat_.child_peaks;
  const std::string largest =
      peaks.peak
          ? fmt::format(", largest peak {} ({})", size_text(*peaks.peak), printable(peaks.name))
          : "";
  line("children",
       fmt::format("{}{}, zombies {}, orphans {}{}",
                   stat_.children.size(),
                   stat_.command ? fmt::format(" left of {} started", stat_.children_born) : "",
                   zombies,
                   orphans,
                   largest));
  for (std::size_t i = 0; i < stat_.children.size() && i < listed; ++i) {
    const ChildProcess& child = stat_.children[i];
    line("",
         fmt::format("{} {} of {}{}{}",
                     child.pid,
                     printable(child.name),
                     child.parent,
                     child.state == 'Z' ? ", zombie"
                     : child.orphan     ? ", orphan"
                                        : "",
                     child.resident ? ", " + size_text(*child.resident) + " resident" : ""));
  }
}

void StatReport::tree() {
  if (!stat_.tree) {
    return;
  }
  const MemoryUse all = stat_.tree->memory.total();
  line("tree",
       fmt::format("{}   resident {}   private {}   dirty {}   fds {}   threads {}",
                   counted(stat_.tree->processes, "process", "processes"),
                   size_text(all.resident),
                   size_text(all.private_bytes),
                   size_text(all.dirty),
                   stat_.tree->descriptors,
                   stat_.tree->threads));
}

void StatReport::activity() {
  const Activity& done = stat_.activity;
  const auto count = [](const std::optional<std::uint64_t>& number) {
    return number ? std::to_string(*number) : "-";
  };
  line("io",
       fmt::format("read {}   written {}   from disk {}   to disk {}",
                   size_or_dash(done.read_bytes),
                   size_or_dash(done.written_bytes),
                   size_or_dash(done.disk_read_bytes),
                   size_or_dash(done.disk_written_bytes)));
  line("switches",
       fmt::format(
           "{} voluntary, {} forced", count(done.voluntary_switches), count(done.forced_switches)));
}

}  // namespace tracso
