#include "proc/net_tables.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

namespace tracso::proc {
namespace {

struct Endpoint {
  std::string text;
  bool is_nobody = false;  // all zeros and no port
};

// "0100007F:1F90": each group of 8 digits is a word of 32 bits in the machine's own byte order.
std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || (colon != 8 && colon != 32)) {
    return std::nullopt;
  }
  std::string address;
  for (std::size_t at = 0; at < colon; at += 8) {
    const auto word = parse_unsigned(text.substr(at, 8), 16);
    if (!word) {
      return std::nullopt;
    }
    const auto value = static_cast<std::uint32_t>(*word);
    std::array<char, 4> bytes{};
    std::memcpy(bytes.data(), &value, bytes.size());
    address.append(bytes.data(), bytes.size());
  }
  const auto port = parse_unsigned(text.substr(colon + 1), 16);
  if (!port || *port > UINT16_MAX) {
    return std::nullopt;
  }
  const bool zeros = address.find_first_not_of('\0') == std::string::npos;
  return Endpoint{endpoint_text(address, static_cast<std::uint16_t>(*port)), zeros && *port == 0};
}

// "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 4711 ..."
std::optional<InternetSocket> parse_internet_line(std::string_view line) {
  const auto words = split_words(line, " ");
  constexpr std::size_t inode_at = 9;
  if (words.size() <= inode_at || !words[0].ends_with(':')) {
    return std::nullopt;
  }
  const auto local = parse_endpoint(words[1]);
  const auto remote = parse_endpoint(words[2]);
  const auto state = parse_unsigned(words[3], 16);
  const auto queues = split(words[4], ':');
  const auto inode = parse_unsigned(words[inode_at]);
  if (!local || !remote || !state || *state > UINT8_MAX || queues.size() != 2 || !inode) {
    return std::nullopt;
  }
  return InternetSocket{*inode,
                        local->text,
                        remote->is_nobody ? "" : remote->text,
                        static_cast<unsigned>(*state),
                        parse_unsigned(queues[1], 16).value_or(0),
                        parse_unsigned(queues[0], 16).value_or(0)};
}

// "ffff8880: 00000003 00000000 00000000 0001 03 4711 /run/x.sock": the path is the rest of the
// line, blanks and all.
std::optional<UnixSocket> parse_unix_line(std::string_view line) {
  constexpr std::size_t inode_at = 6;
  std::array<std::string_view, inode_at + 1> words{};
  for (auto& word : words) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      return std::nullopt;
    }
    line.remove_prefix(begin);
    const std::size_t end = line.find(' ');
    word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end);
  }
  const auto flags = parse_unsigned(words[3], 16);
  const auto type = parse_unsigned(words[4], 16);
  const auto inode = parse_unsigned(words[inode_at]);
  if (!words[0].ends_with(':') || !flags || !type || *type > UINT8_MAX || !inode) {
    return std::nullopt;
  }
  constexpr std::uint64_t accepts = 0x10000;  // __SO_ACCEPTCON
  return UnixSocket{*inode,
                    std::string(line.empty() ? line : line.substr(1)),
                    static_cast<unsigned>(*type),
                    (*flags & accepts) != 0};
}

template <class Socket, class Parse>
std::vector<Socket> parse_lines(std::string_view text, std::size_t most, Parse parse) {
  std::vector<Socket> sockets;
  while (!text.empty() && sockets.size() < most) {
    const std::size_t end = text.find('\n');
    if (auto socket = parse(text.substr(0, end))) {
      sockets.push_back(std::move(*socket));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return sockets;
}

}  // namespace

std::vector<InternetSocket> parse_internet_table(std::string_view text, std::size_t most) {
  return parse_lines<InternetSocket>(text, most, parse_internet_line);
}

std::vector<UnixSocket> parse_unix_table(std::string_view text, std::size_t most) {
  return parse_lines<UnixSocket>(text, most, parse_unix_line);
}

std::string_view tcp_state_name(unsigned state) {
  constexpr std::array<std::string_view, 13> names{"",
                                                   "established",
                                                   "connecting",
                                                   "connection received",
                                                   "closing (fin-wait-1)",
                                                   "closing (fin-wait-2)",
                                                   "time-wait",
                                                   "not connected",
                                                   "closed by the other end",
                                                   "closing (last-ack)",
                                                   "listening",
                                                   "closing",
                                                   "connection received"};
  return state < names.size() ? names[state] : "";
}

std::string endpoint_text(std::string_view address, std::uint16_t port) {
  const std::string shown_port = port == 0 ? "*" : std::to_string(port);
  if (address.size() != 4 && address.size() != 16) {
    return "";
  }
  if (address.find_first_not_of('\0') == std::string_view::npos) {
    return "*:" + shown_port;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.size() == 4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address.data(), text.data(), text.size()) == nullptr) {
    return "";
  }
  return family == AF_INET ? fmt::format("{}:{}", text.data(), shown_port)
                           : fmt::format("[{}]:{}", text.data(), shown_port);
}

}  // namespace tracso::proc
