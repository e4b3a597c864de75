#include "collect/descriptors.hpp"

#include "base/text.hpp"
#include "proc/net_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tracso {
namespace {

using proc::DescriptorLink;

Error no_list(Error error) {
  error.action = "list descriptors of";
  return error;
}

// Open flags of the fdinfo (asm-generic/fcntl.h; the same on x86 and 64-bit ARM).
constexpr std::uint64_t path_only = 010000000;

struct Named {
  Descriptor descriptor;
  DescriptorLink link;
};

// Its number can be seen, not what it leads to: another user namespace, a security module.
Named unreadable(std::int32_t number) {
  Named one;
  one.descriptor.fd = number;
  one.descriptor.kind = one.link.kind = DescriptorKind::other;
  one.descriptor.target = "?";
  one.descriptor.detail = "may not be read";
  return one;
}

Result<std::vector<Named>> read_links(const ProcessSource& process) {
  const auto names = process.list("fd");
  if (!names) {
    return no_list(names.error());
  }
  std::vector<std::int32_t> numbers;
  for (const std::string& name : *names) {
    if (const auto number = parse_unsigned(name); number && *number <= INT32_MAX) {
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<Named> all;
  for (const std::int32_t number : numbers) {
    auto text = process.read_link("fd/" + std::to_string(number));
    if (!text && text.error().kind == ErrorKind::denied) {
      all.push_back(unreadable(number));
      continue;
    }
    if (!text) {
      continue;  // closed meanwhile
    }
    Named one;
    one.link = proc::parse_descriptor_link(*text);
    one.descriptor.fd = number;
    one.descriptor.kind = one.link.kind;
    one.descriptor.link = std::move(*text);
    one.descriptor.target = one.link.target;
    one.descriptor.deleted = one.link.deleted;
    all.push_back(std::move(one));
  }
  return all;
}

// The sockets of one network namespace by inode, for where they cannot be asked themselves.
class SocketTables {
 public:
  explicit SocketTables(const ProcessSource& process) : process_(process) {}

  bool describe(std::uint64_t inode, Descriptor& into) {
    read();
    if (const auto found = internet_.find(inode); found != internet_.end()) {
      const auto& [kind, socket] = found->second;
      into.kind = kind;
      into.target = socket.remote.empty() ? socket.local
                                          : fmt::format("{} -> {}", socket.local, socket.remote);
      into.detail =
          kind == DescriptorKind::tcp ? std::string(proc::tcp_state_name(socket.state)) : "";
      into.bytes_waiting = socket.waiting;
      into.bytes_unsent = socket.unsent;
      return true;
    }
    if (const auto found = unix_.find(inode); found != unix_.end()) {
      into.kind = DescriptorKind::unix_socket;
      into.target = found->second.path.empty() ? "(unnamed)" : found->second.path;
      into.detail = found->second.listening ? "listening" : "";
      return true;
    }
    return false;
  }

  /// A TCP socket's state and queues: what the descriptor itself does not tell.
  void add_state(std::uint64_t inode, Descriptor& into) {
    read();
    const auto found = internet_.find(inode);
    if (found == internet_.end() || found->second.first != DescriptorKind::tcp) {
      return;
    }
    const proc::InternetSocket& socket = found->second.second;
    constexpr unsigned established = 1, listening = 10;
    if (socket.state == listening) {
      into.detail = fmt::format("listening, {} to accept", socket.waiting);
      into.bytes_waiting.reset();
      into.bytes_unsent.reset();
    } else if (socket.state != established) {
      into.detail = std::string(proc::tcp_state_name(socket.state));
    }
  }

 private:
  void read() {
    if (std::exchange(read_, true)) {
      return;
    }
    constexpr std::array<std::pair<const char*, DescriptorKind>, 4> tables{
        {{"net/tcp", DescriptorKind::tcp},
         {"net/tcp6", DescriptorKind::tcp},
         {"net/udp", DescriptorKind::udp},
         {"net/udp6", DescriptorKind::udp}}};
    for (const auto& [name, kind] : tables) {
      if (const auto text = process_.read(name)) {
        for (auto& socket : proc::parse_internet_table(*text)) {
          const std::uint64_t inode = socket.inode;
          internet_.emplace(inode, std::pair(kind, std::move(socket)));
        }
      }
    }
    if (const auto text = process_.read("net/unix")) {
      for (auto& socket : proc::parse_unix_table(*text)) {
        const std::uint64_t inode = socket.inode;
        unix_.emplace(inode, std::move(socket));
      }
    }
  }

  const ProcessSource& process_;
  bool read_ = false;
  std::map<std::uint64_t, std::pair<DescriptorKind, proc::InternetSocket>> internet_;
  std::map<std::uint64_t, proc::UnixSocket> unix_;
};

void take_facts(const proc::BorrowedFacts& facts, Descriptor& into) {
  into.kind = facts.kind.value_or(into.kind);
  into.target = facts.target.empty() ? into.target : facts.target;
  into.detail = facts.detail;
  into.bytes_waiting = facts.waiting;
  into.bytes_unsent = facts.unsent;
}

bool has_info(DescriptorKind kind) {
  return kind != DescriptorKind::pipe && kind != DescriptorKind::socket;
}

void add_info(const ProcessSource& process, Descriptor& into) {
  const auto text = process.read("fdinfo/" + std::to_string(into.fd));
  if (!text) {
    return;
  }
  const auto info = proc::parse_descriptor_info(*text);
  into.detail = proc::describe(into.kind, info);
  if ((info.flags.value_or(0) & path_only) != 0) {
    into.detail = "only as a path (O_PATH)";
  }
}

}  // namespace

Result<std::vector<Descriptor>> list_descriptors(const ProcessSource& process) {
  auto named = read_links(process);
  if (!named) {
    return named.error();
  }
  std::vector<Descriptor> out;
  out.reserve(named->size());
  for (Named& one : *named) {
    out.push_back(std::move(one.descriptor));
  }
  return out;
}

Result<std::vector<Descriptor>> collect_descriptors(const ProcessSource& process,
                                                    const proc::Borrow& borrow,
                                                    std::vector<Notice>& notices) {
  auto named = read_links(process);
  if (!named) {
    return named.error();
  }
  SocketTables tables(process);
  std::size_t unknown = 0;
  const auto hidden = std::count_if(
      named->begin(), named->end(), [](const Named& one) { return one.descriptor.link.empty(); });
  if (hidden > 0) {
    notices.push_back(
        {"descriptors-unreadable",
         fmt::format(
             "{} open, but may not be read",
             counted(static_cast<std::uint64_t>(hidden), "descriptor is", "descriptors are")),
         "what they lead to is not known",
         "look as root of the same user namespace, or with CAP_SYS_PTRACE"});
  }
  std::vector<Descriptor> out;
  out.reserve(named->size());
  for (Named& one : *named) {
    Descriptor& descriptor = one.descriptor;
    if (!descriptor.link.empty() && has_info(one.link.kind)) {
      add_info(process, descriptor);
    }
    const auto facts = borrow ? borrow(descriptor.fd, one.link.kind) : std::nullopt;
    if (facts) {
      const std::string detail = descriptor.detail;
      take_facts(*facts, descriptor);
      descriptor.detail = descriptor.detail.empty() ? detail : descriptor.detail;
    }
    if (one.link.kind == DescriptorKind::socket) {
      if (!facts) {
        unknown += tables.describe(one.link.inode, descriptor) ? 0 : 1;
      } else if (descriptor.kind == DescriptorKind::tcp) {
        tables.add_state(one.link.inode, descriptor);
      }
    }
    out.push_back(std::move(descriptor));
  }
  if (unknown > 0) {
    notices.push_back({"sockets-unknown",
                       counted(unknown, "socket") + " could not be looked into",
                       "their endpoints are not known",
                       "run as root, or with CAP_SYS_PTRACE"});
  }
  return out;
}

}  // namespace tracso
