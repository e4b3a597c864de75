// The socket itself and the kernel's tables are two witnesses of one name.

#include "base/unique_fd.hpp"
#include "dump/sockets.hpp"
#include "os/borrowed_sockets.hpp"
#include "os/live_process.hpp"
#include "support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

namespace tracso {
namespace {

sockaddr_in any_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint64_t inode_of(int fd) {
  struct stat status {};

  REQUIRE(::fstat(fd, &status) == 0);
  return status.st_ino;
}

TEST_CASE("dump: a borrowed socket is named as the kernel's tables name it", "[live][dump]") {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM, 0));
  auto address = any_port();
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listener.get(), raw, size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), raw, &size) == 0);
  const UniqueFd client(::socket(AF_INET, SOCK_STREAM, 0));
  REQUIRE(::connect(client.get(), raw, size) == 0);
  const UniqueFd accepted(::accept(listener.get(), nullptr, nullptr));
  const UniqueFd datagrams(::socket(AF_INET, SOCK_DGRAM, 0));
  auto other = any_port();
  REQUIRE(::bind(datagrams.get(), reinterpret_cast<sockaddr*>(&other), sizeof other) == 0);
  const UniqueFd local(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  std::memcpy(static_cast<char*>(path.sun_path) + 1, "tracso-dump-test", 16);  // abstract
  REQUIRE(::bind(local.get(),
                 reinterpret_cast<sockaddr*>(&path),
                 offsetof(sockaddr_un, sun_path) + 17) == 0);
  REQUIRE(::listen(local.get(), 1) == 0);

  const auto process = os::LiveProcess::open(::getpid());
  REQUIRE(process);
  const auto borrower = os::DescriptorBorrower::open(::getpid());
  REQUIRE(borrower);
  const proc::Borrow ask = [&](std::int32_t fd, DescriptorKind kind) {
    return borrower->look(fd, kind);
  };
  const proc::Borrow nobody;
  dump::SocketNames by_socket(**process, ask);
  dump::SocketNames by_tables(**process, nobody);
  for (const auto* socket : {&listener, &client, &accepted, &datagrams, &local}) {
    const auto inode = inode_of(socket->get());
    const auto name = by_socket.of(socket->get(), inode);
    INFO(name);
    CHECK_FALSE(name.empty());
    CHECK(name == by_tables.of(socket->get(), inode));
  }
}

}  // namespace
}  // namespace tracso
