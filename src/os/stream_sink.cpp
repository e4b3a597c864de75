#include "os/stream_sink.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "os/ignore_broken_pipe.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tracso::os {
namespace {

constexpr int connect_limit_ms = 2000;

// A place that is not there is a slip of the command line, not a process that has gone.
Error cannot_stream(int number, const std::string& destination) {
  Error error = errno_error(number, "stream to", destination);
  error.kind = error.kind == ErrorKind::not_found ? ErrorKind::usage : error.kind;
  return error;
}

Error no_connection(int number, const std::string& destination) {
  Error error = cannot_stream(number, destination);
  error.hint = "somebody has to listen there: nc -lk PORT, or socat UNIX-LISTEN:PATH -";
  return error;
}

// true: connected. errno says why not.
bool connect_within(int socket, const sockaddr* address, socklen_t size) {
  if (::connect(socket, address, size) == 0) {
    return true;
  }
  pollfd waiting{socket, POLLOUT, 0};
  if ((errno != EINPROGRESS && errno != EAGAIN) || ::poll(&waiting, 1, connect_limit_ms) != 1) {
    errno = errno == EINPROGRESS ? ETIMEDOUT : errno;
    return false;
  }
  int problem = 0;
  socklen_t length = sizeof problem;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &length);
  errno = problem;
  return problem == 0;
}

Result<UniqueFd> connect_unix(const std::string& path, const std::string& destination) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Error{ErrorKind::usage,
                 "stream to",
                 destination,
                 "the path is empty or too long",
                 "unix:/path/of/at/most/107/bytes"};
  }
  std::memcpy(static_cast<char*>(address.sun_path), path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      !connect_within(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address)) {
    return no_connection(errno, destination);
  }
  return socket;
}

// "127.0.0.1:9000", "[::1]:9000": numbers only, since a static program cannot ask the name services
// of this machine. The size of the address; 0: it is none.
socklen_t parse_address(std::string_view place, sockaddr_storage& into) {
  const std::size_t colon = place.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::nullopt : parse_unsigned(place.substr(colon + 1));
  if (!port || *port == 0 || *port > UINT16_MAX) {
    return 0;
  }
  std::string host(place.substr(0, colon));
  host = host == "localhost" ? "127.0.0.1" : host;
  auto* four = reinterpret_cast<sockaddr_in*>(&into);
  if (::inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(*port));
    return sizeof *four;
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  auto* six = reinterpret_cast<sockaddr_in6*>(&into);
  if (bracketed &&
      ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(*port));
    return sizeof *six;
  }
  return 0;
}

Result<UniqueFd> connect_tcp(const std::string& place, const std::string& destination) {
  sockaddr_storage address{};
  const socklen_t size = parse_address(place, address);
  if (size == 0) {
    return Error{ErrorKind::usage,
                 "stream to",
                 destination,
                 "it is no numeric address and port",
                 "tcp://127.0.0.1:9000, tcp://[::1]:9000"};
  }
  UniqueFd socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool connected =
      socket && connect_within(socket.get(), reinterpret_cast<const sockaddr*>(&address), size);
  const int number = errno;
  return connected ? Result<UniqueFd>(std::move(socket)) : no_connection(number, destination);
}

}  // namespace

Result<std::unique_ptr<StreamSink>> StreamSink::open(const std::string& destination) {
  constexpr std::string_view tcp = "tcp://", unix_socket = "unix:";
  const bool is_tcp = destination.starts_with(tcp);
  if (is_tcp || destination.starts_with(unix_socket)) {
    auto socket = is_tcp ? connect_tcp(destination.substr(tcp.size()), destination)
                         : connect_unix(destination.substr(unix_socket.size()), destination);
    if (!socket) {
      return socket.error();
    }
    const int fd = socket->get();
    return std::unique_ptr<StreamSink>(new StreamSink(std::move(*socket), fd, Kind::socket));
  }
  if (const auto scheme = destination.find("://"); scheme != std::string::npos) {
    return Error{ErrorKind::usage,
                 "stream to",
                 destination,
                 "there is no such way to stream",
                 "a FILE, -, tcp://ADDRESS:PORT or unix:PATH"};
  }
  UniqueFd owned;
  if (destination != "-") {
    owned = UniqueFd(
        ::open(destination.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!owned) {
      const int number = errno;
      Error error = cannot_stream(number, destination);
      error.reason = number == ENXIO ? "nobody reads from that FIFO" : error.reason;
      error.hint = number == ENOENT ? "the folder must be there" : error.hint;
      return error;
    }
  }
  const int fd = destination == "-" ? STDOUT_FILENO : owned.get();

  struct stat status {};

  const bool is_file = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return std::unique_ptr<StreamSink>(
      new StreamSink(std::move(owned), fd, is_file ? Kind::file : Kind::pipe));
}

// Standard output may be shared with others, so it is not made non-blocking: a pipe or terminal
// that poll calls writable takes a page without waiting.
long StreamSink::write_some(std::string_view bytes) const {
  constexpr std::size_t page = 4096;
  const IgnoreBrokenPipe quiet;
  pollfd ready{fd_, POLLOUT, 0};
  switch (kind_) {
    case Kind::socket:
      return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::file:
      return ::write(fd_, bytes.data(), bytes.size());
    case Kind::pipe:
      if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) {
        errno = (ready.revents & POLLNVAL) != 0              ? EBADF
                : (ready.revents & (POLLERR | POLLHUP)) != 0 ? EPIPE
                                                             : EAGAIN;
        return -1;
      }
      return ::write(fd_, bytes.data(), std::min(bytes.size(), page));
  }
  return -1;
}

void StreamSink::flush() {
  while (!waiting_.empty() && broken_ == 0) {
    const std::string_view rest = std::string_view(waiting_.front()).substr(sent_of_first_);
    const long count = write_some(rest);
    if (count < 0) {
      broken_ = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : errno;
      return;
    }
    sent_of_first_ += static_cast<std::size_t>(count);
    if (sent_of_first_ == waiting_.front().size()) {
      waiting_bytes_ -= waiting_.front().size();
      waiting_.pop_front();
      sent_of_first_ = 0;
      ++written_;
    }
  }
}

bool StreamSink::push(std::string_view line) {
  flush();
  if (waiting_bytes_ + line.size() + 1 > most) {
    ++dropped_;
    return broken_ == 0;
  }
  waiting_.emplace_back(line).push_back('\n');
  waiting_bytes_ += line.size() + 1;
  flush();
  return broken_ == 0;
}

void StreamSink::finish() {
  constexpr int rounds = 20, pause_ms = 10;
  for (int i = 0; i < rounds && !waiting_.empty() && broken_ == 0; ++i) {
    pollfd ready{fd_, POLLOUT, 0};
    ::poll(&ready, 1, pause_ms);
    flush();
  }
  dropped_ += waiting_.size();
  waiting_.clear();
}

}  // namespace tracso::os
