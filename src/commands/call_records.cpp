#include "commands/call_records.hpp"

#include "base/text.hpp"
#include "calls/argument_text.hpp"
#include "render/calls.hpp"
#include "render/json_parts.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace tracso {
namespace {

using calls::Role;
using calls::ShownValue;

Json line(std::string_view kind) {
  Json out = Json::object();
  out["schema"] = "tracso/1";
  out["kind"] = kind;
  return out;
}

std::string_view type_word(const ShownValue& shown) {
  if (!shown.typed) {
    return shown.value.known ? "word" : "unknown";
  }
  switch (shown.type.role) {
    case Role::signed_number:
      return "int";
    case Role::unsigned_number:
    case Role::hexadecimal:
    case Role::octal:
    case Role::created_mode:
      return "uint";
    case Role::character:
      return "char";
    case Role::text:
    case Role::format:
      return "text";
    case Role::bytes:
      return "bytes";
    case Role::enumeration:
      return "enum";
    case Role::flags:
      return "flags";
    case Role::floating:
    case Role::hexadecimal_floating:
      return "float";
    case Role::boolean:
      return "bool";
    case Role::bits:
      return "bits";
    case Role::structure:
      return "struct";
    case Role::reference:
      return "reference";
    case Role::text_object:
    case Role::text_view:
      return "string";
    case Role::unknown:
      return "unknown";
    default:
      return "pointer";
  }
}

Json floating_json(const ShownValue& shown) {
  const double value =
      shown.type.size == sizeof(float)
          ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(shown.value.word)))
          : std::bit_cast<double>(shown.value.word);
  return std::isfinite(value) ? Json(value) : Json(nullptr);  // JSON has no other numbers
}

// The number, by its type; texts have one of their own.
Json number_json(const ShownValue& shown) {
  const auto word = shown.value.word;
  const auto size = shown.type.size;
  if (!shown.value.known) {
    return nullptr;
  }
  if (!shown.typed) {
    return word;
  }
  switch (shown.type.role) {
    case Role::signed_number:
    case Role::enumeration:
      return calls::signed_value(word, size);
    case Role::character:
      return calls::signed_value(word, sizeof(std::int32_t));
    case Role::floating:
    case Role::hexadecimal_floating:
      return floating_json(shown);
    case Role::boolean:
      return calls::unsigned_value(word, size) != 0;
    case Role::unknown:
      return nullptr;
    default:
      return calls::unsigned_value(word, size);
  }
}

bool is_text(const ShownValue& shown) {
  return shown.typed && (shown.type.role == Role::text || shown.type.role == Role::bytes ||
                         shown.type.role == Role::format);
}

Json value_json(const ShownValue& shown, std::size_t text_bytes) {
  Json out = Json::object();
  out["type"] = type_word(shown);
  if (is_text(shown)) {
    const bool there = shown.piece != nullptr && shown.piece->state != tracso_piece_fault;
    if (there) {
      const auto bytes = std::string_view(shown.piece->bytes).substr(0, text_bytes);
      put_bytes(out, "value", bytes);
    } else {
      out["value"] = nullptr;
    }
    out["cut"] =
        there && (shown.piece->state == tracso_piece_cut || shown.piece->bytes.size() > text_bytes);
    out["address"] = shown.value.known ? Json(shown.value.word) : Json(nullptr);
  } else {
    out["value"] = number_json(shown);
  }
  out["shown"] = shown.text;
  return out;
}

Json errno_json(std::int64_t number) {
  if (number == 0) {
    return nullptr;
  }
  constexpr std::int64_t most = 4095;  // an error number of the kernel
  const char* name =
      number > 0 && number <= most ? ::strerrorname_np(static_cast<int>(number)) : nullptr;
  Json out = Json::object();
  out["number"] = number;
  out["name"] = name == nullptr ? Json(nullptr) : Json(name);
  return out;
}

std::string written(const Json& out) {
  return printed(out, /*compact=*/true);
}

}  // namespace

std::int64_t CallRecords::epoch_ns(std::uint64_t ticks) const {
  const auto after = static_cast<double>(static_cast<std::int64_t>(ticks - time_.tick));
  return time_.epoch_ns + static_cast<std::int64_t>(after * time_.ns_per_tick);
}

void CallRecords::write(const calls::ProgramThread& thread,
                        const Call& call,
                        const calls::CallEvent* result,
                        std::string_view end) {
  const auto& site = call.site;
  Json out = line("call");
  out["time_ns"] = epoch_ns(call.event.ticks);
  const auto pid = pids_.find(thread.first);
  out["pid"] = pid == pids_.end() ? Json(nullptr) : Json(pid->second);
  out["tid"] = thread.second;
  out["depth"] = call.depth;
  put_text(out, "caller", base_name(site.caller_path));
  put_text(out, "callee", base_name(site.callee_path));
  put_text(out, "caller_path", site.caller_path);
  put_text(out, "callee_path", site.callee_path);
  put_text(out, "function", site.symbol);
  put_text(out, "from", call.from);
  out["arguments"] = Json::array();
  for (const auto& shown : calls::shown_arguments(call.event, result, site.prototype, limits_)) {
    out["arguments"].push_back(value_json(shown, limits_.text_bytes));
  }
  out["end"] = end;
  const auto shown = result == nullptr
                         ? std::nullopt
                         : calls::shown_result(&call.event, *result, site.prototype, limits_);
  out["result"] = shown ? value_json(*shown, limits_.text_bytes) : Json(nullptr);
  out["errno"] = errno_json(result == nullptr ? 0 : calls::failure_number(*result, site));
  out["duration_ns"] =
      result == nullptr
          ? Json(nullptr)
          : Json(std::llround(static_cast<double>(result->result.took) * time_.ns_per_tick));
  done_ += written(out);
}

void CallRecords::add(std::uint32_t program,
                      const calls::CallEvent& event,
                      const calls::CallSite& site,
                      std::string_view from) {
  const calls::ProgramThread thread{program, event.thread};
  const bool returns = event.kind == tracso_event_return;
  for (const Call& left : returns ? under_way_.left_inside(thread, event.place)
                                  : under_way_.left_before(thread, event.place)) {
    write(thread, left, nullptr, "left");
  }
  if (returns) {
    // Of one that was under way when we came nobody knows the arguments; it is no call that we saw.
    if (const auto call = under_way_.end(thread, event.place, event.slot)) {
      write(thread, *call, &event, "returned");
    }
    return;
  }
  Call call{event.place, event.slot, under_way_.depth(thread), event, site, std::string(from)};
  if (event.kind == tracso_event_call) {
    under_way_.begin(thread, std::move(call));
  } else {
    write(thread, call, nullptr, calls::never_returns(site.symbol) ? "no return" : "not seen");
  }
}

void CallRecords::add_signal(std::uint32_t program,
                             std::int32_t thread,
                             std::uint64_t ticks,
                             int signal) {
  Json out = line("signal");
  out["time_ns"] = epoch_ns(ticks);
  const auto pid = pids_.find(program);
  out["pid"] = pid == pids_.end() ? Json(nullptr) : Json(pid->second);
  out["tid"] = thread;
  out["number"] = signal;
  const char* name = ::sigabbrev_np(signal);
  out["name"] = name == nullptr ? Json(nullptr) : Json(std::string("SIG") + name);
  done_ += written(out);
}

void CallRecords::end(std::string_view) {
  for (const auto& [thread, call] : under_way_.rest()) {
    write(thread, call, nullptr, "no return");
  }
}

std::string CallRecords::take() {
  return std::exchange(done_, std::string());
}

std::string first_record(const CallsRequest& request) {
  Json out = line("start");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  out["time_ns"] = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  out["version"] = document("calls")["version"];
  put_texts(out, "command", request.command);
  out["processes"] = request.processes;
  return written(out);
}

std::string last_record(const CallsReport& report, std::uint64_t lost) {
  Json out = line("end");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  out["time_ns"] = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  out["exit_status"] = or_null(report.exit_status);
  out["signal"] = or_null(report.signal);
  out["untraced"] = report.untraced_known ? untraced_calls_json(report.untraced) : Json(nullptr);
  out["lost"] = lost;
  out["notices"] = notices_json(report.notices);
  return written(out);
}

}  // namespace tracso
