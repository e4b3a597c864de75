// What puts code back when we are gone, while threads run through that code.

#if defined(__x86_64__)

#include "tracee/guardian.hpp"

#include "base/unique_fd.hpp"
#include "support/catch.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

using namespace tracso;

namespace {

using Function = void (*)();
using Code = std::array<std::uint8_t, 5>;

constexpr std::size_t page_bytes = 4096, gate_at = 64;
// A jump to the page's byte 64, where a return stands.
constexpr Code jump = {0xe9, gate_at - 5, 0, 0, 0};

std::uint8_t* new_page(int sharing, int protection) {
  void* const page = mmap(nullptr, page_bytes, protection, sharing | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  return static_cast<std::uint8_t*>(page);
}

// Threads that call a function as fast as they can, in a process of their own.
class Runners {
 public:
  Runners()
      : code_(new_page(MAP_PRIVATE, PROT_READ | PROT_WRITE | PROT_EXEC)),
        over_(new (new_page(MAP_SHARED, PROT_READ | PROT_WRITE)) std::atomic<int>(0)) {
    std::memcpy(code_, jump.data(), jump.size());
    code_[gate_at] = 0xc3;
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
      ++*over_;
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([this] { call(); });
      }
      for (auto& thread : threads) {
        thread.join();
      }
      _exit(0);
    }
    while (*over_ == 0) {
      usleep(100);
    }
  }

  ~Runners() {
    munmap(code_, page_bytes);
    munmap(over_, page_bytes);
  }

  Runners(const Runners&) = delete;
  Runners& operator=(const Runners&) = delete;

  pid_t pid() const { return pid_; }

  std::uint64_t function() const { return reinterpret_cast<std::uint64_t>(code_); }

  Code code() const {
    const std::string path = "/proc/" + std::to_string(pid_) + "/mem";
    const UniqueFd memory(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    Code code{};
    CHECK(pread(memory.get(), code.data(), code.size(), static_cast<off_t>(function())) ==
          static_cast<ssize_t>(code.size()));
    return code;
  }

  // How they have ended.
  int end() {
    usleep(5'000);
    ++*over_;
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  void call() const {
    Function called = nullptr;
    std::memcpy(&called, &code_, sizeof called);
    while (*over_ < 2) {
      for (int i = 0; i < 1000; ++i) {
        called();
      }
    }
  }

  std::uint8_t* code_;
  std::atomic<int>* over_;
  pid_t pid_ = 0;
};

// Somebody says what it has replaced, and is gone without a word.
void replace_and_vanish(const Runners& runners, const Code& original, const Code& code) {
  const pid_t pid = fork();
  if (pid == 0) {
    auto guardian = tracee::Guardian::start();
    if (guardian) {
      (*guardian)->guard(runners.pid());
      (*guardian)->replacing(runners.function(), original, code);
    }
    _exit(guardian ? 0 : 1);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  REQUIRE(status == 0);
}

}  // namespace

TEST_CASE("guardian: puts a function back through which threads run", "[live][tracee]") {
  const Code original = GENERATE(Code{0xc3, 0x66, 0x66, 0x2e, 0x0f},
                                 Code{0xf3, 0xc3, 0x0f, 0x1f, 0x40},
                                 Code{0xf3, 0x0f, 0x1e, 0xfa, 0xc3});
  for (int round = 0; round < 5; ++round) {
    Runners runners;
    REQUIRE(runners.code() == jump);
    replace_and_vanish(runners, original, jump);
    for (int i = 0; i < 400 && runners.code() != original; ++i) {
      usleep(5'000);
    }
    CHECK(runners.code() == original);
    REQUIRE(runners.end() == 0);
  }
}

TEST_CASE("guardian: leaves alone what somebody else has put there", "[live][tracee]") {
  Runners runners;
  replace_and_vanish(runners, {0xc3, 0x90, 0x90, 0x90, 0x90}, {0xe9, 1, 0, 0, 0});
  usleep(200'000);
  CHECK(runners.code() == jump);
  CHECK(runners.end() == 0);
}

#endif
