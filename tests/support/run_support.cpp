#include "support/run_support.hpp"

#include "base/unique_fd.hpp"
#include "os/live_process.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace tracso::test {
namespace {

// While it lives, descriptor `number` leads into memory.
class Redirection {
 public:
  explicit Redirection(int number)
      : number_(number),
        saved_(fcntl(number, F_DUPFD_CLOEXEC, 100)),
        memory_(memfd_create("output", MFD_CLOEXEC)) {
    std::fflush(nullptr);
    dup2(memory_.get(), number);
  }

  std::string end() {
    std::fflush(nullptr);
    dup2(saved_.get(), number_);
    std::string text;
    std::array<char, 65536> piece{};
    lseek(memory_.get(), 0, SEEK_SET);
    for (ssize_t n = 0; (n = read(memory_.get(), piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  int number_;
  UniqueFd saved_, memory_;
};

std::filesystem::path folder() {
  return scratch_folder();
}

}  // namespace

SeenRun run(Arguments argv, const Change& change) {
  SeenRun ran;
  launch::RunOptions options;
  options.argv = std::move(argv);
  options.open = [](std::int32_t pid) -> Result<std::unique_ptr<ProcessSource>> {
    auto door = os::LiveProcess::open(pid);
    if (!door) {
      return door.error();
    }
    return std::unique_ptr<ProcessSource>(std::move(*door));
  };
  options.on_whole = [&](const launch::Moment& moment) {
    Look look{moment, "", ""};
    if (const auto door = os::LiveProcess::open(moment.thread)) {
      look.maps = (*door)->read("maps") ? *(*door)->read("maps") : "";
      look.command = (*door)->read("cmdline") ? *(*door)->read("cmdline") : "";
      std::replace(look.command.begin(), look.command.end(), '\0', ' ');
    }
    ran.looks.push_back(std::move(look));
  };
  if (change) {
    change(options);
  }
  Redirection out(1);
  Redirection err(2);
  auto result = launch::run_command(options);
  ran.out = out.end();
  ran.err = err.end();
  if (result) {
    ran.result = *result;
  } else {
    ran.error = result.error();
  }
  return ran;
}

launch::RunOptions blind_options(Arguments argv) {
  launch::RunOptions options;
  options.argv = std::move(argv);
  options.open = [](std::int32_t) -> Result<std::unique_ptr<ProcessSource>> {
    return Error{ErrorKind::denied, "open", "it", "not needed here", ""};
  };
  options.on_whole = [](const launch::Moment&) {};
  return options;
}

Native run_natively(const Arguments& argv) {
  std::vector<char*> list;
  for (const auto& argument : argv) {
    list.push_back(const_cast<char*>(argument.c_str()));
  }
  list.push_back(nullptr);
  Redirection out(1);
  Redirection err(2);
  const pid_t pid = fork();
  if (pid == 0) {
    execvp(list[0], list.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  err.end();
  Native native;
  native.out = out.end();
  native.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return native;
}

int shell_status(const launch::RunResult& result) {
  if (result.exit_status) {
    return *result.exit_status;
  }
  return result.signal ? 128 + *result.signal : -1;
}

std::string compile(const std::string& name,
                    const std::string& source,
                    const std::string& compiler) {
  const std::string file = write_file(name + ".c", source);
  const std::string program = (folder() / name).string();
  const std::string command = compiler + " -o '" + program + "' '" + file + "'";
  INFO("this test needs a compiler: " << command);
  REQUIRE(std::system(command.c_str()) == 0);
  return program;
}

std::string need_program(const std::vector<std::string>& candidates) {
  for (const auto& path : candidates) {
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  FAIL("this test needs " << candidates.front());
  return "";
}

std::vector<std::string> python_programs() {
  std::vector<std::string> programs;
  std::string tried;
  for (const Python& python : pythons(&tried)) {
    programs.push_back(python.program);
  }
  INFO("this test needs a Python; tried" << tried);
  REQUIRE(!programs.empty());
  std::stable_partition(programs.begin(), programs.end(), [](const std::string& path) {
    return path.starts_with("/usr/bin/");
  });
  return programs;
}

std::string python() {
  return python_programs().front();
}

}  // namespace tracso::test
