#include "launch/spawn.hpp"

#include "base/result.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace tracso::launch {
namespace {

// "4192", where such a process runs: a number that was meant to be one.
bool is_process(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos &&
         ::access(("/proc/" + name).c_str(), F_OK) == 0;
}

struct Pipe {
  UniqueFd read_end, write_end;
};

Result<Pipe> make_pipe(int flags) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | flags) != 0) {
    return errno_error(errno, "start", "the command");
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> as_argument_list(const std::vector<std::string>& argv) {
  std::vector<char*> list;
  for (const std::string& argument : argv) {
    list.push_back(const_cast<char*>(argument.c_str()));  // NOLINT: execvp changes nothing
  }
  list.push_back(nullptr);
  return list;
}

bool become_user(const CommandUser& user) {
  return setgroups(user.groups.size(), user.groups.data()) == 0 &&
         setresgid(user.group, user.group, user.group) == 0 &&
         setresuid(user.user, user.user, user.user) == 0;
}

// From fork to exec only async-signal-safe calls.
[[noreturn]] void become(char** argv,
                         CommandOutputTo output,
                         const OwnSignals& signals,
                         const CommandUser* user,
                         int go,
                         int failure) {
  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(go, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count == 1) {
    if (output == CommandOutputTo::our_stderr) {
      dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    signals.restore_in_child();
    if (user == nullptr || become_user(*user)) {
      execvp(argv[0], argv);
    }
    const int number = errno;
    count = write(failure, &number, sizeof number);
  }
  _exit(127);
}

}  // namespace

Result<HeldCommand> HeldCommand::start(const std::vector<std::string>& argv,
                                       CommandOutputTo output,
                                       const OwnSignals& signals,
                                       const CommandUser* user) {
  if (argv.empty() || argv[0].empty()) {
    return Error{ErrorKind::usage, "run", "a command", "its name is empty", ""};
  }
  auto go = make_pipe(0);
  if (!go) {
    return go.error();
  }
  auto failure = make_pipe(O_NONBLOCK);
  if (!failure) {
    return failure.error();
  }
  auto list = as_argument_list(argv);
  const pid_t pid = fork();
  if (pid < 0) {
    return errno_error(errno, "run", argv[0]);
  }
  if (pid == 0) {
    go->write_end.reset();  // or it would keep itself waiting when we die
    become(list.data(), output, signals, user, go->read_end.get(), failure->write_end.get());
  }
  HeldCommand command;
  command.pid_ = pid;
  command.name_ = argv[0];
  command.go_ = std::move(go->write_end);
  command.go_reader_ = std::move(go->read_end);
  command.failure_ = std::move(failure->read_end);
  return command;
}

void HeldCommand::go() {
  const char byte = 1;
  // It fails only if the child is dead; its end is reported elsewhere.
  [[maybe_unused]] const ssize_t count = write(go_.get(), &byte, 1);
}

std::optional<Error> HeldCommand::failure() const {
  int number = 0;
  if (read(failure_.get(), &number, sizeof number) != sizeof number) {
    return std::nullopt;
  }
  return exec_error(number, name_);
}

std::optional<Error> HeldCommand::await_failure() const {
  pollfd waiting{failure_.get(), POLLIN, 0};
  while (poll(&waiting, 1, -1) < 0 && errno == EINTR) {
  }
  return failure();
}

Error exec_error(int number, const std::string& name) {
  Error error = errno_error(number, "run", name);
  if (number == ENOENT || number == ENOTDIR) {
    error.kind = ErrorKind::not_found;
    const bool is_path = name.find('/') != std::string::npos;
    if (is_path && access(name.c_str(), F_OK) == 0) {
      error.reason = "the interpreter that it names does not exist";
      error.hint = "the first line of a script, or PT_INTERP of a program, names it";
    } else {
      error.reason = is_path ? "no such file" : "command not found";
      error.hint = is_path ? ""
                   : is_process(name)
                       ? "a process has that number: 'tracso " + name + "', or -p " + name +
                             " of stat and calls, looks at it"
                       : "it is looked for in PATH; for a file of this folder write ./" + name;
    }
    return error;
  }
  error.kind = ErrorKind::denied;
  if (number == EACCES) {
    error.reason = "permission denied";
    error.hint = "it has to be an executable file ('chmod +x') on a file system without noexec";
  }
  return error;
}

}  // namespace tracso::launch
