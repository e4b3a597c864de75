#pragma once
// Socket inodes -> addresses, from the tables of /proc/PID/net (proc_pid_net(5)). Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracso::dump {

/// inode -> "tcp 127.0.0.1:8000 -> 127.0.0.1:41446"; a listening one "tcp 0.0.0.0:8000 listening".
using SocketNames = std::unordered_map<std::uint64_t, std::string>;

/// Adds what a table of tcp, tcp6, udp or udp6 holds; lines that are none are passed over.
void add_inet_sockets(std::string_view table, std::string_view protocol, SocketNames& names);
/// The same for the table `unix`: "unix /run/x.sock", unnamed ones "unix".
void add_unix_sockets(std::string_view table, SocketNames& names);

}  // namespace tracso::dump
