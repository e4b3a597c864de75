#include "tracee/guardian.hpp"

#include "base/result.hpp"
#include "tracee/architecture.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace tracso::tracee {
namespace {

enum class Kind : std::uint32_t { memory, inserting, replacing, removed, stopping, running, end };

using Bytes = std::array<std::uint8_t, 8>;

struct Message {
  Kind kind = Kind::end;
  std::uint32_t size = 0;  // of what is replaced
  std::uint64_t address = 0;
  Bytes original{};
  Bytes replaced_by{};
};

struct Site {
  std::uint64_t address = 0;
  Bytes original{};
};

constexpr std::size_t most_replacements = 4;
// Whatever a processor has fetched before a write, it has done with long before that has passed.
constexpr int pause_ms = 20;

void send_message(int socket, Message message, int descriptor = -1) {
  iovec content{&message, sizeof message};
  msghdr header{};
  header.msg_iov = &content;
  header.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  if (descriptor >= 0) {
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* control = CMSG_FIRSTHDR(&header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  }
  // It fails if the guardian has been killed: then nobody guards.
  while (sendmsg(socket, &header, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

// What runs in the other process. After a fork only async-signal-safe functions may be called: so
// no allocation, and everything in place.
class Watch {
 public:
  explicit Watch(int socket) : socket_(socket) {}

  // Returns when we have ended, in order or not, and all is back.
  void keep() {
    Message message;
    while (receive(message) && message.kind != Kind::end) {
      switch (message.kind) {
        case Kind::memory:
          count_ = replacement_count_ = 0;
          break;
        case Kind::inserting:
          if (count_ < sites_.size()) {
            sites_[count_++] = {message.address, message.original};
          }
          break;
        case Kind::replacing:
          if (replacement_count_ < replacements_.size()) {
            replacements_[replacement_count_++] = message;
          }
          break;
        case Kind::removed:
          forget(message.address);
          break;
        case Kind::stopping:
          wake_in_time(static_cast<pid_t>(message.address));
          break;
        case Kind::running:
        case Kind::end:
          break;
      }
    }
    repair();
    for (std::size_t i = 0; i < replacement_count_; ++i) {
      give_back(replacements_[i]);
    }
  }

 private:
  // false: nobody is at the other end any more.
  bool receive(Message& message) {
    iovec content{&message, sizeof message};
    msghdr header{};
    header.msg_iov = &content;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    ssize_t count = 0;
    do {
      count = recvmsg(socket_, &header, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count != sizeof message) {
      return false;
    }
    if (message.kind == Kind::memory) {
      if (memory_ >= 0) {
        close(memory_);
      }
      memory_ = -1;
      const cmsghdr* control = CMSG_FIRSTHDR(&header);
      if (control != nullptr && control->cmsg_type == SCM_RIGHTS) {
        std::memcpy(&memory_, CMSG_DATA(control), sizeof memory_);
      }
    }
    return true;
  }

  // Until the next message, which only comes when that process runs.
  void wake_in_time(pid_t sleeper) const {
    constexpr int interval_ms = 5;
    for (;;) {
      pollfd waiting{socket_, POLLIN, 0};
      if (poll(&waiting, 1, interval_ms) != 0) {
        return;
      }
      if (sleeps_with_news(sleeper)) {
        kill(sleeper, SIGCONT);
      }
    }
  }

  // Stopped, and a SIGCHLD waits for it. No library function that allocates may be called here.
  static bool sleeps_with_news(pid_t process) {
    std::array<char, 32> path{};
    std::array<char, 4096> text{};
    write_status_path(process, path);
    const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
    const ssize_t count = fd < 0 ? -1 : read(fd, text.data(), text.size());
    close(fd);
    const std::string_view status(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const auto state = status.find("State:\tT");
    const auto waiting = status.find("ShdPnd:\t");
    if (state == std::string_view::npos || waiting == std::string_view::npos) {
      return false;
    }
    std::uint64_t set = 0;
    const std::string_view digits = status.substr(waiting + 8, 16);
    std::from_chars(digits.data(), digits.data() + digits.size(), set, 16);
    return ((set >> (SIGCHLD - 1)) & 1U) != 0;
  }

  static void write_status_path(pid_t process, std::array<char, 32>& path) {
    constexpr std::string_view before = "/proc/";
    constexpr std::string_view after = "/status";
    char* at = std::copy(before.begin(), before.end(), path.data());
    at = std::to_chars(at, path.data() + path.size(), process).ptr;
    std::copy(after.begin(), after.end(), at);
  }

  void forget(std::uint64_t address) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (sites_[i].address != address) {
        sites_[kept++] = sites_[i];
      }
    }
    count_ = kept;
    kept = 0;
    for (std::size_t i = 0; i < replacement_count_; ++i) {
      if (replacements_[i].address != address) {
        replacements_[kept++] = replacements_[i];
      }
    }
    replacement_count_ = kept;
  }

  bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t count) const {
    return pwrite(memory_, bytes, count, static_cast<off_t>(address)) ==
           static_cast<ssize_t>(count);
  }

  // Threads may run through it at any moment, and we may be killed at any.
  void give_back(const Message& replaced) const {
    const auto returns = return_byte();
    const std::size_t size = std::min<std::size_t>(replaced.size, replaced.original.size());
    Bytes bytes{};
    if (!returns || size == 0 ||
        pread(memory_, bytes.data(), size, static_cast<off_t>(replaced.address)) !=
            static_cast<ssize_t>(size) ||
        std::memcmp(bytes.data(), replaced.replaced_by.data(), size) != 0 ||
        !write(replaced.address, &*returns, 1)) {
      return;
    }
    poll(nullptr, 0, pause_ms);
    if (size > 1 && !write(replaced.address + 1, replaced.original.data() + 1, size - 1)) {
      return;
    }
    poll(nullptr, 0, pause_ms);
    write(replaced.address, replaced.original.data(), 1);
  }

  // Only where the breakpoint still stands.
  void repair() const {
    const auto code = breakpoint_code();
    for (std::size_t i = 0; i < count_; ++i) {
      const auto at = static_cast<off_t>(sites_[i].address);
      Bytes bytes{};
      if (pread(memory_, bytes.data(), code.size(), at) == static_cast<ssize_t>(code.size()) &&
          std::equal(code.begin(), code.end(), bytes.begin())) {
        write(sites_[i].address, sites_[i].original.data(), code.size());
      }
    }
  }

  int socket_;
  int memory_ = -1;
  std::array<Site, most_breakpoints> sites_{};
  std::size_t count_ = 0;
  std::array<Message, most_replacements> replacements_{};
  std::size_t replacement_count_ = 0;
};

[[noreturn]] void be_guardian(int socket) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  // Whoever kills us by our name should not kill it as well.
  prctl(PR_SET_NAME, "run-guardian");
  Watch(socket).keep();
  _exit(0);
}

}  // namespace

Result<std::unique_ptr<Guardian>> Guardian::start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno_error(errno, "start", "a guardian of breakpoints");
  }
  UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) {
    return errno_error(errno, "start", "a guardian of breakpoints");
  }
  if (pid == 0) {
    ours.reset();
    be_guardian(theirs.get());
  }
  return std::unique_ptr<Guardian>(new Guardian(pid, std::move(ours)));
}

Guardian::~Guardian() {
  send_message(socket_.get(), {Kind::end});
  socket_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::guard(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/mem";
  const UniqueFd memory(open(path.c_str(), O_RDWR | O_CLOEXEC));
  send_message(socket_.get(), {Kind::memory}, memory ? memory.get() : -1);
}

void Guardian::inserting(std::uint64_t address, const std::array<std::uint8_t, 8>& original) {
  send_message(socket_.get(), {Kind::inserting, 0, address, original, {}});
}

void Guardian::replacing(std::uint64_t address,
                         std::span<const std::uint8_t> original,
                         std::span<const std::uint8_t> code) {
  Message message{Kind::replacing, 0, address, {}, {}};
  if (original.size() != code.size() || code.size() > message.original.size()) {
    return;
  }
  message.size = static_cast<std::uint32_t>(code.size());
  std::copy(original.begin(), original.end(), message.original.begin());
  std::copy(code.begin(), code.end(), message.replaced_by.begin());
  send_message(socket_.get(), message);
}

void Guardian::stopping() {
  send_message(socket_.get(), {Kind::stopping, 0, static_cast<std::uint64_t>(getpid())});
}

void Guardian::running() {
  send_message(socket_.get(), {Kind::running});
}

void Guardian::removed(std::uint64_t address) {
  send_message(socket_.get(), {Kind::removed, 0, address});
}

}  // namespace tracso::tracee
