#include "commands/descriptor_peers.hpp"

#include "base/text.hpp"
#include "os/other_ends.hpp"
#include "proc/descriptors.hpp"
#include "proc/net_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace tracso {
namespace {

using Holders = std::map<std::string, std::vector<os::HeldEnd>>;

std::string socket_link(std::uint64_t inode) {
  return fmt::format("socket:[{}]", inode);
}

// The other end of a TCP connection within one network namespace has its two addresses exchanged.
class Connections {
 public:
  explicit Connections(const ProcessSource& process) {
    for (const char* table : {"net/tcp", "net/tcp6"}) {
      const auto text = process.read(table);
      for (const auto& socket :
           text ? proc::parse_internet_table(*text) : std::vector<proc::InternetSocket>()) {
        if (socket.inode != 0 && !socket.remote.empty()) {
          by_ends_.emplace(socket.local + " -> " + socket.remote, socket.inode);
        }
      }
    }
  }

  std::uint64_t other_end(std::string_view target) const {
    const std::size_t arrow = target.find(" -> ");
    if (arrow == std::string_view::npos) {
      return 0;
    }
    const auto found = by_ends_.find(std::string(target.substr(arrow + 4)) + " -> " +
                                     std::string(target.substr(0, arrow)));
    return found == by_ends_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, std::uint64_t> by_ends_;
};

bool reads_only(const os::HeldEnd& end) {
  return end.reads && !end.writes;
}

// Of a pipe both ends have one number: the other end is who holds it for the other direction.
void add_pipe_peers(const std::vector<os::HeldEnd>& holders,
                    std::int32_t pid,
                    Descriptor& descriptor) {
  const auto own = std::find_if(holders.begin(), holders.end(), [&](const os::HeldEnd& one) {
    return one.holder.pid == pid && one.holder.fd == descriptor.fd;
  });
  for (const os::HeldEnd& one : holders) {
    if (own != holders.end() && reads_only(*own) != reads_only(one)) {
      descriptor.peers.push_back(one.holder);
    }
  }
}

// The link of a Unix socket's other end; "": none. That it listens says the descriptor itself, how
// many wait for it only this.
std::string unix_end(const std::map<std::uint64_t, os::UnixSocketEnds>& ends, Descriptor& one) {
  const auto found = ends.find(proc::parse_descriptor_link(one.link).inode);
  if (found == ends.end()) {
    return "";
  }
  if (found->second.to_accept) {
    one.detail = fmt::format("listening, {} to accept", *found->second.to_accept);
  }
  return found->second.peer == 0 ? "" : socket_link(found->second.peer);
}

// A link per descriptor: of the socket at the other end; "": none is known.
std::vector<std::string> other_links(std::int32_t pid,
                                     const ProcessSource& process,
                                     std::vector<Descriptor>& descriptors) {
  const auto has = [&](DescriptorKind kind) {
    return std::any_of(descriptors.begin(), descriptors.end(), [&](const Descriptor& one) {
      return one.kind == kind;
    });
  };
  const auto unix_ends = has(DescriptorKind::unix_socket)
                             ? os::unix_socket_ends(pid)
                             : std::map<std::uint64_t, os::UnixSocketEnds>();
  const auto connections =
      has(DescriptorKind::tcp) ? std::optional<Connections>(process) : std::nullopt;
  std::vector<std::string> links;
  for (Descriptor& one : descriptors) {
    std::string link;
    if (one.kind == DescriptorKind::pipe) {
      link = one.link;
    } else if (one.kind == DescriptorKind::unix_socket) {
      link = unix_end(unix_ends, one);
    } else if (one.kind == DescriptorKind::tcp && connections) {
      const std::uint64_t peer = connections->other_end(one.target);
      link = peer == 0 ? "" : socket_link(peer);
    }
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace

void add_peers(std::int32_t pid,
               const ProcessSource& process,
               std::vector<Descriptor>& descriptors,
               std::vector<Notice>& notices) {
  const auto links = other_links(pid, process, descriptors);
  std::set<std::string> wanted(links.begin(), links.end());
  wanted.erase("");
  bool complete = true;
  const Holders holders = os::find_holders(wanted, complete);
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    const auto found = holders.find(links[i]);
    if (found == holders.end()) {
      continue;
    }
    if (descriptors[i].kind == DescriptorKind::pipe) {
      add_pipe_peers(found->second, pid, descriptors[i]);
      continue;
    }
    for (const os::HeldEnd& one : found->second) {
      descriptors[i].peers.push_back(one.holder);
    }
  }
  if (!complete) {
    notices.push_back({"peers-incomplete",
                       "this machine has more than 2,000,000 open descriptors",
                       "not all other ends are named",
                       ""});
  }
}

}  // namespace tracso
