#pragma once
// /proc/PID/net/{tcp,tcp6,udp,udp6,unix} as text -> sockets (proc_pid_net(5)). Every process shows
// the tables of its own network namespace to everybody.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::proc {

struct InternetSocket {
  std::uint64_t inode = 0;
  std::string local, remote;  ///< "10.0.0.2:41446", "[::1]:80", "*:53"; remote "" if there is none
  unsigned state = 0;         ///< TCP's: 1 established, 10 listening
  std::uint64_t waiting = 0;  ///< to be read; of a listening one: connections to accept
  std::uint64_t unsent = 0;   ///< not acknowledged; of a listening one: the backlog
  bool operator==(const InternetSocket&) const = default;
};

/// Lines that are none are skipped; at most `most` sockets are taken.
std::vector<InternetSocket> parse_internet_table(std::string_view text,
                                                 std::size_t most = 1'000'000);

struct UnixSocket {
  std::uint64_t inode = 0;
  std::string path;   ///< "@name" is an abstract one; "" unnamed; bytes
  unsigned type = 0;  ///< 1 stream, 2 datagram, 5 seqpacket
  bool listening = false;
  bool operator==(const UnixSocket&) const = default;
};

std::vector<UnixSocket> parse_unix_table(std::string_view text, std::size_t most = 1'000'000);

/// "established", "listening", ...; "" for a number that TCP has not.
std::string_view tcp_state_name(unsigned state);

/// "10.0.0.2:80" or "[::1]:80" of an address in network byte order, 4 or 16 bytes; "*" stands for
/// the address of all zeros. "" for another length.
std::string endpoint_text(std::string_view address, std::uint16_t port);

}  // namespace tracso::proc
