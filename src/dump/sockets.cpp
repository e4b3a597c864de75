#include "dump/sockets.hpp"

#include "proc/net_tables.hpp"

#include <fmt/format.h>

namespace tracso::dump {
namespace {

constexpr std::string_view listening = "listening";

std::string name_of(DescriptorKind kind, std::string_view ends, bool listens) {
  return fmt::format("{}{}{}{}{}",
                     descriptor_kind_name(kind),
                     ends.empty() ? "" : " ",
                     ends,
                     listens ? " " : "",
                     listens ? listening : "");
}

std::string name_of(DescriptorKind kind, const proc::InternetSocket& socket) {
  constexpr unsigned tcp_listen = 10;
  const bool listens = kind == DescriptorKind::tcp && socket.state == tcp_listen;
  const bool connected = !listens && !socket.remote.empty();
  return name_of(kind,
                 connected ? fmt::format("{} -> {}", socket.local, socket.remote) : socket.local,
                 listens);
}

}  // namespace

std::string SocketNames::of(std::int32_t descriptor, std::uint64_t inode) {
  if (borrow_) {
    const auto facts = borrow_(descriptor, DescriptorKind::socket);
    if (facts && facts->kind) {
      return name_of(*facts->kind, facts->target, facts->detail == listening);
    }
  }
  if (!tables_) {
    read_tables();
  }
  const auto name = tables_->find(inode);
  return name == tables_->end() ? "" : name->second;
}

void SocketNames::read_tables() {
  tables_.emplace();
  for (const auto& [table, kind] : {std::pair("net/tcp", DescriptorKind::tcp),
                                    std::pair("net/tcp6", DescriptorKind::tcp),
                                    std::pair("net/udp", DescriptorKind::udp),
                                    std::pair("net/udp6", DescriptorKind::udp)}) {
    if (const auto text = process_.read(table)) {
      for (const auto& socket : proc::parse_internet_table(*text)) {
        tables_->emplace(socket.inode, name_of(kind, socket));
      }
    }
  }
  if (const auto text = process_.read("net/unix")) {
    for (const auto& socket : proc::parse_unix_table(*text)) {
      tables_->emplace(socket.inode,
                       name_of(DescriptorKind::unix_socket, socket.path, socket.listening));
    }
  }
}

}  // namespace tracso::dump
