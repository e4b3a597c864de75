#include "analysis/descriptor_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

namespace tracso {
namespace {

std::string lasting_name(const Descriptor& descriptor) {
  const std::string kind(descriptor_kind_name(descriptor.kind));
  switch (descriptor.kind) {
    case DescriptorKind::file:
    case DescriptorKind::directory:
    case DescriptorKind::device:
    case DescriptorKind::terminal:
    case DescriptorKind::fifo:
    case DescriptorKind::memfd:
    case DescriptorKind::other:
      return descriptor.target + (descriptor.deleted ? " (deleted)" : "");
    case DescriptorKind::tcp:
    case DescriptorKind::udp: {
      // The own port differs each time; where it leads does not.
      const auto arrow = descriptor.target.find(" -> ");
      return arrow == std::string::npos ? kind : kind + descriptor.target.substr(arrow);
    }
    default:
      return kind;
  }
}

}  // namespace

std::vector<DescriptorGroup> group_descriptors(std::span<const Descriptor> descriptors) {
  std::vector<DescriptorGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const Descriptor& one : descriptors) {
    const std::string what = lasting_name(one);
    const auto [place, is_new] = places.emplace(what, groups.size());
    if (is_new) {
      groups.push_back({&one, what, {}});
    }
    groups[place->second].fds.push_back(one.fd);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& one, const auto& other) {
    return one.fds.size() > other.fds.size();
  });
  return groups;
}

std::string group_phrase(const DescriptorGroup& group) {
  return group.fds.size() == 1 ? fmt::format("{} (fd {})", group.first->target, group.fds.front())
                               : fmt::format("{} x {}", group.fds.size(), group.what);
}

}  // namespace tracso
