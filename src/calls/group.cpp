#include "calls/group.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace tracso::calls {
namespace {

// Empties what the group does not tell apart.
CallRow key_of(CallRow row, CallGroup group) {
  const bool function = group == CallGroup::function;
  const bool keeps_caller = function || group == CallGroup::caller || group == CallGroup::libraries;
  const bool keeps_callee = function || group == CallGroup::callee || group == CallGroup::libraries;
  if (!function) {
    row.symbol.clear();
  }
  if (!keeps_caller) {
    row.caller.clear();
    row.caller_path.clear();
  }
  if (!keeps_callee) {
    row.callee.clear();
    row.callee_path.clear();
  }
  if (!keeps_caller && group != CallGroup::package) {
    row.package.clear();
  }
  if (group != CallGroup::thread) {
    row.thread = 0;
  }
  if (group != CallGroup::thread && group != CallGroup::process) {
    row.pid = 0;
  }
  return row;
}

void add(CallRow& sum, const CallRow& row) {
  sum.calls += row.calls;
  sum.errors += row.errors;
  sum.errors_known = sum.errors_known || row.errors_known;
  sum.total_ns += row.total_ns;
  sum.self_ns += row.self_ns;
  sum.longest_ns = std::max(sum.longest_ns, row.longest_ns);
}

}  // namespace

void group_rows(CallsReport& report, CallGroup group) {
  using Key =
      std::tuple<std::int32_t, std::int32_t, std::string, std::string, std::string, std::string>;
  std::map<Key, CallRow> sums;
  for (const CallRow& row : report.rows) {
    CallRow key = key_of(row, group);
    const auto [at, is_new] = sums.try_emplace(
        Key{key.pid, key.thread, key.symbol, key.caller_path, key.callee_path, key.package}, key);
    if (!is_new) {
      add(at->second, row);
    }
  }
  report.group = group;
  report.rows.clear();
  for (auto& [key, row] : sums) {
    report.rows.push_back(std::move(row));
  }
  std::stable_sort(
      report.rows.begin(), report.rows.end(), [](const CallRow& one, const CallRow& other) {
        return std::tuple(one.self_ns, one.calls) > std::tuple(other.self_ns, other.calls);
      });
}

}  // namespace tracso::calls
