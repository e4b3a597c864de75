#include "calls/safe_point.hpp"

#include "base/c_library.hpp"
#include "base/text.hpp"
#include "calls/target_file.hpp"
#include "elf/symbols.hpp"
#include "proc/loader_command.hpp"
#include "proc/maps.hpp"
#include "proc/status.hpp"
#include "proc/thread_call.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

namespace tracso::calls {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__x86_64__)
// What programs wait with. A thread that waits for a lock is in futex, too, and may hold others:
// only the kind of wait that condition variables, semaphores and pthread_join are made of is taken.
bool is_waiting_call(std::int64_t number, std::uint64_t futex_operation) {
  constexpr std::array calls{SYS_read,
                             SYS_poll,
                             SYS_select,
                             SYS_pselect6,
                             SYS_nanosleep,
                             SYS_ppoll,
                             SYS_epoll_wait,
                             SYS_epoll_pwait,
                             SYS_wait4,
                             SYS_waitid,
                             SYS_accept,
                             SYS_accept4,
                             SYS_recvfrom,
                             SYS_recvmsg,
                             SYS_recvmmsg,
                             SYS_pause,
                             SYS_rt_sigsuspend,
                             SYS_rt_sigtimedwait,
                             SYS_clock_nanosleep,
                             441 /* epoll_pwait2 */};
  constexpr std::uint64_t command = 0x7f, wait_bitset = 9;
  return std::find(calls.begin(), calls.end(), static_cast<long>(number)) != calls.end() ||
         (number == SYS_futex && (futex_operation & command) == wait_bitset);
}

// After a stop these begin anew, with all of their time.
bool loses_time(std::int64_t number) {
  return number == SYS_epoll_wait || number == SYS_epoll_pwait || number == SYS_rt_sigtimedwait ||
         number == SYS_poll || number == SYS_nanosleep || number == SYS_clock_nanosleep;
}
#else
bool is_waiting_call(std::int64_t /*number*/, std::uint64_t /*futex_operation*/) {
  return false;
}

bool loses_time(std::int64_t /*number*/) {
  return false;
}
#endif

bool defines_malloc(const Target& target, const Mapping& mapping) {
  const auto file = open_file_of(target, mapping);
  if (!file) {
    return false;
  }
  auto table = elf::SymbolTable::open(**file, mapping.name);
  const auto found = table ? table->defines("malloc", "") : Result<bool>(false);
  return found && *found;
}

// In which order threads are tried: those that wait first, for they stand where they stand.
int rank_of(const std::optional<proc::ThreadCall>& call, char state) {
  constexpr int never = 9;
  if (state != 'R' && state != 'S') {
    return never;  // in the middle of something in the kernel, or at its end
  }
  if (!call) {
    return 1;  // the kernel does not tell
  }
  if (call->running || call->number < 0) {
    return 2;
  }
  if (!is_waiting_call(call->number, call->arguments[1])) {
    return state == 'R' ? 2 : never;
  }
  return loses_time(call->number) ? 3 : 0;
}

std::vector<pid_t> threads_in_order(const ProcessSource& process) {
  std::multimap<int, pid_t> ranked;
  const auto names = process.list("task");
  if (!names) {
    return {};
  }
  for (const auto& name : *names) {
    const auto number = parse_unsigned(name);
    const auto text = process.read(fmt::format("task/{}/stat", name));
    const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
    if (!number || !stat) {
      continue;
    }
    const auto call = process.read(fmt::format("task/{}/syscall", name));
    const int rank = rank_of(call ? proc::parse_thread_call(*call) : std::nullopt, stat->state);
    if (rank < 9) {
      ranked.emplace(rank, static_cast<pid_t>(*number));
    }
  }
  std::vector<pid_t> threads;
  for (const auto& [rank, thread] : ranked) {
    threads.push_back(thread);
  }
  return threads;
}

}  // namespace

const Mapping* SafePlaces::mapping_at(std::uint64_t address) const {
  const auto found = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
    return address >= mapping.start && address < mapping.end;
  });
  return found == mappings_.end() ? nullptr : &*found;
}

// "mov $15,%rax; syscall", what a handler returns to; "syscall; ret", as in getpid(2).
void SafePlaces::look_for_instructions(const ProcessSource& process, const Mapping& code) {
  constexpr std::array<unsigned char, 9> restorer{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  constexpr std::uint64_t most_code = std::uint64_t{16} << 20;
  std::vector<unsigned char> bytes(std::min(code.end - code.start, most_code));
  if (!process.read_memory(code.start, std::as_writable_bytes(std::span(bytes)))) {
    return;
  }
  constexpr std::array<unsigned char, 3> call_and_return{0x0f, 0x05, 0xc3};
  const auto call =
      std::search(bytes.begin(), bytes.end(), call_and_return.begin(), call_and_return.end());
  if (call != bytes.end()) {
    system_call_ = code.start + static_cast<std::uint64_t>(call - bytes.begin());
  }
  for (auto at = bytes.begin();;) {
    at = std::search(at, bytes.end(), restorer.begin(), restorer.end());
    if (at == bytes.end()) {
      break;
    }
    const auto address = code.start + static_cast<std::uint64_t>(at - bytes.begin());
    restorers_.push_back(address);
    ++at;
  }
}

Result<SafePlaces> SafePlaces::of(const Target& target) {
  const ProcessSource& process = *target.process;
  const auto text = process.read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return mappings.error();
  }
  SafePlaces places;
  places.mappings_ = std::move(*mappings);
  std::set<std::string> known;
  for (const auto& mapping : places.mappings_) {
    const auto name = base_name(mapping.name);
    const bool system = proc::is_loader_name(name) || is_c_library_name(name);
    if (system && mapping.executable) {
      places.look_for_instructions(process, mapping);
    }
    if (!mapping.has_file() || !mapping.readable || mapping.offset != 0 ||
        !known.insert(mapping.name).second) {
      continue;
    }
    if (system || mapping.name.find("tracso-agent") != std::string::npos ||
        defines_malloc(target, mapping)) {
      places.careful_.push_back(mapping.name);
    }
  }
  return places;
}

// The middle of the largest gap below the stack, away from what grows.
std::uint64_t SafePlaces::free_place(std::uint64_t bytes) const {
  constexpr std::uint64_t page = 4096, border = std::uint64_t{1} << 47;
  std::uint64_t best = 0, room = 0;
  for (std::size_t i = 0; i + 1 < mappings_.size() && mappings_[i + 1].start < border; ++i) {
    const auto gap = mappings_[i + 1].start - mappings_[i].end;
    if (gap > room) {
      room = gap;
      best = (mappings_[i].end + gap / 2) / page * page;
    }
  }
  return room > 2 * bytes ? best : 0;
}

std::string SafePlaces::objection_at(std::uint64_t pc, bool waits) const {
  const Mapping* mapping = mapping_at(pc);
  if (mapping == nullptr) {
    return "in code that was mapped just now";
  }
  const auto name = base_name(mapping->name);
  const bool careful =
      std::find(careful_.begin(), careful_.end(), mapping->name) != careful_.end() ||
      name == "[vdso]" || name == "[vsyscall]";
  if (!careful ||
      (waits && !proc::is_loader_name(name) && name.find("tracso-agent") == std::string::npos)) {
    return "";
  }
  return fmt::format("in {}", printable(name));
}

std::string SafePlaces::objection(const tracee::BorrowedThread& thread) const {
  // Of what the kernel puts on the stack for a handler, behind the address of the restorer.
  constexpr std::uint64_t saved_pc = 8 + 40 + 16 * 8;
  constexpr std::uint64_t most_stack = 256 * 1024;
  const auto& state = thread.state();
  const auto call = state.interrupted_call();
  if (call && !is_waiting_call(*call, state.call_arguments()[1])) {
    return fmt::format("in system call {}", *call);
  }
  if (auto objection = objection_at(state.pc(), call.has_value()); !objection.empty()) {
    return objection;
  }
  const Mapping* stack = mapping_at(state.stack());
  if (stack == nullptr) {
    return "on a stack that was mapped just now";
  }
  std::vector<std::uint64_t> words(std::min(stack->end - state.stack(), most_stack) / 8);
  if (!thread.read(state.stack(), std::as_writable_bytes(std::span(words)))) {
    return "on a stack that cannot be read";
  }
  for (std::size_t i = 0; i + saved_pc / 8 < words.size(); ++i) {
    if (std::find(restorers_.begin(), restorers_.end(), words[i]) == restorers_.end()) {
      continue;
    }
    const auto objection = objection_at(words[i + saved_pc / 8], /*waits=*/false);
    if (!objection.empty()) {
      return fmt::format("in a signal handler that interrupted it {}", objection);
    }
  }
  return "";
}

Result<tracee::BorrowedThread> stop_at_safe_point(const ProcessSource& process,
                                                  const SafePlaces& places,
                                                  std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds stop_limit{100};
  constexpr std::chrono::microseconds pause{500};
  const auto end = Clock::now() + limit;
  std::string objection = "none of them runs or waits in a way that can be interrupted";
  do {
    for (const pid_t thread : threads_in_order(process)) {
      auto stopped = tracee::BorrowedThread::stop(process.pid(), thread, stop_limit);
      if (!stopped && stopped.error().kind == ErrorKind::denied) {
        return stopped.error();
      }
      if (!stopped) {
        objection = stopped.error().reason;
        continue;
      }
      const auto against = places.objection(*stopped);
      if (against.empty()) {
        return stopped;
      }
      objection = fmt::format("thread {} was {}", thread, against);
      stopped->let_go();
      if (Clock::now() >= end) {
        break;
      }
    }
    std::this_thread::sleep_for(pause);
    if (!process.read("maps")) {
      return Error{ErrorKind::interrupted,
                   "borrow a thread of",
                   std::to_string(process.pid()),
                   "it ended meanwhile",
                   ""};
    }
  } while (Clock::now() < end);
  return Error{ErrorKind::unsupported,
               "borrow a thread of",
               std::to_string(process.pid()),
               fmt::format("no thread of it came to a safe point in {:.1f} s: {}",
                           static_cast<double>(limit.count()) / 1000,
                           objection),
               "try again when it does something else"};
}

}  // namespace tracso::calls
