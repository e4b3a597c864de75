#include "proc/container.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tracso::proc {
namespace {

constexpr std::size_t id_shown = 12;

bool is_container_id(std::string_view text) {
  return text.size() >= 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// One piece of a cgroup's path, and the piece before it.
std::string container_in(std::string_view piece, std::string_view before, bool kubernetes) {
  using Form = std::pair<std::string_view, std::string_view>;
  static constexpr std::array scopes{Form{"docker-", "docker"},
                                     Form{"cri-containerd-", "containerd"},
                                     Form{"crio-", "crio"},
                                     Form{"libpod-", "podman"}};
  std::string_view bare = piece;
  if (bare.ends_with(".scope")) {
    bare.remove_suffix(std::string_view(".scope").size());
  }
  for (const auto& [prefix, engine] : scopes) {
    if (bare.starts_with(prefix) && is_container_id(bare.substr(prefix.size()))) {
      return std::string(engine) + " " + std::string(bare.substr(prefix.size(), id_shown));
    }
  }
  if (is_container_id(piece) && (before == "docker" || kubernetes)) {
    return (kubernetes ? "pod " : "docker ") + std::string(piece.substr(0, id_shown));
  }
  for (const std::string_view prefix : {"lxc.payload.", "machine-"}) {
    if (bare.starts_with(prefix) && bare.size() > prefix.size()) {
      return (prefix == "machine-" ? "machine " : "lxc ") + std::string(bare.substr(prefix.size()));
    }
  }
  return before == "lxc" && !piece.empty() ? "lxc " + std::string(piece) : "";
}

}  // namespace

std::string container_of(std::string_view cgroup) {
  for (const std::string_view line : split(cgroup, '\n')) {
    const std::size_t path = line.find(":/");
    if (path == std::string_view::npos) {
      continue;
    }
    const bool kubernetes = line.find("/kubepods") != std::string_view::npos;
    std::string_view before;
    for (const std::string_view piece : split(line.substr(path + 1), '/')) {
      if (std::string found = container_in(piece, before, kubernetes); !found.empty()) {
        return found;
      }
      before = piece;
    }
  }
  return "";
}

}  // namespace tracso::proc
