#include "os/gdb_session.hpp"

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/child_ends.hpp"
#include "os/gdb_guardian.hpp"
#include "os/live_commands.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace tracso::os {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int lowest_fd = 16;  // what GuardianPlan asks for
constexpr std::size_t longest_line = 4096;

Error cannot_start() {
  return errno_error(errno, "start", "gdb");
}

UniqueFd moved_up(UniqueFd fd) {
  return fd ? UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest_fd)) : UniqueFd();
}

Pipe make_high_pipe() {
  Pipe pipe = make_pipe();
  return {moved_up(std::move(pipe.read)), moved_up(std::move(pipe.write))};
}

// A socket pair, because a write to it can do without SIGPIPE.
Pipe make_gate() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return {};
  }
  return {moved_up(UniqueFd(ends[0])), moved_up(UniqueFd(ends[1]))};
}

// A file in memory with that content.
UniqueFd memory_file(const char* name, std::string_view content) {
  UniqueFd fd = moved_up(UniqueFd(::memfd_create(name, MFD_CLOEXEC)));
  while (fd && !content.empty()) {
    const ssize_t count = ::write(fd.get(), content.data(), content.size());
    if (count <= 0) {
      return UniqueFd();
    }
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return fd;
}

std::vector<std::string> arguments() {
  // Settings that an older gdb may not know stand here, where they cost a message only; the
  // script would end at them. --readnever skips debugging information: seconds with python3-dbg.
  return {"gdb",
          "-batch",
          "-nx",
          "--readnever",
          "-iex",
          "set auto-solib-add off",
          "-iex",
          "set debuginfod enabled off",
          "-iex",
          "set auto-load no",
          "-iex",
          "set libthread-db-search-path /nonexistent",
          "-x",
          fmt::format("/proc/self/fd/{}", script_fd)};
}

std::vector<std::string> environment() {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return {fmt::format("PATH={}", path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path),
          "LC_ALL=C",
          "HOME=/nonexistent"};
}

class LiveGdbSession final : public GdbSession {
 public:
  LiveGdbSession(pid_t guardian, UniqueFd gate, UniqueFd lines, UniqueFd answer)
      : guardian_(guardian),
        gate_(std::move(gate)),
        lines_(std::move(lines)),
        answer_(std::move(answer)) {}

  LiveGdbSession(const LiveGdbSession&) = delete;
  LiveGdbSession& operator=(const LiveGdbSession&) = delete;

  ~LiveGdbSession() override {
    leave();
    // A guardian that still waits for gdb is left to itself; it ends with gdb.
    ::waitpid(guardian_, nullptr, lines_ ? WNOHANG : 0);
  }

  GdbLine next_line(std::chrono::nanoseconds until) override;

  void open_gate() override {
    constexpr std::string_view word = "go\n";
    if (gate_) {
      [[maybe_unused]] const auto sent =
          ::send(gate_.get(), word.data(), word.size(), MSG_NOSIGNAL);
    }
  }

  void leave() override { gate_.reset(); }

  Result<std::string> answer(std::size_t limit) const override;

 private:
  std::chrono::nanoseconds now() const { return Clock::now() - began_; }

  std::optional<GdbLine> line_in_buffer();
  bool fill(std::chrono::nanoseconds until);

  pid_t guardian_;
  UniqueFd gate_, lines_, answer_;
  Clock::time_point began_ = Clock::now();
  std::string buffer_;
};

std::optional<GdbLine> LiveGdbSession::line_in_buffer() {
  const auto end = buffer_.find('\n');
  if (end == std::string::npos && buffer_.size() < longest_line) {
    return std::nullopt;
  }
  GdbLine line{GdbLine::Kind::text, buffer_.substr(0, std::min(end, longest_line)), now()};
  buffer_.erase(0, end == std::string::npos ? longest_line : end + 1);
  return line;
}

// Waits for output and takes it; false: the time is over.
bool LiveGdbSession::fill(std::chrono::nanoseconds until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now()).count();
  pollfd wait{lines_.get(), POLLIN, 0};
  const int ready = ::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
  if (ready <= 0) {
    return now() < until;
  }
  std::array<char, 4096> piece{};
  const ssize_t count = ::read(lines_.get(), piece.data(), piece.size());
  if (count > 0) {
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    lines_.reset();
  }
  return true;
}

GdbLine LiveGdbSession::next_line(std::chrono::nanoseconds until) {
  while (true) {
    if (auto line = line_in_buffer()) {
      return *line;
    }
    if (!lines_) {
      return {GdbLine::Kind::ended, std::exchange(buffer_, {}), now()};
    }
    if (!fill(until)) {
      return {GdbLine::Kind::quiet, "", now()};
    }
  }
}

Result<std::string> LiveGdbSession::answer(std::size_t limit) const {
  struct stat status {};

  if (::fstat(answer_.get(), &status) != 0) {
    return errno_error(errno, "read answer of", "gdb");
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes > limit) {
    return Error{ErrorKind::failed,
                 "read answer of",
                 "gdb",
                 fmt::format("{} bytes are more than {}", bytes, limit),
                 ""};
  }
  std::string content(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const ssize_t count =
        ::pread(answer_.get(), content.data() + have, bytes - have, static_cast<off_t>(have));
    if (count <= 0) {
      return errno_error(count == 0 ? EIO : errno, "read answer of", "gdb");
    }
    have += static_cast<std::size_t>(count);
  }
  return content;
}

}  // namespace

Result<std::unique_ptr<GdbSession>> start_gdb_session(const GdbJob& job) {
  const auto program = find_program("gdb");
  if (!program) {
    return Error{ErrorKind::missing_tool,
                 "run",
                 "gdb",
                 "no such program on this machine",
                 "--probe memory needs no gdb"};
  }
  Pipe gate = make_gate();
  Pipe lines = make_high_pipe();
  Pipe relay = make_high_pipe();
  const UniqueFd code = memory_file("code", job.code);
  UniqueFd answer = memory_file("answer", "");
  const UniqueFd registers = memory_file("registers", job.registers);
  const UniqueFd script = memory_file("script", job.script);
  if (!gate || !lines || !relay || !code || !answer || !registers || !script ||
      ::fcntl(relay.write.get(), F_SETFL, O_NONBLOCK) != 0) {
    return cannot_start();
  }
  auto words = arguments();
  auto variables = environment();
  const auto argv = pointers(words);
  const auto envp = pointers(variables);
  GuardianPlan plan;
  plan.program = program->c_str();
  plan.argv = argv.data();
  plan.environment = envp.data();
  plan.gate = gate.read.get();
  plan.code = code.get();
  plan.answer = answer.get();
  plan.registers = registers.get();
  plan.script = script.get();
  plan.lines_in = lines.read.get();
  plan.lines_out = lines.write.get();
  plan.relay = relay.write.get();
  plan.target = job.pid;
  plan.target_stopped = job.stopped;
  const pid_t guardian = ::fork();
  if (guardian < 0) {
    return cannot_start();
  }
  if (guardian == 0) {
    be_guardian(plan);
  }
  return std::unique_ptr<GdbSession>(std::make_unique<LiveGdbSession>(
      guardian, std::move(gate.write), std::move(relay.read), std::move(answer)));
}

}  // namespace tracso::os
