#include "support/pty.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace tracso::test {
namespace {

constexpr std::chrono::seconds patience{60};

[[noreturn]] void become(const std::vector<std::string>& argv,
                         const std::vector<std::string>& environment) {
  for (const auto& entry : environment) {
    const std::size_t equal = entry.find('=');
    ::setenv(entry.substr(0, equal).c_str(), entry.substr(equal + 1).c_str(), 1);
  }
  std::vector<char*> words;
  for (const auto& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  ::_exit(127);
}

}  // namespace

PtyProgram::PtyProgram(const std::vector<std::string>& argv,
                       const std::vector<std::string>& environment,
                       unsigned short rows,
                       unsigned short columns) {
  winsize size{rows, columns, 0, 0};
  pid_ = ::forkpty(&master_, nullptr, nullptr, &size);
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    become(argv, environment);
  }
}

PtyProgram::~PtyProgram() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(master_);
}

void PtyProgram::type(std::string_view keys) const {
  REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

void PtyProgram::resize(unsigned short rows, unsigned short columns) const {
  const winsize size{rows, columns, 0, 0};
  REQUIRE(::ioctl(master_, TIOCSWINSZ, &size) == 0);
}

// false: the end, or too late.
bool PtyProgram::read_more(std::chrono::steady_clock::time_point until) {
  pollfd wait{master_, POLLIN, 0};
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0) {
    return false;
  }
  std::array<char, 4096> piece{};
  const ssize_t count = ::read(master_, piece.data(), piece.size());
  if (count <= 0) {
    return false;  // EIO: nobody has the other end open any more
  }
  output_.append(piece.data(), static_cast<std::size_t>(count));
  return true;
}

bool PtyProgram::wait_for(std::string_view text) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    const std::size_t at = output_.find(text, seen_);
    if (at != std::string::npos) {
      seen_ = at + text.size();
      return true;
    }
    if (!read_more(until)) {
      return false;
    }
  }
}

int PtyProgram::finish() {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (read_more(until)) {
  }
  int status = 0;
  const bool ended = ::waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  REQUIRE(ended);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace tracso::test
