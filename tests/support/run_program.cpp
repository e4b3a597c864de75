#include "support/run_program.hpp"

#include "support/places.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tracso::test {
namespace {

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return {ends[0], ends[1]};
}

[[noreturn]] void become(const std::vector<std::string>& argv,
                         const ProgramOptions& options,
                         const Pipe& out,
                         const Pipe& err) {
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(out.write, STDOUT_FILENO);
  ::dup2(err.write, STDERR_FILENO);
  ::setpgid(0, 0);
  ::setenv("TRACSO_NO_STATE", "1", 1);
  for (const auto& entry : options.environment) {
    ::putenv(const_cast<char*>(entry.c_str()));  // NOLINT: exec follows at once
  }
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) {
    ::_exit(125);
  }
  std::vector<char*> words;
  for (const auto& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: as execvp wants it
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return count > 0;
}

// Until the program has ended and both pipes are empty; a child of it may keep them open.
bool collect(
    pid_t pid, int out, int err, ProgramRun& ran, std::chrono::steady_clock::time_point deadline) {
  bool out_open = true;
  bool err_open = true;
  int status = 0;
  bool ended = false;
  while (std::chrono::steady_clock::now() < deadline) {
    std::array<pollfd, 2> wait{pollfd{out_open ? out : -1, POLLIN, 0},
                               pollfd{err_open ? err : -1, POLLIN, 0}};
    const int ready = ::poll(wait.data(), wait.size(), 20);
    out_open = out_open && (wait[0].revents == 0 || drain(out, ran.out));
    err_open = err_open && (wait[1].revents == 0 || drain(err, ran.err));
    if (!ended && ::waitpid(pid, &status, WNOHANG) == pid) {
      ended = true;
      ran.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      continue;
    }
    if (ended && (ready == 0 || (!out_open && !err_open))) {
      return true;
    }
  }
  return ended;
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& argv, const ProgramOptions& options) {
  const Pipe out = make_pipe();
  const Pipe err = make_pipe();
  const pid_t pid = ::fork();
  if (pid == 0) {
    become(argv, options, out, err);
  }
  ::close(out.write);
  ::close(err.write);
  ProgramRun ran;
  if (!collect(pid, out.read, err.read, ran, std::chrono::steady_clock::now() + options.limit)) {
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ran.status = -1;
  }
  ::close(out.read);
  ::close(err.read);
  return ran;
}

ProgramRun run_tracso(std::vector<std::string> words, const ProgramOptions& options) {
  words.insert(words.begin(), test::tracso_binary());
  return run_program(words, options);
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tracso-test-XXXXXX").string();
  const char* made = ::mkdtemp(pattern.data());
  path_ = made == nullptr ? "" : std::filesystem::canonical(made).string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string write_file(const std::string& path, const std::string& content, unsigned mode) {
  const std::string whole = (std::filesystem::path(scratch_folder()) / path).string();
  std::ofstream(whole, std::ios::binary) << content;
  ::chmod(whole.c_str(), mode);
  return whole;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace tracso::test
