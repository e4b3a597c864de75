#include "render/descriptor_words.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace tracso {
namespace {

bool is_path(DescriptorKind kind) {
  return kind == DescriptorKind::file || kind == DescriptorKind::directory ||
         kind == DescriptorKind::device || kind == DescriptorKind::terminal ||
         kind == DescriptorKind::fifo;
}

}  // namespace

std::string descriptor_target(const Descriptor& descriptor) {
  const std::string_view kind = descriptor_kind_name(descriptor.kind);
  const std::string target = printable(descriptor.target);
  const std::string_view deleted = descriptor.deleted ? " (deleted)" : "";
  if (is_path(descriptor.kind)) {
    return target + std::string(deleted);
  }
  const bool names_itself = target.starts_with("anon_inode:") || target.starts_with(kind);
  return names_itself && descriptor.kind != DescriptorKind::other &&
                 target.starts_with("anon_inode:")
             ? std::string(kind)
         : names_itself ? target
                        : fmt::format("{} {}{}", kind, target, deleted);
}

std::string descriptor_detail(const Descriptor& descriptor) {
  std::vector<std::string> parts;
  if (!descriptor.detail.empty()) {
    parts.push_back(printable(descriptor.detail));
  }
  if (descriptor.bytes_waiting.value_or(0) > 0) {
    parts.push_back(size_text(*descriptor.bytes_waiting) + " to be read");
  }
  if (descriptor.bytes_unsent.value_or(0) > 0) {
    parts.push_back(size_text(*descriptor.bytes_unsent) + " not taken by the other end");
  }
  std::vector<std::string> peers;
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < descriptor.peers.size() && i < most; ++i) {
    const Holder& peer = descriptor.peers[i];
    peers.push_back(peer.fd < 0
                        ? fmt::format("{} {}", peer.pid, printable(peer.name))
                        : fmt::format("{} {} fd {}", peer.pid, printable(peer.name), peer.fd));
  }
  if (descriptor.peers.size() > most) {
    peers.push_back(fmt::format("{} more", descriptor.peers.size() - most));
  }
  if (!peers.empty()) {
    parts.push_back("other end: " + join(peers, ", "));
  }
  return join(parts, "; ");
}

std::string descriptor_phrase(const Descriptor& descriptor) {
  const std::string detail = descriptor_detail(descriptor);
  return fmt::format("fd {} {}{}",
                     descriptor.fd,
                     descriptor_target(descriptor),
                     detail.empty() ? "" : " (" + detail + ")");
}

}  // namespace tracso
