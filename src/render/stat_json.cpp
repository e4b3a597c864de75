#include "render/stat_json.hpp"

#include "base/text.hpp"
#include "render/attribution_json.hpp"
#include "render/json_parts.hpp"
#include "render/memory_json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

Json peers_json(const std::vector<Holder>& peers) {
  return objects_of(peers, [](Json& one, const Holder& peer) {
    one["pid"] = peer.pid;
    put_text(one, "name", peer.name);
    one["fd"] = peer.fd < 0 ? Json(nullptr) : Json(peer.fd);
  });
}

Json list_json(const std::vector<Descriptor>& descriptors) {
  return objects_of(descriptors, [](Json& one, const Descriptor& descriptor) {
    one["fd"] = descriptor.fd;
    one["kind"] = descriptor_kind_name(descriptor.kind);
    put_bytes(one, "target", descriptor.target);
    put_text(one, "detail", descriptor.detail);
    put_bytes(one, "link", descriptor.link);
    one["deleted"] = descriptor.deleted;
    one["bytes_waiting"] = or_null(descriptor.bytes_waiting);
    one["bytes_unsent"] = or_null(descriptor.bytes_unsent);
    one["peer"] = peers_json(descriptor.peers);
    one["per_second"] = nullptr;
  });
}

Json rate_json(const DescriptorRate& rate) {
  if (!rate.is_visible()) {
    return nullptr;
  }
  Json out = Json::object();
  out["received"] = or_null(rate.received);
  out["sent"] = or_null(rate.sent);
  out["position"] = or_null(rate.position);
  out["queue"] = or_null(rate.queue);
  return out;
}

Json descriptors_changed_json(const std::optional<DescriptorChange>& change) {
  if (!change) {
    return nullptr;
  }
  Json out = Json::object();
  out["before"] = change->before;
  out["after"] = change->after;
  out["opened"] = list_json(change->opened);
  out["closed"] = list_json(change->closed);
  out["leaked"] = list_json(change->leaked);
  return out;
}

Json memory_part(const Stat& stat) {
  Json out = Json::object();
  out["peak"] = or_null(stat.peak);
  out["final"] = or_null(stat.resident);
  out["private"] = or_null(stat.private_bytes);
  out["dirty"] = stat.memory ? Json(stat.memory->total().dirty) : Json(nullptr);
  out["virtual"] = or_null(stat.virtual_);
  out["by_class"] = classes_json(stat.memory);
  out["before"] = memory_json(stat.memory_before);
  return out;
}

Json samples_part(const std::optional<MemorySamples>& samples) {
  if (!samples) {
    return nullptr;
  }
  const auto peak = [](const MemorySamples::Peak& one) {
    Json out = Json::object();
    out["bytes"] = one.bytes;
    out["at_ns"] = one.at_ns;
    return out;
  };
  Json out = Json::object();
  out["asked_ns"] = samples->asked_ns;
  out["count"] = samples->count;
  out["longest_gap_ns"] = samples->longest_gap_ns;
  out["resident"] = peak(samples->resident);
  out["anonymous"] = peak(samples->anonymous);
  out["intervals"] =
      objects_of(samples->intervals, [](Json& one, const MemorySamples::Interval& interval) {
        one["from_ns"] = interval.from_ns;
        one["to_ns"] = interval.to_ns;
        one["resident"] = interval.resident;
        one["anonymous"] = interval.anonymous;
      });
  return out;
}

Json libraries_part(const Stat& stat) {
  Json out = Json::object();
  const bool known = stat.libraries_known;
  out["count"] = known ? Json(stat.libraries.count) : Json(nullptr);
  out["file_bytes"] = known ? Json(stat.libraries.file) : Json(nullptr);
  out["mapped_bytes"] = or_null(stat.libraries.mapped);
  out["resident_bytes"] = or_null(stat.libraries.resident);
  out["private_bytes"] = or_null(stat.libraries.private_bytes);
  out["heaviest"] = objects_of(stat.heaviest, [](Json& one, const HeavyLibrary& library) {
    put_bytes(one, "name", library.name);
    put_text(one, "path", library.path);
    one["file_bytes"] = or_null(library.file);
    one["resident_bytes"] = or_null(library.resident);
    one["private_bytes"] = or_null(library.private_bytes);
    put_texts(one, "owners", library.owners);
  });
  put_texts(out, "paths", stat.library_names);
  return out;
}

Json threads_part(const Stat& stat) {
  Json out = Json::object();
  out["before"] = stat.threads_before;
  out["after"] = stat.threads.empty() ? Json(nullptr) : Json(stat.threads.size());
  out["names"] = objects_of(stat.threads, [](Json& one, const ThreadInfo& thread) {
    one["tid"] = thread.tid;
    put_text(one, "name", thread.name);
  });
  return out;
}

Json children_part(const Stat& stat) {
  Json out = Json::object();
  out["started"] = stat.children_born;
  out["largest"] = nullptr;
  if (stat.child_peaks.peak) {
    Json& largest = out["largest"] = Json::object();
    largest["pid"] = stat.child_peaks.pid;
    put_text(largest, "name", stat.child_peaks.name);
    largest["peak"] = *stat.child_peaks.peak;
  }
  out["not_seen"] = stat.child_peaks.not_seen;
  out["left"] = objects_of(stat.children, [](Json& one, const ChildProcess& child) {
    one["pid"] = child.pid;
    one["parent"] = child.parent;
    put_text(one, "name", child.name);
    one["state"] = std::string(1, child.state);
    one["zombie"] = child.state == 'Z';
    one["orphan"] = child.orphan;
    one["resident"] = or_null(child.resident);
    one["peak"] = or_null(child.peak);
  });
  return out;
}

Json tree_part(const std::optional<TreeTotals>& tree) {
  if (!tree) {
    return nullptr;
  }
  Json out = Json::object();
  out["processes"] = tree->processes;
  out["unread"] = tree->unread;
  out["memory"] = memory_json(tree->memory);
  out["fds"] = tree->descriptors;
  out["threads"] = tree->threads;
  return out;
}

Json activity_part(const Activity& activity) {
  Json out = Json::object();
  out["read_bytes"] = or_null(activity.read_bytes);
  out["written_bytes"] = or_null(activity.written_bytes);
  out["disk_read_bytes"] = or_null(activity.disk_read_bytes);
  out["disk_written_bytes"] = or_null(activity.disk_written_bytes);
  return out;
}

void put_figures(Json& out, const StatFigures& figures) {
  out["peak"] = or_null(figures.peak);
  out["rss"] = or_null(figures.rss);
  out["dirty"] = or_null(figures.dirty);
  out["fds"] = or_null(figures.fds);
  out["threads"] = or_null(figures.threads);
  out["children"] = or_null(figures.children);
  out["libs"] = or_null(figures.libs);
  out["wall_ns"] = or_null(figures.wall_ns);
  out["cpu_ns"] = or_null(figures.cpu_ns);
}

Json budgets_part(const std::vector<Budget>& budgets) {
  return objects_of(budgets, [](Json& one, const Budget& budget) {
    put_bytes(one, "name", budget.name);
    put_text(one, "limit", budget.limit);
    one["value"] = or_null(budget.value);
    one["ok"] = budget.ok;
    put_text(one, "text", budget.text);
    put_text(one, "remark", budget.remark);
  });
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : to_utf8(printable(text))) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

Json used_part(const std::optional<WorkingSet>& set) {
  if (!set) {
    return nullptr;
  }
  Json out = Json::object();
  out["window_ns"] = set->window_ns;
  out["resident"] = set->resident;
  out["used"] = set->used;
  out["untouched"] = set->untouched;
  out["libraries"] = objects_of(set->libraries, [](Json& one, const WorkingSet::Library& library) {
    put_bytes(one, "name", library.name);
    one["resident"] = library.resident;
    one["used"] = library.used;
  });
  return out;
}

}  // namespace

std::string stat_json(const Stat& stat) {
  Json out = document("stat");
  put_bytes(out, "target", stat.target);
  out["pid"] = stat.pid;
  put_text(out, "exe", stat.exe);
  put_text(out, "moment", stat.moment);
  out["exact"] = stat.exact;
  out["command"] = command_json(stat.command);
  out["memory"] = memory_part(stat);
  out["samples"] = samples_part(stat.samples);
  out["used"] = used_part(stat.used);
  out["attribution"] = attribution_json(stat.attribution);
  out["libraries"] = libraries_part(stat);
  out["descriptors"] = descriptors_changed_json(stat.descriptors);
  out["descriptor_count"] = or_null(stat.descriptor_count);
  out["threads"] = threads_part(stat);
  out["children"] = children_part(stat);
  out["tree"] = tree_part(stat.tree);
  out["io"] = activity_part(stat.activity);
  out["switches"] = Json::object();
  out["switches"]["voluntary"] = or_null(stat.activity.voluntary_switches);
  out["switches"]["forced"] = or_null(stat.activity.forced_switches);
  out["cpu_ns"] = or_null(stat.cpu_ns);
  out["children_cpu_ns"] = or_null(stat.children_cpu_ns);
  out["wall_ns"] = or_null(stat.wall_ns);
  out["runs"] = objects_of(stat.runs, put_figures);
  out["budgets"] = budgets_part(stat.budgets);
  out["notices"] = notices_json(stat.notices);
  return printed(out, false);
}

std::string descriptors_json(std::int32_t pid,
                             const std::vector<Descriptor>& descriptors,
                             const std::vector<DescriptorRate>& rates,
                             const std::vector<Notice>& notices) {
  Json out = document("fds");
  out["pid"] = pid;
  out["descriptors"] = list_json(descriptors);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    out["descriptors"][i]["per_second"] = rate_json(rates[i]);
  }
  out["notices"] = notices_json(notices);
  return printed(out, false);
}

std::string descriptor_diff_json(const std::string& before,
                                 const std::string& after,
                                 const DescriptorChange& change,
                                 const std::vector<Notice>& notices) {
  Json out = document("diff");
  put_bytes(out, "old", before);
  put_bytes(out, "new", after);
  out["descriptors"] = descriptors_changed_json(change);
  out["notices"] = notices_json(notices);
  return printed(out, false);
}

std::string baseline_json(const Baseline& baseline) {
  Json out = document("baseline");
  put_bytes(out, "target", baseline.target);
  put_text(out, "kernel", baseline.kernel);
  out["page_bytes"] = baseline.page_bytes;
  put_text(out, "huge_pages", baseline.huge_pages);
  out["figures"] = Json::object();
  put_figures(out["figures"], baseline.figures);
  put_texts(out, "libraries", baseline.libraries);
  return printed(out, false);
}

std::string budgets_junit(const Stat& stat) {
  const auto failed = std::count_if(
      stat.budgets.begin(), stat.budgets.end(), [](const Budget& budget) { return !budget.ok; });
  const std::string name = stat.command ? join(stat.command->argv, " ") : stat.target;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"tracso stat: {}\" "
      "tests=\"{}\" "
      "failures=\"{}\" time=\"{:.3f}\">\n",
      xml(name),
      stat.budgets.size(),
      failed,
      static_cast<double>(stat.wall_ns.value_or(0)) / 1e9);
  for (const Budget& budget : stat.budgets) {
    const std::string head = fmt::format("  <testcase classname=\"tracso.stat\" name=\"{} {}\"",
                                         xml(budget.name),
                                         xml(budget.limit));
    std::string inner;
    if (!budget.ok) {
      inner += fmt::format("    <failure message=\"{}\"/>\n", xml(budget.text));
    }
    if (!budget.remark.empty()) {
      inner += fmt::format("    <system-out>{}</system-out>\n",
                           xml(fmt::format("{}; {}", budget.text, budget.remark)));
    }
    out += inner.empty() ? head + "/>\n" : head + ">\n" + inner + "  </testcase>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace tracso
