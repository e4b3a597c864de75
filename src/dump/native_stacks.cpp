#include "dump/native_stacks.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>

namespace tracso::dump {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_stop(200);   // until it stands still
constexpr std::chrono::milliseconds longest_python(10);  // of reading its Python frames meanwhile
constexpr std::uint64_t most_stack_bytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t pages_at_once = 16;
// Leaf functions keep values below the stack pointer (System V ABI of x86-64, "red zone").
constexpr std::uint64_t red_zone = 128;

bool has_ended(const KernelView& view) {
  return view.state == 'Z' || view.state == 'X';
}

}  // namespace

// Page by page, for it ends where the next is not there.
void NativeStacks::copy_stack(const tracee::Registers& registers, ThreadCopy& copy) const {
  const auto bytes = registers.bytes();
  copy.registers.assign(bytes.begin(), bytes.end());
  copy.stack_start = (registers.stack() - red_zone) & ~std::uint64_t{7};
  auto next = copy.stack_start;
  while (copy.stack.size() < most_stack_bytes) {
    const auto before = copy.stack.size();
    const auto first = page_bytes - next % page_bytes;
    copy.stack.resize(before + first + (pages_at_once - 1) * page_bytes);
    std::array<MemoryRead, pages_at_once> pieces;
    auto room = std::span(copy.stack).subspan(before);
    for (auto& piece : pieces) {
      const auto count = page_bytes - next % page_bytes;
      piece = {next, room.first(count), false};
      room = room.subspan(count);
      next += count;
    }
    process_.read_memory(std::span(pieces));
    auto got = before;
    for (const auto& piece : pieces) {
      if (!piece.got) {
        copy.stack.resize(got);
        return;
      }
      got += piece.into.size();
    }
  }
}

void NativeStacks::hold_all(const std::vector<KernelView>& views,
                            python::ThreadStackReader& python,
                            Clock::time_point deadline,
                            std::vector<Taken>& taken) const {
  for (std::size_t i = 0; i < views.size() && Clock::now() < deadline; ++i) {
    if (has_ended(views[i])) {
      continue;
    }
    auto& copy = taken[i].copy;
    taken[i].result =
        tracee::hold_thread(views[i].id, longest_stop, [&](const tracee::Registers& registers) {
          copy_stack(registers, copy);
          python.take_held(views[i].id, longest_python);
        });
    if (taken[i].result->outcome == tracee::Hold::denied) {
      return;  // the next would be, too
    }
  }
}

NativeStack NativeStacks::described(const UnwoundStack& stack,
                                    const std::vector<Mapping>& mappings) {
  NativeStack native;
  native.whole = stack.whole;
  for (const auto& frame : stack.frames) {
    // Behind a call that does not return another function may begin: the call itself is looked up.
    const std::uint64_t back = frame.interrupted ? 0 : 1;
    const auto& place = places_.at(frame.address - back, mappings);
    native.frames.push_back({frame.address,
                             place.library,
                             place.library.empty() ? 0 : place.offset + back,
                             place.symbol,
                             place.symbol.empty() ? 0 : place.into + back,
                             frame.guessed});
  }
  return native;
}

void NativeStacks::add_notices(const std::vector<KernelView>& views,
                               const std::vector<Taken>& taken,
                               Dump& dump) const {
  bool denied = false, other_width = false;
  std::vector<std::string> late;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto& one = taken[i];
    const auto outcome = one.result ? one.result->outcome : tracee::Hold::late;
    denied = denied || outcome == tracee::Hold::denied;
    other_width = other_width || (outcome == tracee::Hold::held && dump.threads[i].native &&
                                  dump.threads[i].native->frames.empty());
    if (outcome == tracee::Hold::late && !has_ended(views[i])) {
      late.push_back(std::to_string(views[i].id));
    }
  }
  constexpr const char* effect = "native stacks are missing";
  if (denied) {
    const auto status = process_.read("status");
    const auto tracer = status ? proc::status_value(*status, "TracerPid") : std::nullopt;
    const auto other = tracer ? trim(*tracer) : std::string_view("0");
    dump.notices.push_back(
        {"native-denied",
         other == "0" ? std::string("its threads may not be held (ptrace)")
                      : fmt::format("its threads are held by another tracer, process {}", other),
         effect,
         other == "0" ? "run as the process's user, or with CAP_SYS_PTRACE" : ""});
  } else if (!late.empty()) {
    dump.notices.push_back({"native-late",
                            fmt::format("did not stop in time: thread {}", join(late, ", ")),
                            effect,
                            "--timeout SECONDS gives all together longer"});
  }
  if (other_width) {
    dump.notices.push_back({"native-width",
                            "it is a program of another width, whose stacks are not unwound",
                            effect,
                            ""});
  }
}

void NativeStacks::take(const std::vector<KernelView>& views,
                        const std::vector<Mapping>& mappings,
                        python::ThreadStackReader& python,
                        Clock::time_point deadline,
                        Dump& dump) {
  std::vector<Taken> taken(views.size());
  // Its end lets go whatever is still traced (tracee/thread_hold.hpp).
  std::thread([&] { hold_all(views, python, deadline, taken); }).join();
  unwinder_.restart(mappings);
  Holds holds;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto& result = taken[i].result;
    if (!result || result->outcome != tracee::Hold::held) {
      continue;
    }
    const auto stack = unwinder_.unwind(taken[i].copy, deadline);
    auto& native = dump.threads[i].native.emplace(described(stack, mappings));
    native.held = result->held;
    ++holds.threads;
    holds.longest = std::max(holds.longest, result->held);
  }
  dump.holds = holds;
  add_notices(views, taken, dump);
}

}  // namespace tracso::dump
