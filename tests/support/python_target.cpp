#include "support/python_target.hpp"

#include "base/text.hpp"
#include "os/live_files.hpp"
#include "os/live_process.hpp"
#include "proc/maps.hpp"
#include "support/run_program.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace tracso::test {
namespace {

constexpr int line_timeout_ms = 30000;

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> candidates() {
  std::vector<std::string> programs;
  std::string root = environment_value("PYENV_ROOT");
  if (root.empty()) {
    root = environment_value("HOME") + "/.pyenv";
  }
  const os::LiveFiles files;
  if (auto versions = files.list(TargetPath{root + "/versions"})) {
    std::sort(versions->begin(), versions->end());
    for (const auto& version : *versions) {
      programs.push_back(root + "/versions/" + version + "/bin/python3");
    }
  }
  programs.emplace_back("/usr/bin/python3");
  programs.emplace_back("/usr/bin/python3-dbg");
  programs.emplace_back("/usr/local/bin/python3");
  const std::string more = environment_value("TRACSO_PYTHONS");
  for (const auto program : split_words(more, ":")) {
    programs.emplace_back(program);
  }
  return programs;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (auto& word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::vector<Python> pythons(std::string* tried) {
  std::vector<Python> found;
  std::set<std::string> seen;
  for (const auto& program : candidates()) {
    std::optional<std::string> label;
    if (::access(program.c_str(), X_OK) == 0) {
      Child child({program,
                   "-c",
                   "import sys,sysconfig as s;v=sys.version_info;g=s.get_config_var\n"
                   "print(('%d.%d.%d' % v[:3]) + (' debug' if g('Py_DEBUG') else '')"
                   " + (' free-threaded' if g('Py_GIL_DISABLED') else ''), v[:2] >= (3, 8))"});
      label = child.line();
    }
    if (tried != nullptr) {
      *tried += "\n  " + program + ": " + label.value_or("not here");
    }
    constexpr std::string_view usable = " True";
    if (label && label->ends_with(usable)) {
      label->resize(label->size() - usable.size());
      if (seen.insert(*label).second) {
        found.push_back({program, *label});
      }
    }
  }
  return found;
}

Child::Child(std::vector<std::string> argv, std::vector<std::string> environment) {
  int to[2], from[2];
  if (::pipe(to) != 0 || ::pipe(from) != 0) {
    std::abort();
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    for (const int fd : {to[0], to[1], from[0], from[1]}) {
      ::close(fd);
    }
    for (auto& setting : environment) {
      ::putenv(setting.data());
    }
    ::execvp(argv[0].c_str(), pointers(argv).data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(in_);
  ::close(out_);
}

std::optional<std::string> Child::line() {
  for (;;) {
    const auto end = pending_.find('\n');
    if (end != std::string::npos) {
      std::string text = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return text;
    }
    pollfd waiting{out_, POLLIN, 0};
    char buffer[65536];
    if (::poll(&waiting, 1, line_timeout_ms) <= 0) {
      return std::nullopt;
    }
    const ssize_t count = ::read(out_, buffer, sizeof buffer);
    if (count <= 0) {
      return std::nullopt;
    }
    pending_.append(buffer, static_cast<std::size_t>(count));
  }
}

void Child::write(const std::string& text) const {
  if (::write(in_, text.data(), text.size()) < 0) {
    std::abort();
  }
}

bool Child::rests() const {
  const std::string file = "/proc/" + std::to_string(pid_) + "/status";
  std::string before;
  for (int tries = 0; tries < 1000; ++tries) {
    const std::string now = read_file(file);
    if (now == before && now.find("State:\tS") != std::string::npos) {
      return true;
    }
    before = now;
    ::usleep(20'000);
  }
  return false;
}

int Child::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<LiveTarget> live_target(pid_t pid) {
  LiveTarget target;
  auto process = os::LiveProcess::open(pid);
  auto files = os::open_process_root(pid, "/");
  if (!process) {
    return std::nullopt;
  }
  target.process = std::move(*process);
  target.files = files ? std::move(*files) : nullptr;  // a zombie has no root any more
  target.input.target = {target.process.get(), target.files.get(), nullptr};
  const auto text = target.process->read("maps");
  auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return std::nullopt;
  }
  // A sanitizer on a busy machine is slow; tests of the limit set their own.
  target.input.timeout = std::chrono::seconds(60);
  target.input.mappings = std::move(*mappings);
  if (auto executable = target.process->read_link("exe")) {
    target.input.executable = *executable;
  }
  return target;
}

std::vector<std::string> zombie_keeper() {
  return {"/usr/bin/python3",
          "-c",
          "import os, sys\np = os.fork()\nif p == 0: os._exit(0)\n"
          "os.waitid(os.P_PID, p, os.WEXITED | os.WNOWAIT)\n"
          "print(p, flush=True); sys.stdin.read()"};
}

}  // namespace tracso::test
