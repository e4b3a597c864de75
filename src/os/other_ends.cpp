#include "os/other_ends.hpp"

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "os/process_list.hpp"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <thread>

namespace tracso::os {
namespace {

// TCP_LISTEN of <netinet/tcp.h>, which cannot stand in one unit with the kernel's <linux/tcp.h>.
constexpr std::uint8_t tcp_listen = 10;

using Ends = std::map<std::uint64_t, UnixSocketEnds>;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

using Folder = std::unique_ptr<DIR, CloseFolder>;

struct Request {
  nlmsghdr header{};
  unix_diag_req body{};
};

bool ask(int socket) {
  Request request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0U;
  request.body.udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN;
  // A socket that waits for ever would be ours to wait for.
  const timeval limit{2, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return ::send(socket, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

// An attribute's value, where it is as long as it should be.
template <class T>
std::optional<T> value_of(const nlattr& attribute, const char* bytes) {
  T value{};
  if (attribute.nla_len < sizeof attribute + sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes + sizeof attribute, sizeof value);
  return value;
}

// The attributes behind one unix_diag_msg.
void take_ends(const char* message, std::size_t size, Ends& ends) {
  unix_diag_msg head{};
  std::memcpy(&head, message, sizeof head);
  UnixSocketEnds& socket = ends[head.udiag_ino];
  for (std::size_t at = sizeof head; at + sizeof(nlattr) <= size;) {
    nlattr attribute{};
    std::memcpy(&attribute, message + at, sizeof attribute);
    if (attribute.nla_len < sizeof attribute || attribute.nla_len > size - at) {
      return;
    }
    if (attribute.nla_type == UNIX_DIAG_PEER) {
      socket.peer = value_of<std::uint32_t>(attribute, message + at).value_or(0);
    } else if (attribute.nla_type == UNIX_DIAG_RQLEN && head.udiag_state == tcp_listen) {
      const auto queues = value_of<unix_diag_rqlen>(attribute, message + at);
      socket.to_accept = queues ? std::optional(queues->udiag_rqueue) : std::nullopt;
    }
    at += NLA_ALIGN(attribute.nla_len);
  }
}

// false: the answer is over.
bool take_messages(const char* bytes, std::size_t size, Ends& ends) {
  for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
    nlmsghdr header{};
    std::memcpy(&header, bytes + at, sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > size - at ||
        header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
      return false;
    }
    if (header.nlmsg_len >= NLMSG_HDRLEN + sizeof(unix_diag_msg)) {
      take_ends(bytes + at + NLMSG_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN, ends);
    }
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
  return true;
}

Ends dump_ends() {
  Ends ends;
  const UniqueFd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!socket || !ask(socket.get())) {
    return ends;
  }
  std::vector<char> buffer(std::size_t{256} * 1024);
  for (;;) {
    const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0 || !take_messages(buffer.data(), static_cast<std::size_t>(got), ends)) {
      return ends;
    }
  }
}

bool same_file(const char* one, const char* other) {
  struct stat a {};

  struct stat b {};

  return ::stat(one, &a) == 0 && ::stat(other, &b) == 0 && a.st_ino == b.st_ino &&
         a.st_dev == b.st_dev;
}

std::string name_of(int process) {
  const UniqueFd fd(::openat(process, "comm", O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t count = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  return std::string(trim({text.data(), count > 0 ? static_cast<std::size_t>(count) : 0}));
}

// Readable and writable as the link's own permissions say.
HeldEnd end_of(int folder, const char* name) {
  HeldEnd end;

  struct stat status {};

  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    end.reads = (status.st_mode & S_IRUSR) != 0;
    end.writes = (status.st_mode & S_IWUSR) != 0;
  }
  return end;
}

class Search {
 public:
  Search(const std::set<std::string>& links, std::size_t most) : links_(links), left_(most) {}

  void look_at(std::int32_t pid) {
    const UniqueFd process(
        ::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const int fd = process ? ::openat(process.get(), "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const Folder folder(fd < 0 ? nullptr : ::fdopendir(fd));
    std::string name;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone
    for (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr;
         entry != nullptr && left_ > 0;
         entry = ::readdir(folder.get())) {
      --left_;
      const char* number = static_cast<const char*>(entry->d_name);
      std::array<char, 64> link{};  // all that is asked for is shorter
      const ssize_t length = ::readlinkat(fd, number, link.data(), link.size());
      const auto wanted =
          length <= 0 ? links_.end()
                      : links_.find(std::string(link.data(), static_cast<std::size_t>(length)));
      if (wanted == links_.end()) {
        continue;
      }
      name = name.empty() ? name_of(process.get()) : name;
      HeldEnd end = end_of(fd, number);
      end.holder = {pid, name, static_cast<std::int32_t>(parse_unsigned(number).value_or(0))};
      found_[*wanted].push_back(std::move(end));
    }
  }

  bool complete() const { return left_ > 0; }

  std::map<std::string, std::vector<HeldEnd>> take() { return std::move(found_); }

 private:
  const std::set<std::string>& links_;
  std::size_t left_;
  std::map<std::string, std::vector<HeldEnd>> found_;
};

}  // namespace

// Another network namespace is entered by a thread of its own, which ends with it: ours stays.
std::map<std::uint64_t, UnixSocketEnds> unix_socket_ends(std::int32_t pid) {
  const std::string path = fmt::format("/proc/{}/ns/net", pid);
  if (same_file(path.c_str(), "/proc/self/ns/net")) {
    return dump_ends();
  }
  const UniqueFd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Ends ends;
  if (space) {
    std::thread([&] {
      if (::setns(space.get(), CLONE_NEWNET) == 0) {
        ends = dump_ends();
      }
    }).join();
  }
  return ends;
}

std::map<std::string, std::vector<HeldEnd>> find_holders(const std::set<std::string>& links,
                                                         bool& complete,
                                                         std::size_t most) {
  Search search(links, most);
  if (!links.empty()) {
    const auto pids = all_pids();
    for (const std::int32_t pid : pids ? *pids : std::vector<std::int32_t>()) {
      search.look_at(pid);
    }
  }
  complete = search.complete();
  return search.take();
}

}  // namespace tracso::os
