#include "dump/sockets.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <optional>

namespace tracso::dump {
namespace {

// "0100007F:1F90" -> "127.0.0.1:8080". The address is written as words of the host's byte order.
std::optional<std::string> address(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || (colon != 8 && colon != 32)) {
    return std::nullopt;
  }
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i * 8 < colon; ++i) {
    const auto word = parse_unsigned(text.substr(i * 8, 8), 16);
    if (!word) {
      return std::nullopt;
    }
    words[i] = static_cast<std::uint32_t>(*word);
  }
  const auto port = parse_unsigned(text.substr(colon + 1), 16);
  std::array<char, INET6_ADDRSTRLEN> printed{};
  const bool wide = colon == 32;
  if (!port ||
      ::inet_ntop(wide ? AF_INET6 : AF_INET, words.data(), printed.data(), printed.size()) ==
          nullptr) {
    return std::nullopt;
  }
  return wide ? fmt::format("[{}]:{}", printed.data(), *port)
              : fmt::format("{}:{}", printed.data(), *port);
}

constexpr std::string_view listening = "0A";  // TCP_LISTEN

}  // namespace

void add_inet_sockets(std::string_view table, std::string_view protocol, SocketNames& names) {
  for (const auto line : split(table, '\n')) {
    // number: local remote state queues timer retransmits uid timeout inode
    const auto words = split_words(line, " ");
    constexpr std::size_t inode_word = 9;
    const auto inode = words.size() > inode_word ? parse_unsigned(words[inode_word]) : std::nullopt;
    const auto local = inode ? address(words[1]) : std::nullopt;
    const auto remote = local ? address(words[2]) : std::nullopt;
    if (!remote || *inode == 0) {
      continue;
    }
    const bool listens = words[3] == listening && protocol.starts_with("tcp");
    names[*inode] = listens ? fmt::format("{} {} listening", protocol, *local)
                            : fmt::format("{} {} -> {}", protocol, *local, *remote);
  }
}

void add_unix_sockets(std::string_view table, SocketNames& names) {
  for (const auto line : split(table, '\n')) {
    // number: references protocol flags type state inode path
    const auto words = split_words(line, " ");
    constexpr std::size_t inode_word = 6;
    const auto inode = words.size() > inode_word ? parse_unsigned(words[inode_word]) : std::nullopt;
    if (inode) {
      const auto path = words.size() > inode_word + 1 ? words[inode_word + 1] : std::string_view();
      names[*inode] = path.empty() ? "unix" : fmt::format("unix {}", path);
    }
  }
}

}  // namespace tracso::dump
