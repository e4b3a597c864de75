#include "render/calls.hpp"
#include "render/json_parts.hpp"

namespace tracso {
namespace {

std::string_view mode_word(CallMode mode) {
  return mode == CallMode::count ? "count" : mode == CallMode::exact ? "exact" : "adaptive";
}

Json row_json(const CallsReport& report, const CallRow& row) {
  const bool timed = report.mode != CallMode::count;
  Json out = Json::object();
  out["pid"] = row.pid == 0 ? Json(nullptr) : Json(row.pid);
  out["tid"] = row.thread == 0 ? Json(nullptr) : Json(row.thread);
  put_text(out, "symbol", row.symbol);
  put_text(out, "caller", row.caller);
  put_text(out, "callee", row.callee);
  put_text(out, "caller_path", row.caller_path);
  put_text(out, "callee_path", row.callee_path);
  put_text(out, "package", row.package);
  out["calls"] = row.calls;
  out["errors"] = timed && row.errors_known ? Json(row.errors) : Json(nullptr);
  out["total_ns"] = timed ? Json(row.total_ns) : Json(nullptr);
  out["self_ns"] = timed ? Json(row.self_ns) : Json(nullptr);
  out["max_ns"] = timed ? Json(row.longest_ns) : Json(nullptr);
  return out;
}

}  // namespace

Json untraced_calls_json(const UntracedCalls& untraced) {
  Json out = Json::object();
  out["address_taken"] = untraced.address_taken;
  out["unresolved"] = untraced.unresolved;
  out["dlsym"] = untraced.dlsym;
  out["filtered"] = untraced.filtered;
  out["inside"] = untraced.inside;
  out["no_room"] = untraced.no_room;
  out["late_objects"] = untraced.late_objects;
  return out;
}

std::string calls_json(const CallsReport& report) {
  Json out = document("calls");
  Json command = Json::object();
  put_texts(command, "argv", report.command);
  command["exit_status"] = or_null(report.exit_status);
  command["signal"] = or_null(report.signal);
  out["command"] = std::move(command);
  out["mode"] = mode_word(report.mode);
  out["calls"] = Json::array();
  for (const auto& row : report.rows) {
    out["calls"].push_back(row_json(report, row));
  }
  out["programs"] = Json::array();
  for (const auto& program : report.programs) {
    Json one = Json::object();
    one["pid"] = program.pid;
    put_bytes(one, "command", program.command);
    one["objects"] = program.objects;
    one["functions"] = program.functions;
    one["start_ns"] = program.start_ns;
    out["programs"].push_back(std::move(one));
  }
  out["untraced"] = report.untraced_known ? untraced_calls_json(report.untraced) : Json(nullptr);
  out["lost"] = 0;
  out["notices"] = notices_json(report.notices);
  return printed(out);
}

}  // namespace tracso
