// The gdb probe on living interpreters: what it sees is right, and the target never notices.

#include "base/result.hpp"
#include "base/text.hpp"
#include "os/gdb_session.hpp"
#include "proc/status.hpp"
#include "python/gdb_probe.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace tracso;

namespace {

const std::string truth_script = test::tests_file("live/python_memory_truth.py");
const std::string target_script = test::tests_file("live/python_gdb_target.py");

int rounds() {
  return std::getenv("TRACSO_LONG") != nullptr ? 50 : 8;
}

// The oldest, the newest and the system's; all with TRACSO_LONG.
std::vector<test::Python> some_pythons() {
  auto all = test::pythons();
  REQUIRE_FALSE(all.empty());
  if (std::getenv("TRACSO_LONG") == nullptr && all.size() > 3) {
    const auto oldest = std::find_if(all.begin(), all.end(), [](const test::Python& python) {
      return python.label.starts_with("3.8.") || python.label.starts_with("3.9.");
    });
    const auto newest = std::find_if(all.begin(), all.end(), [](const test::Python& python) {
      return python.label.starts_with("3.13.") || python.label.starts_with("3.14.");
    });
    std::vector<test::Python> chosen{all.back()};
    for (const auto& found : {oldest, newest}) {
      if (found != all.end()) {
        chosen.push_back(*found);
      }
    }
    return chosen;
  }
  return all;
}

std::string status_of(pid_t pid, std::string_view name) {
  const auto target = test::live_target(pid);
  REQUIRE(target);
  const auto status = target->process->read("status");
  REQUIRE(status);
  return std::string(proc::status_value(*status, name).value_or("?"));
}

// Polls, because a stop or an end of a tracer takes its time.
bool becomes(pid_t pid, std::string_view name, std::string_view value) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (status_of(pid, name).starts_with(value)) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Result<PythonFacts> probe(pid_t pid, int timeout_ms = 20'000) {
  auto target = test::live_target(pid);
  REQUIRE(target);
  target->input.timeout = std::chrono::milliseconds(timeout_ms);
  return python::make_gdb_probe(os::start_gdb_session)->probe(target->input);
}

// A target in a state, once it says that it got there.
class Subject {
 public:
  Subject(const test::Python& python, const std::string& state)
      : child_({python.program, std::string(target_script), state}) {
    REQUIRE(child_.line() == "ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // from the line to the state
  }

  pid_t pid() const { return child_.pid(); }

  bool answers() {
    child_.write("?\n");
    return child_.line() == "alive";
  }

 private:
  test::Child child_;
};

void check_seen(const Result<PythonFacts>& facts) {
  if (!facts) {
    FAIL_CHECK(sentence(facts.error()));
    return;
  }
  CHECK(facts->modules.size() > 20);
  CHECK(facts->stopped.count() > 0);
  CHECK(std::any_of(facts->modules.begin(), facts->modules.end(), [](const auto& module) {
    return module.name == "ctypes" && module.file;
  }));
}

std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; digits != "''" && i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(parse_unsigned(digits.substr(i, 2), 16).value());
  }
  return bytes;
}

std::vector<PythonModule> read_truth(test::Child& child) {
  std::vector<PythonModule> modules;
  while (const auto line = child.line()) {
    if (*line == "end") {
      return modules;
    }
    const auto words = split(*line, ' ');
    REQUIRE(words.size() == 3);
    PythonModule module;
    module.name = unhex(words[0]);
    module.file = words[1] == "-" ? std::nullopt : std::optional(unhex(words[1]));
    module.origin = words[2] == "-" ? "" : unhex(words[2]);
    modules.push_back(std::move(module));
  }
  FAIL("the target ended before it had told the truth");
  return modules;
}

std::string first_difference(const std::vector<PythonModule>& seen,
                             const std::vector<PythonModule>& truth) {
  const auto text = [](const std::vector<PythonModule>& rows, std::size_t i) {
    return i >= rows.size() ? std::string("(nothing)")
                            : printable(fmt::format("{} | {} | {}",
                                                    rows[i].name,
                                                    rows[i].file.value_or("(none)"),
                                                    rows[i].origin));
  };
  for (std::size_t i = 0; i < std::max(seen.size(), truth.size()); ++i) {
    if (text(seen, i) != text(truth, i)) {
      return fmt::format("row {}: seen {}, true {}", i, text(seen, i), text(truth, i));
    }
  }
  return "";
}

// Runs in a child process, for what must not happen to this one; its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("gdb probe: every Python here tells what it would tell itself, odd modules included",
          "[live][python][gdb]") {
  std::string tried;
  const auto pythons = test::pythons(&tried);
  WARN("Pythons tried:" << tried);
  REQUIRE_FALSE(pythons.empty());
  for (const auto& python : pythons) {
    INFO(python.program << " " << python.label);
    // The zoo has modules that end the program when they are asked for anything.
    test::Child child({python.program,
                       std::string(truth_script),
                       "--zoo",
                       "ssl",
                       "json",
                       "ctypes",
                       "asyncio",
                       "xml.etree"});
    const auto truth = read_truth(child);
    const auto facts = probe(child.pid());
    if (!facts) {
      FAIL_CHECK(sentence(facts.error()));
      continue;
    }
    CHECK(first_difference(facts->modules, truth) == "");
    CHECK(facts->modules == truth);
    CHECK(python.label.starts_with(facts->version));
    CHECK(facts->implementation == "cpython");
    CHECK(facts->code_executed);
    CHECK(status_of(child.pid(), "State").starts_with("S"));
    CHECK(status_of(child.pid(), "TracerPid") == "0");
  }
}

TEST_CASE("gdb probe: a process that allocates all the time survives it again and again",
          "[live][python][gdb]") {
  const std::string state = GENERATE("allocating", "allocating-with-threads");
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label << " " << state);
    Subject subject(python, state);
    int seen = 0;
    for (int round = 0; round < rounds(); ++round) {
      const auto facts = probe(subject.pid());
      INFO("round " << round);
      check_seen(facts);
      seen += facts ? 1 : 0;
      REQUIRE(subject.answers());
    }
    CHECK(seen == rounds());
  }
}

TEST_CASE("gdb probe: a main thread that waits is no obstacle", "[live][python][gdb]") {
  const std::string state = GENERATE("reading", "joining-busy-thread", "among-idle-threads");
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label << " " << state);
    Subject subject(python, state);
    check_seen(probe(subject.pid()));
    CHECK(status_of(subject.pid(), "TracerPid") == "0");
    if (state != "joining-busy-thread") {
      CHECK(subject.answers());
    }
  }
}

TEST_CASE("gdb probe: a stopped process is read and stays stopped", "[live][python][gdb]") {
  const std::string state = GENERATE("reading", "allocating", "allocating-with-threads");
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label << " " << state);
    Subject subject(python, state);
    ::kill(subject.pid(), SIGSTOP);
    REQUIRE(becomes(subject.pid(), "State", "T"));
    check_seen(probe(subject.pid()));
    CHECK(status_of(subject.pid(), "State").starts_with("T"));
    CHECK(status_of(subject.pid(), "TracerPid") == "0");
    ::kill(subject.pid(), SIGCONT);
    CHECK(subject.answers());
  }
}

TEST_CASE("gdb probe: where C code keeps the interpreter it gives up and harms nothing",
          "[live][python][gdb]") {
  const std::string state = GENERATE("holding-lock-in-c", "beside-holder-in-c");
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label << " " << state);
    Subject subject(python, state);
    const auto facts = probe(subject.pid(), 500);
    REQUIRE_FALSE(facts);
    INFO(sentence(facts.error()));
    CHECK(facts.error().kind == ErrorKind::interrupted);
    CHECK(facts.error().reason.find("no safe point") != std::string::npos);
    CHECK(becomes(subject.pid(), "TracerPid", "0"));
    CHECK(subject.answers());
    check_seen(probe(subject.pid()));
  }
}

TEST_CASE("gdb probe: nothing is left behind in the target", "[live][python][gdb]") {
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label);
    Subject subject(python, "reading");
    const auto look = [&](const std::string& folder) {
      const auto live = test::live_target(subject.pid());
      REQUIRE(live);
      auto names = live->process->list(folder);
      REQUIRE(names);
      std::sort(names->begin(), names->end());
      return *names;
    };
    const auto descriptors = look("fd");
    const auto threads = look("task");
    check_seen(probe(subject.pid()));
    CHECK(look("fd") == descriptors);
    CHECK(look("task") == threads);
    CHECK(subject.answers());
  }
}

TEST_CASE("gdb probe: if tracso is killed, gdb goes and the target lives", "[live][python][gdb]") {
  for (const auto& python : some_pythons()) {
    INFO(python.program << " " << python.label);
    Subject subject(python, "holding-lock-in-c");
    const pid_t tracso = ::fork();
    if (tracso == 0) {
      ::_exit(probe(subject.pid(), 60'000) ? 0 : 1);
    }
    // Killed once it waits for the safe point: the target runs again under a tracer.

    for (int tries = 0; tries < 1000 && status_of(subject.pid(), "TracerPid") == "0"; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    ::kill(tracso, SIGKILL);
    ::waitpid(tracso, nullptr, 0);
    CHECK(becomes(subject.pid(), "TracerPid", "0"));
    CHECK(subject.answers());
  }
}

TEST_CASE("gdb probe: a process that is traced already is refused", "[live][python][gdb]") {
  const auto python = some_pythons().front();
  Subject subject(python, "reading");
  REQUIRE(::ptrace(PTRACE_SEIZE, subject.pid(), nullptr, nullptr) == 0);
  const auto facts = probe(subject.pid());
  REQUIRE_FALSE(facts);
  CHECK(facts.error().kind == ErrorKind::denied);
  CHECK(facts.error().reason.find(std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("gdb probe: another user's process is refused with a hint", "[live][python][gdb]") {
  if (::geteuid() != 0) {
    WARN("not root: a foreign process cannot be made here");
    return;
  }
  const auto python = some_pythons().front();
  Subject subject(python, "reading");
  auto live = test::live_target(subject.pid());
  REQUIRE(live);
  const int status = in_child([&] {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) {
      return 100;
    }
    const auto facts = python::make_gdb_probe(os::start_gdb_session)->probe(live->input);
    if (facts || facts.error().kind != ErrorKind::denied) {
      return 101;
    }
    return facts.error().hint.find("CAP_SYS_PTRACE") == std::string::npos ? 102 : 0;
  });
  CHECK(status == 0);
}
