#include "os/live_commands.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "os/child_ends.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace tracso::os {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  UniqueFd in, out, err;
};

Result<Child> spawn(const std::string& program, const Command& command) {
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in || !out || !err) {
    return errno_error(errno, "start", program);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: a deadline ends the helper and all it started, and Ctrl-C on the terminal
  // is ours to handle.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment = clean_environment();
  Child child;
  const int problem = ::posix_spawn(&child.pid,
                                    program.c_str(),
                                    &actions,
                                    &attributes,
                                    pointers(argv).data(),
                                    pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) {
    return errno_error(problem, "start", program);
  }
  child.in = std::move(in.write);
  child.out = std::move(out.read);
  child.err = std::move(err.read);
  return child;
}

// Reads what is there; false at the end of the stream.
bool drain(UniqueFd& fd, std::string& into, std::size_t limit) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
  if (count < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  const std::size_t room = limit - std::min(limit, into.size());
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(count)));
  return count > 0;
}

bool feed(Child& child, std::string_view& input) {
  if (input.empty()) {
    return false;
  }
  const ssize_t count = ::write(child.in.get(), input.data(), input.size());
  if (count < 0) {
    return errno == EINTR || errno == EAGAIN;
  }
  input.remove_prefix(static_cast<std::size_t>(count));
  return !input.empty();
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// Serves the three streams until both outputs end; false: the deadline came first.
bool converse(Child& child, const Command& command, CommandOutput& output) {
  const Clock::time_point deadline = Clock::now() + command.deadline;
  std::string_view input = command.input;
  if (input.empty()) {
    child.in.reset();
  } else {
    ::fcntl(child.in.get(), F_SETFL, O_NONBLOCK);
  }
  while (child.out || child.err) {
    std::array<pollfd, 3> wait{pollfd{child.out.get(), POLLIN, 0},
                               pollfd{child.err.get(), POLLIN, 0},
                               pollfd{child.in.get(), POLLOUT, 0}};
    const int ready = ::poll(wait.data(), wait.size(), milliseconds_until(deadline));
    if (ready == 0 && Clock::now() >= deadline) {
      return false;
    }
    if (wait[0].revents != 0 && !drain(child.out, output.out, command.output_limit)) {
      child.out.reset();
    }
    if (wait[1].revents != 0 && !drain(child.err, output.err, command.output_limit)) {
      child.err.reset();
    }
    if (wait[2].revents != 0 && !feed(child, input)) {
      child.in.reset();
    }
  }
  return true;
}

int wait_status(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool is_executable_file(const std::string& path) {
  struct stat status {};

  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

bool unwanted(std::string_view entry) {
  constexpr std::array<std::string_view, 6> prefixes{
      "LD_", "PYTHON", "GCONV_PATH=", "LC_", "LANG", "DEBUGINFOD_URLS="};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return entry.starts_with(prefix);
  });
}

}  // namespace

Result<CommandOutput> LiveCommands::run(const Command& command) const {
  const auto program = find_program(command.argv.front());
  if (!program) {
    return Error{ErrorKind::missing_tool,
                 "run",
                 command.argv.front(),
                 "no such program on this machine",
                 ""};
  }

  // A helper that closes its input early must not end us.
  struct sigaction ignore {};

  struct sigaction before {};

  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  auto child = spawn(*program, command);
  if (!child) {
    ::sigaction(SIGPIPE, &before, nullptr);
    return child.error();
  }
  CommandOutput output;
  const bool finished = converse(*child, command, output);
  if (!finished) {
    ::kill(-child->pid, SIGKILL);
  }
  output.status = wait_status(child->pid);
  ::sigaction(SIGPIPE, &before, nullptr);
  if (!finished) {
    return Error{ErrorKind::interrupted,
                 "run",
                 command.argv.front(),
                 fmt::format("no end after {} ms", command.deadline.count()),
                 "--timeout SECONDS allows it more time"};
  }
  return output;
}

std::optional<std::string> find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    return is_executable_file(std::string(name)) ? std::optional<std::string>(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  std::string folders = std::string(path == nullptr ? "" : path) +
                        ":/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
  for (const std::string_view folder : split_words(folders, ":")) {
    std::string candidate = std::string(folder) + "/" + std::string(name);
    if (candidate.starts_with('/') && is_executable_file(candidate)) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::vector<std::string> clean_environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!unwanted(*entry)) {
      kept.emplace_back(*entry);
    }
  }
  kept.emplace_back("LC_ALL=C");
  return kept;
}

}  // namespace tracso::os
