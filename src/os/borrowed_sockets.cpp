#include "os/borrowed_sockets.hpp"

#include "base/result.hpp"
#include "proc/net_tables.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tracso::os {
namespace {

using proc::BorrowedFacts;

int option(int socket, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

enum class End { local, remote };

// The kernel never writes more than the buffer; `size` is how much it had to say.
std::string address_text(int socket, End end) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const int done =
      end == End::local ? ::getsockname(socket, raw, &size) : ::getpeername(socket, raw, &size);
  if (done != 0) {
    return "";
  }
  if (address.ss_family == AF_INET) {
    const auto* inet = reinterpret_cast<const sockaddr_in*>(&address);
    return proc::endpoint_text({reinterpret_cast<const char*>(&inet->sin_addr), 4},
                               ntohs(inet->sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto* inet = reinterpret_cast<const sockaddr_in6*>(&address);
    return proc::endpoint_text({reinterpret_cast<const char*>(&inet->sin6_addr), 16},
                               ntohs(inet->sin6_port));
  }
  constexpr socklen_t path_at = offsetof(sockaddr_un, sun_path);
  if (address.ss_family != AF_UNIX || size <= path_at) {
    return "";
  }
  const auto* unix_address = reinterpret_cast<const sockaddr_un*>(&address);
  const char* path = static_cast<const char*>(unix_address->sun_path);
  const std::size_t room = std::min<std::size_t>(size, sizeof(sockaddr_un)) - path_at;
  return path[0] == '\0' ? "@" + std::string(path + 1, room - 1)
                         : std::string(path, ::strnlen(path, room));
}

void add_queues(int borrowed, bool socket, BorrowedFacts& facts) {
  int bytes = 0;
  if (::ioctl(borrowed, FIONREAD, &bytes) == 0 && bytes >= 0) {
    facts.waiting = static_cast<std::uint64_t>(bytes);
  }
  // Of a Unix socket the kernel counts its own buffers, not bytes.
  const bool counts_bytes = facts.kind == DescriptorKind::tcp || facts.kind == DescriptorKind::udp;
  if (socket && counts_bytes && ::ioctl(borrowed, SIOCOUTQ, &bytes) == 0 && bytes >= 0) {
    facts.unsent = static_cast<std::uint64_t>(bytes);
  }
}

DescriptorKind kind_of(int family, int type) {
  switch (family) {
    case AF_INET:
    case AF_INET6:
      return type == SOCK_STREAM  ? DescriptorKind::tcp
             : type == SOCK_DGRAM ? DescriptorKind::udp
                                  : DescriptorKind::socket;
    case AF_UNIX:
      return DescriptorKind::unix_socket;
    case AF_NETLINK:
      return DescriptorKind::netlink;
    case AF_PACKET:
      return DescriptorKind::packet;
    default:
      return DescriptorKind::socket;
  }
}

std::string type_name(int type) {
  return type == SOCK_STREAM      ? "stream"
         : type == SOCK_DGRAM     ? "datagram"
         : type == SOCK_SEQPACKET ? "seqpacket"
         : type == SOCK_RAW       ? "raw"
                                  : fmt::format("type {}", type);
}

std::int32_t peer_of(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.pid
                                                                                 : 0;
}

void describe_socket(int socket, int family, BorrowedFacts& facts) {
  const int type = option(socket, SO_TYPE);
  facts.kind = kind_of(family, type);
  const bool listening = option(socket, SO_ACCEPTCONN) == 1;
  facts.local = address_text(socket, End::local);
  facts.remote = listening ? "" : address_text(socket, End::remote);
  const bool is_unix = facts.kind == DescriptorKind::unix_socket;
  const std::string local = facts.local.empty() && is_unix ? "(unnamed)" : facts.local;
  facts.target = facts.remote.empty() ? local : fmt::format("{} -> {}", local, facts.remote);
  facts.detail = listening ? "listening" : is_unix || facts.target.empty() ? type_name(type) : "";
  if (facts.kind == DescriptorKind::socket && facts.target.empty()) {
    facts.target = fmt::format("socket of family {}", family);
  }
  if (is_unix && !listening) {
    facts.peer = peer_of(socket);
  }
}

// What poll(2) says without waiting: of a reading end that the last writer is gone, of a writing
// one that nobody reads any more. Our copy is the same open file and counts as neither.
short conditions(int borrowed) {
  pollfd one{borrowed, 0, 0};
  return ::poll(&one, 1, 0) == 1 ? one.revents : short{0};
}

bool is_pipe(int borrowed) {
  struct stat status {};

  return ::fstat(borrowed, &status) == 0 && S_ISFIFO(status.st_mode);
}

// A connection of a Unix socket that is over; one that has never been connected looks alike.
bool is_cut_off(int socket, const BorrowedFacts& facts) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return facts.kind == DescriptorKind::unix_socket && (conditions(socket) & POLLHUP) != 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
}

void add_closed_end(int borrowed, bool socket, BorrowedFacts& facts) {
  if (socket && is_cut_off(borrowed, facts)) {
    facts.detail += ", no longer connected";
  } else if (!socket && is_pipe(borrowed) && (conditions(borrowed) & (POLLHUP | POLLERR)) != 0) {
    facts.detail = "the other end is closed";
  }
}

}  // namespace

Result<DescriptorBorrower> DescriptorBorrower::open(std::int32_t pid) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int number = errno;
  if (process) {
    const std::string path = fmt::format("/proc/{}/fd", pid);
    return DescriptorBorrower(std::move(process),
                              UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }
  Error error = errno_error(number, "borrow descriptors of process", std::to_string(pid));
  if (number == ENOSYS) {
    error.kind = ErrorKind::unsupported;
    error.reason = "the kernel is older than 5.6";
  }
  return error;
}

std::optional<BorrowedFacts> DescriptorBorrower::borrow(std::int32_t fd) const {
  const UniqueFd borrowed(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), fd, 0)));
  if (!borrowed) {
    return std::nullopt;
  }
  BorrowedFacts facts;
  const int family = option(borrowed.get(), SO_DOMAIN);
  if (family >= 0) {
    describe_socket(borrowed.get(), family, facts);
  }
  add_queues(borrowed.get(), family >= 0, facts);
  add_closed_end(borrowed.get(), family >= 0, facts);
  return facts;
}

std::optional<TcpTraffic> DescriptorBorrower::tcp_traffic(std::int32_t fd) const {
  const UniqueFd borrowed(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.get(), fd, 0)));
  tcp_info info{};
  socklen_t size = sizeof info;
  constexpr socklen_t needed = offsetof(tcp_info, tcpi_bytes_received) + sizeof(std::uint64_t);
  if (!borrowed || ::getsockopt(borrowed.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < needed) {
    return std::nullopt;
  }
  return TcpTraffic{info.tcpi_bytes_received, info.tcpi_bytes_acked};
}

std::optional<BorrowedFacts> DescriptorBorrower::look(std::int32_t fd, DescriptorKind kind) const {
  if (kind == DescriptorKind::pipe || kind == DescriptorKind::socket ||
      kind == DescriptorKind::inotify) {
    return borrow(fd);
  }

  struct stat status {};

  if (kind != DescriptorKind::file ||
      ::fstatat(folder_.get(), std::to_string(fd).c_str(), &status, 0) != 0) {
    return std::nullopt;
  }
  BorrowedFacts facts;
  if (S_ISFIFO(status.st_mode)) {
    facts = borrow(fd).value_or(BorrowedFacts{});
    facts.kind = DescriptorKind::fifo;
  } else if (S_ISDIR(status.st_mode)) {
    facts.kind = DescriptorKind::directory;
  } else if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    facts.kind = DescriptorKind::device;
  }
  return facts;
}

}  // namespace tracso::os
