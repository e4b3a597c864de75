#pragma once
// What the sockets are called that threads wait for.

#include "tracso/target.hpp"

#include "proc/descriptors.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace tracso::dump {

/// "tcp 127.0.0.1:8000 -> 127.0.0.1:41446", "tcp *:8000 listening", "unix /run/x.sock".
class SocketNames {
 public:
  /// `borrow` asks the socket itself, which takes microseconds and finds it in any network
  /// namespace. Where it is empty or may not, /proc/PID/net is read, which takes the kernel
  /// milliseconds (proc_pid_net(5)). Both must outlive it.
  SocketNames(const ProcessSource& process, const proc::Borrow& borrow)
      : process_(process), borrow_(borrow) {}

  /// Of an open descriptor and the inode that its link tells; empty: nothing says it.
  std::string of(std::int32_t descriptor, std::uint64_t inode);

 private:
  void read_tables();

  const ProcessSource& process_;
  const proc::Borrow& borrow_;
  std::optional<std::unordered_map<std::uint64_t, std::string>> tables_;  // by inode
};

}  // namespace tracso::dump
