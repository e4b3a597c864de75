#include "base/demangle.hpp"
#include "base/text.hpp"
#include "render/dump.hpp"
#include "render/text/style.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::string_view state_word(char state) {
  switch (state) {
    case 'R':
      return "runs";
    case 'D':
      return "waits in the kernel, uninterruptible";
    case 'T':
      return "stopped";
    case 't':
      return "held by a tracer";
    case 'Z':
    case 'X':
      return "has ended";
    default:
      return "waits";
  }
}

// The name that the program gave it says more than the kernel's, which is the program's most times.
std::string_view name_of(const Dump& dump, std::int32_t id) {
  const auto found = std::find_if(dump.threads.begin(),
                                  dump.threads.end(),
                                  [&](const ThreadDump& thread) { return thread.id == id; });
  return found == dump.threads.end()   ? std::string_view()
         : !found->python_name.empty() ? std::string_view(found->python_name)
                                       : std::string_view(found->name);
}

// Both names, or one where the kernel's is the other's beginning (Python 3.14 sets it so).
std::string names_of(const RenderOptions& options, const ThreadDump& thread) {
  const bool one = thread.python_name.empty() || thread.python_name.starts_with(thread.name);
  const auto& first = one && !thread.python_name.empty() ? thread.python_name : thread.name;
  return paint(options.color, Style::cyan, printable(first)) +
         (one ? "" : fmt::format(" \"{}\"", printable(thread.python_name)));
}

std::string thread_label(const Dump& dump, std::int32_t id) {
  return fmt::format("{} ({})", id, printable(name_of(dump, id)));
}

bool is_lock(const WaitTarget& target) {
  switch (target.kind) {
    case WaitTarget::Kind::mutex:
    case WaitTarget::Kind::gil:
    case WaitTarget::Kind::rlock:
    case WaitTarget::Kind::lock:
    case WaitTarget::Kind::futex:
      return true;
    default:
      return false;
  }
}

std::string held_by(const Dump& dump, const WaitTarget& target) {
  if (target.kind == WaitTarget::Kind::futex || target.kind == WaitTarget::Kind::lock) {
    return ", whose owner is not recorded";
  }
  if (target.kind == WaitTarget::Kind::rlock && target.owner == 0) {
    return ", whose owner is no thread of Python now";
  }
  return is_lock(target) && target.owner != 0 ? " held by " + thread_label(dump, target.owner) : "";
}

std::string doing(const Dump& dump, const ThreadDump& thread) {
  const auto& target = thread.waits_for;
  std::string text(state_word(thread.state));
  if (thread.call.empty()) {
    return text;
  }
  if (!target.text.empty()) {
    text = is_lock(target) ? "waits for " + printable(target.text) + held_by(dump, target)
                           : thread.call + ": " + printable(target.text);
  } else {
    text = thread.call;
  }
  return text;
}

std::string code_of(const ThreadDump& thread) {
  if (thread.library.empty()) {
    return "";
  }
  return "in " + printable(thread.library) +
         (thread.symbol.empty() ? "" : " " + printable(thread.symbol));
}

std::string python_line(const RenderOptions& options, const StackFrame& frame) {
  const auto line = frame.line == 0 ? "?" : std::to_string(frame.line);
  return fmt::format(
      "   {} ({}:{})\n",
      frame.function.empty() ? "?" : paint(options.color, Style::bold, printable(frame.function)),
      frame.file.empty() ? "?" : printable(frame.file),
      line);
}

void add_python(const RenderOptions& options, const PythonStack& stack, std::string& out) {
  if (stack.torn) {
    out += "   (it ran while it was read: frames may be of different moments)\n";
  }
  for (const auto& frame : stack.frames) {
    out += python_line(options, frame);
  }
  if (!stack.whole) {
    out += "   (more could not be read)\n";
  }
}

std::string native_line(const NativeFrame& frame, Names names) {
  if (frame.library.empty()) {
    return fmt::format("   {:#x}\n", frame.address);
  }
  const auto library = printable(frame.library);
  if (frame.symbol.empty()) {
    return fmt::format("   {}+{:#x}\n", library, frame.offset);
  }
  const auto name = names == Names::demangled ? demangled(frame.symbol) : frame.symbol;
  return fmt::format("   {}+{:#x} in {}\n", printable(name), frame.into, library);
}

// Python functions stand in place of the interpreter's loop that runs them.
void add_native(const RenderOptions& options,
                const ThreadDump& thread,
                Names names,
                std::string& out) {
  const auto& native = *thread.native;
  const bool apart = thread.python && !native.merged;
  if (apart) {
    add_python(options, *thread.python, out);
    out += "   native, which is not matched with Python:\n";
  }
  bool guessed = false;
  std::size_t python = 0;
  for (const auto& frame : native.frames) {
    if (frame.guessed && !guessed) {
      out += "   (no unwind table there; the rest by frame pointers, not certain)\n";
    }
    guessed = frame.guessed;
    for (std::size_t i = 0; i < frame.python_frames && thread.python; ++i, ++python) {
      out += python_line(options, thread.python->frames.at(python));
    }
    if (frame.python_frames == 0) {
      out += native_line(frame, names);
    }
  }
  if (!native.whole && !guessed) {
    out += "   (more could not be unwound)\n";
  }
}

std::string waiting(const Dump& dump, const AsyncTask& task) {
  switch (task.state) {
    case AsyncTask::State::created:
      return "has not begun";
    case AsyncTask::State::ready:
      return "is ready: its loop runs it next";
    case AsyncTask::State::runs:
      return task.thread == 0 ? "runs" : "runs in " + thread_label(dump, task.thread);
    case AsyncTask::State::waits:
      break;
  }
  return task.awaits_task.empty() ? "waits for " + printable(task.awaits)
                                  : "waits for task " + printable(task.awaits_task);
}

// By the threads that run their loops, in the order of the threads.
void add_asyncio(const RenderOptions& options, const Dump& dump, std::string& out) {
  std::vector<std::int32_t> loops;
  for (const auto& task : dump.asyncio->tasks) {
    if (std::find(loops.begin(), loops.end(), task.thread) == loops.end()) {
      loops.push_back(task.thread);
    }
  }
  std::sort(loops.begin(), loops.end());
  for (const auto loop : loops) {
    out += loop == 0 ? "asyncio tasks of a loop that no thread is known to run\n"
                     : fmt::format("asyncio tasks of {}\n", thread_label(dump, loop));
    for (const auto& task : dump.asyncio->tasks) {
      if (task.thread != loop) {
        continue;
      }
      out += fmt::format(
          "   {}  {}\n",
          paint(options.color, Style::cyan, task.name.empty() ? "(a task)" : printable(task.name)),
          waiting(dump, task));
      if (task.torn) {
        out += "      (it ran while it was read)\n";
      }
      for (const auto& frame : task.frames) {
        out += "   " + python_line(options, frame);
      }
      if (!task.whole) {
        out += "      (more could not be read)\n";
      }
    }
  }
  if (dump.asyncio->others != 0) {
    out += fmt::format("   not shown, as they are not of the module _asyncio: {}\n",
                       counted(dump.asyncio->others, "task"));
  }
  if (!dump.asyncio->whole) {
    out += "   (more tasks could not be read)\n";
  }
}

std::string how_read(const Dump& dump) {
  const auto took = static_cast<double>(dump.took.count()) / 1e6;
  if (!dump.holds) {
    return fmt::format("read without stopping in {:.2f} ms", took);
  }
  if (dump.holds->threads == 0) {
    return fmt::format("no thread could be held; read in {:.2f} ms", took);
  }
  const auto longest = static_cast<double>(dump.holds->longest.count()) / 1e6;
  return fmt::format("{} held, one after the other, for at most {:.2f} ms each; read in {:.2f} ms",
                     dump.holds->threads,
                     longest,
                     took);
}

}  // namespace

std::string dump_text(const RenderOptions& options, const Dump& dump, Names names) {
  const auto& glyph = glyphs(options.unicode);
  std::string head = fmt::format("pid {} {}", dump.pid, printable(dump.command));
  if (!dump.python_version.empty()) {
    head += fmt::format(" {} Python {}", glyph.dot, dump.python_version);
  }
  head += fmt::format(" {0} {1} {0} {2}",
                      glyph.dot,
                      counted(dump.threads.size(), "thread", "threads"),
                      how_read(dump));
  std::string out = wrapped(head, {options.width, 0, 2}) + "\n";
  for (const auto& circle : dump.deadlocks) {
    std::string text;
    for (const auto id : circle) {
      text += fmt::format("{} {} ", thread_label(dump, id), glyph.arrow);
    }
    out += paint(options.color, Style::red, "DEADLOCK") +
           fmt::format("  {}{}\n", text, circle.front());
  }
  for (const auto& thread : dump.threads) {
    const auto code = code_of(thread);
    const bool gil = thread.python && thread.python->has_gil;
    out += fmt::format("{} {}  {}{}{}\n",
                       thread.id,
                       names_of(options, thread),
                       doing(dump, thread),
                       gil ? "  [holds the GIL]" : "",
                       code.empty() ? "" : "  " + paint(options.color, Style::dim, code));
    if (thread.native) {
      add_native(options, thread, names, out);
    } else if (thread.python) {
      add_python(options, *thread.python, out);
    }
  }
  if (dump.asyncio) {
    add_asyncio(options, dump, out);
  }
  for (const auto& notice : dump.notices) {
    out += "note: " + printable(notice.text) +
           (notice.effect.empty() ? "" : "; " + printable(notice.effect)) + "\n";
  }
  return out;
}

}  // namespace tracso
