#include "calls/engine_table.hpp"

#include "base/text.hpp"
#include "calls/error_rules.hpp"
#include "calls/packages.hpp"

#include <algorithm>

namespace tracso::calls {
namespace {

CallRow row_of(const CallEvent& event, const EngineSite& site) {
  CallRow row;
  row.thread = event.thread;
  row.symbol = site.line.symbol;
  row.caller_path = site.caller_path;
  row.callee_path = site.callee_path;
  row.caller = site.caller_path.empty() ? "?" : std::string(base_name(site.caller_path));
  row.callee = site.callee_path.empty() ? "?" : std::string(base_name(site.callee_path));
  row.package = package_of(row.caller_path);
  row.errors_known = site.line.system_call || site.errors != tracso_never;
  return row;
}

std::uint64_t exact_nanoseconds(std::uint64_t ticks, double ns_per_tick) {
  return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns_per_tick);
}

}  // namespace

EngineTable::Sum& EngineTable::sum(std::uint32_t program,
                                   const CallEvent& event,
                                   const EngineSite& site) {
  const auto [at, is_new] = sums_.try_emplace({program, event.thread, event.slot});
  if (is_new) {
    at->second.row = row_of(event, site);
  }
  return at->second;
}

void EngineTable::add(std::uint32_t program,
                      const CallEvent& event,
                      const EngineSite& site,
                      std::string_view /*from*/) {
  auto& open = open_[{program, event.thread}];
  Sum& of = sum(program, event, site);
  if (event.kind != tracso_event_return) {
    ++of.row.calls;
    while (!open.empty() && open.back().place <= event.place) {
      open.pop_back();  // left by longjmp or an exception
    }
    if (event.kind == tracso_event_call) {
      open.push_back({event.place, event.slot, 0});
    }
    return;
  }
  while (!open.empty() && open.back().place < event.place) {
    open.pop_back();
  }
  if (open.empty() || open.back().place != event.place || open.back().slot != event.slot) {
    return;
  }
  const auto took = event.result.took;
  of.total += took;
  of.self += took - std::min(took, open.back().inside);
  of.longest = std::max(of.longest, took);
  const bool failed = site.line.system_call ? event.result.error_number != 0
                                            : means_failure(event.result.integer, site.errors);
  of.row.errors += failed ? 1 : 0;
  open.pop_back();
  if (!open.empty()) {
    open.back().inside += took;
  }
}

std::vector<CallRow> EngineTable::rows(double ns_per_tick,
                                       const std::vector<TracedProgram>& programs) const {
  std::vector<CallRow> rows;
  for (const auto& [key, of] : sums_) {
    CallRow row = of.row;
    const auto program = std::get<0>(key);
    row.pid = program < programs.size() ? programs[program].pid : 0;
    row.total_ns = exact_nanoseconds(of.total, ns_per_tick);
    row.self_ns = exact_nanoseconds(of.self, ns_per_tick);
    row.longest_ns = exact_nanoseconds(of.longest, ns_per_tick);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tracso::calls
