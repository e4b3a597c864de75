#include "tracee/borrowed_thread.hpp"

#include "base/result.hpp"
#include "tracee/requests.hpp"
#include "tracee/workshop.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace tracso::tracee {
namespace {

// How long the thread waits for us before it goes on alone.
constexpr std::uint64_t patience_ns = 500'000'000;

bool is_fault(const siginfo_t& details) {
  const int signal = details.si_signo;
  return details.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
                                 signal == SIGFPE || signal == SIGTRAP || signal == SIGSYS);
}

}  // namespace

BorrowedThread::BorrowedThread(
    pid_t process, pid_t thread, ThreadState state, UniqueFd memory, int signal)
    : process_(process),
      thread_(thread),
      state_(std::move(state)),
      memory_(std::move(memory)),
      signal_(signal),
      since_(Clock::now()) {}

BorrowedThread::BorrowedThread(BorrowedThread&& other) noexcept
    : process_(other.process_),
      thread_(other.thread_),
      state_(std::move(other.state_)),
      memory_(std::move(other.memory_)),
      signal_(other.signal_),
      instruction_(other.instruction_),
      way_back_(other.way_back_),
      waiting_(other.waiting_),
      workshop_(other.workshop_),
      thread_memory_(std::move(other.thread_memory_)),
      held_(std::exchange(other.held_, false)),
      faulted_(other.faulted_),
      since_(other.since_),
      duration_(other.duration_) {}

BorrowedThread::~BorrowedThread() {
  let_go();
}

Error BorrowedThread::gone() const {
  return {ErrorKind::interrupted,
          "borrow a thread of",
          std::to_string(process_),
          "it ended meanwhile",
          ""};
}

Result<BorrowedThread> BorrowedThread::stop(pid_t process,
                                            pid_t thread,
                                            std::chrono::milliseconds limit) {
  const auto subject = std::to_string(process);
  UniqueFd memory(::open(fmt::format("/proc/{}/mem", thread).c_str(), O_RDWR | O_CLOEXEC));
  const int problem = memory ? seize(thread, Follow::nothing) : errno;
  if (problem != 0 || interrupt(thread) != 0) {
    return errno_error(
        problem == 0 || problem == ENOENT ? ESRCH : problem, "borrow a thread of", subject);
  }
  const auto report = await_report(thread, limit);
  const Stop stop = report ? decode_status(report->status) : Stop{StopKind::other, 0};
  const bool dead = stop.kind == StopKind::exited || stop.kind == StopKind::killed;
  auto state = report && stop.kind == StopKind::trap ? ThreadState::of(thread) : std::nullopt;
  if (state) {
    return BorrowedThread(process, thread, std::move(*state), std::move(memory), 0);
  }
  if (report && !dead) {
    detach(thread, stop.kind == StopKind::signal ? stop.value : 0);
  }
  return Error{ErrorKind::interrupted,
               "borrow a thread of",
               subject,
               dead ? "it ended meanwhile" : "it did not stop in time",
               ""};
}

bool BorrowedThread::read(std::uint64_t address, std::span<std::byte> into) const {
  return ::pread(memory_.get(), into.data(), into.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(into.size());
}

bool BorrowedThread::write(std::uint64_t address, std::span<const std::byte> bytes) const {
  return ::pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)) ==
         static_cast<ssize_t>(bytes.size());
}

// One report of the thread while it is ours. An Error: nothing more can be done with it.
std::optional<Error> BorrowedThread::look_at_report() {
  const auto report = poll_report(thread_);
  if (!report) {
    return std::nullopt;
  }
  const Stop stop = decode_status(report->status);
  if (stop.kind == StopKind::exited || stop.kind == StopKind::killed) {
    held_ = false;
    return gone();
  }
  if (stop.kind == StopKind::signal) {
    const auto details = signal_details(thread_);
    if (details && is_fault(*details)) {
      faulted_ = true;
      return Error{ErrorKind::failed,
                   "call a function in",
                   std::to_string(process_),
                   fmt::format("it faulted there (signal {}) and was put back", stop.value),
                   ""};
    }
    signal_ = stop.value;  // SIGSTOP, which cannot be blocked, or one of a fault, sent by somebody
  }
  resume(thread_, 0);
  return std::nullopt;
}

// The thread runs; it is to stop as it is.
bool BorrowedThread::stop_again() {
  if (interrupt(thread_) != 0) {
    held_ = false;
    return false;
  }
  return await_trap();
}

bool BorrowedThread::await_trap() {
  constexpr std::chrono::milliseconds limit{2000};
  const auto end = Clock::now() + limit;
  while (Clock::now() < end) {
    const auto report = await_report(thread_, limit);
    const Stop stop = report ? decode_status(report->status) : Stop{StopKind::exited, 0};
    if (stop.kind == StopKind::exited || stop.kind == StopKind::killed) {
      held_ = false;
      return false;
    }
    if (stop.kind == StopKind::trap || stop.kind == StopKind::group_stop) {
      return true;
    }
    signal_ = stop.kind == StopKind::signal ? stop.value : signal_;
    resume(thread_, 0);
  }
  held_ = false;
  return false;
}

// For those that map and unmap the workshop. The thread makes the call, then waits for us, then
// gives itself back what it had: all of that is prepared on its own stack (write_way_back). No stop
// at the call itself: were we killed during one, the kernel would send it a SIGTRAP.
Result<Done> BorrowedThread::make_system_call(std::int64_t number,
                                              const std::array<std::uint64_t, 6>& arguments) {
  const auto end = Clock::now() + std::chrono::seconds(2);
  auto pause = std::chrono::microseconds(30);
  if (!state_.prepare_system_call(thread_, instruction_, way_back_, number, arguments)) {
    return gone();
  }
  while (Clock::now() < end) {
    resume(thread_, 0);
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(2000));
    if (!stop_again()) {
      return gone();
    }
    const auto now = ThreadState::of(thread_);
    if (now && now->is_waiting_at(instruction_, waiting_)) {
      return Done{};
    }
  }
  leave_alone();
  return gone();
}

void BorrowedThread::write_workshop() {
  const auto vectors = state_.vectors();
  write(workshop_, workshop::code());
  write(workshop_ + workshop::system_call_code, workshop::system_call_function());
  write(workshop_ + workshop::data_at + workshop::context_at,
        state_.context(workshop_ + workshop::vectors_at));
  write(workshop_ + workshop::vectors_at, vectors);
  const std::array<std::uint64_t, 2> pause{0, patience_ns};
  write(workshop_ + workshop::data_at + workshop::pause_at, std::as_bytes(std::span(pause)));
}

// Thread-local variables lie below the thread pointer, the C library's own record from it on.
void BorrowedThread::keep_thread_memory() {
  constexpr std::uint64_t below = 8192, above = 2304;
  thread_memory_.resize((below + above) / 8);
  if (!read(state_.thread_pointer() - below, std::as_writable_bytes(std::span(thread_memory_)))) {
    thread_memory_.assign(above / 8, 0);
    if (!read(state_.thread_pointer(), std::as_writable_bytes(std::span(thread_memory_)))) {
      thread_memory_.clear();
    }
  }
}

// On its own stack, below what a function may use without moving the stack pointer, upwards: the
// restorer, by which the first call ends; what makes the thread wait; the restorer again; what it
// had.
bool BorrowedThread::write_way_back(std::uint64_t restorer) {
  constexpr std::uint64_t red_zone = 128, alignment = 64;
  const auto vectors = state_.vectors();
  const std::array<std::uint64_t, 2> pause{0, patience_ns};
  const auto vectors_place = (state_.stack() - red_zone - vectors.size()) / alignment * alignment;
  const auto pause_place = vectors_place - sizeof pause;
  const auto context = state_.context(vectors_place);
  waiting_ = pause_place - context.size() - 8;
  const auto waiting = state_.waiting_context(vectors_place, instruction_, waiting_, pause_place);
  way_back_ = waiting_ - waiting.size() - 8;
  return write(vectors_place, vectors) && write(pause_place, std::as_bytes(std::span(pause))) &&
         write(waiting_ + 8, context) && write(waiting_, bytes_of(restorer)) &&
         write(way_back_ + 8, waiting) && write(way_back_, bytes_of(restorer));
}

Result<Done> BorrowedThread::prepare(std::uint64_t instruction,
                                     std::uint64_t restorer,
                                     std::uint64_t place) {
  instruction_ = instruction;
  if (!write_way_back(restorer)) {
    return Error{ErrorKind::unsupported,
                 "borrow a thread of",
                 std::to_string(process_),
                 "its stack has less room than a signal needs",
                 ""};
  }
  keep_thread_memory();
  // At a place of our choice: so that there is no result to be asked for.
  const auto made = make_system_call(SYS_mmap,
                                     {place,
                                      workshop_bytes,
                                      PROT_READ | PROT_WRITE | PROT_EXEC,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                                      ~std::uint64_t{0},
                                      0});
  if (!made) {
    return made.error();
  }
  workshop_ = place;
  std::array<std::byte, 1> first{};
  if (!read(place, first) || !read(place + workshop_bytes - 1, first)) {
    workshop_ = 0;
    return Error{ErrorKind::unsupported,
                 "borrow a thread of",
                 std::to_string(process_),
                 "it gets no memory for code (ulimit -v, or a security module)",
                 ""};
  }
  write_workshop();
  return Done{};
}

void BorrowedThread::leave_alone() {
  if (std::exchange(held_, false)) {
    detach(thread_, signal_);
    duration_ = Clock::now() - since_;
  }
}

std::optional<ThreadState> BorrowedThread::waiting() const {
  auto state = held_ && !faulted_ ? ThreadState::of(thread_) : std::nullopt;
  return state && state->interrupted_call() ? std::move(state) : std::nullopt;
}

void BorrowedThread::take_out() {
  constexpr std::uint64_t above = 2304;
  const auto start = state_.thread_pointer() + above - thread_memory_.size() * 8;
  std::vector<std::uint64_t> now(thread_memory_.size());
  if (held_ && read(start, std::as_writable_bytes(std::span(now)))) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const bool ours = now[i] >= workshop_ && now[i] < workshop_ + workshop_bytes;
      if (ours && now[i] != thread_memory_[i]) {
        write(start + i * 8, bytes_of(thread_memory_[i]));
      }
    }
  }
  let_go();
}

std::chrono::nanoseconds BorrowedThread::let_go() {
  if (held_) {
    if (workshop_ != 0) {
      [[maybe_unused]] const auto done =
          make_system_call(SYS_munmap, {workshop_, workshop_bytes, 0, 0, 0, 0});
    }
    if (held_) {
      state_.give_to(thread_);
      leave_alone();
    }
  }
  return duration_;
}

}  // namespace tracso::tracee
