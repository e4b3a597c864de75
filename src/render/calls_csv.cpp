#include "render/calls.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

std::string number(std::int32_t value) {
  return value == 0 ? "" : std::to_string(value);
}

}  // namespace

std::string calls_csv(const CallsReport& report) {
  const bool timed = report.mode != CallMode::count;
  std::string out =
      "symbol,caller,callee,package,calls,errors,total_ns,self_ns,max_ns,pid,tid,caller_path,"
      "callee_path\n";
  for (const auto& row : report.rows) {
    const auto time = [&](std::uint64_t value) { return timed ? std::to_string(value) : ""; };
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       field(row.symbol),
                       field(row.caller),
                       field(row.callee),
                       field(row.package),
                       row.calls,
                       timed && row.errors_known ? std::to_string(row.errors) : "",
                       time(row.total_ns),
                       time(row.self_ns),
                       time(row.longest_ns),
                       number(row.pid),
                       number(row.thread),
                       field(row.caller_path),
                       field(row.callee_path));
  }
  return out;
}

}  // namespace tracso
