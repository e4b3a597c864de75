#include "render/dump.hpp"
#include "render/json_parts.hpp"

namespace tracso {
namespace {

std::string_view kind_word(WaitTarget::Kind kind) {
  switch (kind) {
    case WaitTarget::Kind::nothing:
      break;
    case WaitTarget::Kind::mutex:
      return "mutex";
    case WaitTarget::Kind::gil:
      return "gil";
    case WaitTarget::Kind::rlock:
      return "rlock";
    case WaitTarget::Kind::lock:
      return "lock";
    case WaitTarget::Kind::futex:
      return "futex";
    case WaitTarget::Kind::descriptor:
      return "descriptor";
    case WaitTarget::Kind::descriptors:
      return "descriptors";
    case WaitTarget::Kind::time:
      return "time";
    case WaitTarget::Kind::other:
      return "other";
  }
  return "nothing";
}

Json number_or_null(std::int64_t number, std::int64_t none) {
  return number == none ? Json(nullptr) : Json(number);
}

Json wait_json(const WaitTarget& target) {
  if (target.kind == WaitTarget::Kind::nothing) {
    return nullptr;
  }
  Json out = Json::object();
  out["kind"] = kind_word(target.kind);
  put_text(out, "text", target.text);
  out["address"] = target.address == 0 ? Json(nullptr) : Json(target.address);
  out["fd"] = number_or_null(target.descriptor, -1);
  put_text(out, "target", target.target);
  out["owner"] = number_or_null(target.owner, 0);
  return out;
}

Json frames_json(const std::vector<StackFrame>& frames) {
  Json out = Json::array();
  for (const auto& frame : frames) {
    Json one = Json::object();
    put_text(one, "file", frame.file);
    one["line"] = number_or_null(frame.line, 0);
    put_text(one, "function", frame.function);
    out.push_back(std::move(one));
  }
  return out;
}

Json native_json(const NativeStack& stack) {
  Json out = Json::object();
  out["held_ns"] = stack.held.count();
  out["whole"] = stack.whole;
  out["python_matched"] = stack.merged;
  out["frames"] = Json::array();
  for (const auto& frame : stack.frames) {
    Json one = Json::object();
    one["address"] = frame.address;
    put_text(one, "library", frame.library);
    one["offset"] = frame.library.empty() ? Json(nullptr) : Json(frame.offset);
    put_text(one, "symbol", frame.symbol);
    one["symbol_offset"] = frame.symbol.empty() ? Json(nullptr) : Json(frame.into);
    one["guessed"] = frame.guessed;
    one["python_frames"] = frame.python_frames;
    out["frames"].push_back(std::move(one));
  }
  return out;
}

Json thread_json(const ThreadDump& thread) {
  Json out = Json::object();
  out["tid"] = thread.id;
  put_bytes(out, "name", thread.name);
  put_text(out, "python_name", thread.python_name);
  out["state"] = std::string(1, thread.state);
  put_text(out, "syscall", thread.call);
  out["waits_for"] = wait_json(thread.waits_for);
  put_text(out, "library", thread.library);
  put_text(out, "symbol", thread.symbol);
  out["python"] = thread.python ? frames_json(thread.python->frames) : Json(nullptr);
  out["python_torn"] = thread.python ? Json(thread.python->torn) : Json(nullptr);
  out["python_whole"] = thread.python ? Json(thread.python->whole) : Json(nullptr);
  out["holds_gil"] = thread.python ? Json(thread.python->has_gil) : Json(nullptr);
  out["native"] = thread.native ? native_json(*thread.native) : Json(nullptr);
  return out;
}

std::string_view state_word(AsyncTask::State state) {
  switch (state) {
    case AsyncTask::State::created:
      return "created";
    case AsyncTask::State::waits:
      return "waits";
    case AsyncTask::State::ready:
      return "ready";
    case AsyncTask::State::runs:
      break;
  }
  return "runs";
}

Json asyncio_json(const AsyncTasks& all) {
  Json out = Json::object();
  out["whole"] = all.whole;
  out["others"] = all.others;
  out["tasks"] = Json::array();
  for (const auto& task : all.tasks) {
    Json one = Json::object();
    put_text(one, "name", task.name);
    one["tid"] = number_or_null(task.thread, 0);
    one["state"] = state_word(task.state);
    put_text(one, "awaits", task.awaits);
    put_text(one, "awaits_task", task.awaits_task);
    one["frames"] = frames_json(task.frames);
    one["whole"] = task.whole;
    one["torn"] = task.torn;
    out["tasks"].push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string dump_json(const Dump& dump, bool indented) {
  Json out = document("dump");
  out["pid"] = dump.pid;
  put_bytes(out, "command", dump.command);
  out["python"] = dump.python_version.empty() ? Json(nullptr) : Json(dump.python_version);
  out["took_ns"] = dump.took.count();
  out["held"] = nullptr;
  if (dump.holds) {
    out["held"] = {{"threads", dump.holds->threads}, {"longest_ns", dump.holds->longest.count()}};
  }
  out["threads"] = Json::array();
  for (const auto& thread : dump.threads) {
    out["threads"].push_back(thread_json(thread));
  }
  out["asyncio"] = dump.asyncio ? asyncio_json(*dump.asyncio) : Json(nullptr);
  out["deadlocks"] = dump.deadlocks;
  out["notices"] = notices_json(dump.notices);
  return indented ? printed(out) : out.dump() + "\n";
}

}  // namespace tracso
