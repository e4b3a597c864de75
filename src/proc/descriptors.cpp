#include "proc/descriptors.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tracso::proc {
namespace {

constexpr std::size_t most_watched = 64;
constexpr std::string_view deleted_mark = " (deleted)";

// "pipe:[4711]"
std::optional<std::uint64_t> number_in(std::string_view link, std::string_view prefix) {
  return link.starts_with(prefix) && link.ends_with(']')
             ? parse_unsigned(link.substr(prefix.size(), link.size() - prefix.size() - 1))
             : std::nullopt;
}

// What stands behind "anon_inode:", with or without brackets.
DescriptorKind anonymous_kind(std::string_view name) {
  using Kind = DescriptorKind;
  constexpr std::array<std::pair<std::string_view, Kind>, 6> kinds{{{"eventfd", Kind::eventfd},
                                                                    {"eventpoll", Kind::epoll},
                                                                    {"timerfd", Kind::timerfd},
                                                                    {"signalfd", Kind::signalfd},
                                                                    {"inotify", Kind::inotify},
                                                                    {"pidfd", Kind::pidfd}}};
  if (name.starts_with('[') && name.ends_with(']')) {
    name = name.substr(1, name.size() - 2);
  }
  for (const auto& [text, kind] : kinds) {
    if (name == text) {
      return kind;
    }
  }
  return Kind::other;
}

DescriptorLink path_link(std::string_view link) {
  DescriptorLink out;
  out.kind = DescriptorKind::file;
  if (link.ends_with(deleted_mark)) {
    link.remove_suffix(deleted_mark.size());
    out.deleted = true;
  }
  constexpr std::string_view memfd = "/memfd:";
  if (link.starts_with(memfd) && out.deleted) {
    out.kind = DescriptorKind::memfd;
    out.deleted = false;  // it never had a path
    link.remove_prefix(memfd.size());
  } else if (link.starts_with("/dev/pts/") || link.starts_with("/dev/tty") ||
             link == "/dev/console" || link == "/dev/ptmx") {
    out.kind = DescriptorKind::terminal;
  }
  out.target = std::string(link);
  return out;
}

// Lines such as "tfd:        5 events: 19 data: ..." and "inotify wd:1 ino:...".
void count_line(std::string_view line, DescriptorInfo& info) {
  if (line.starts_with("tfd:")) {
    ++info.watched_count;
    const auto words = split_words(line.substr(4), " \t");
    const auto fd = words.empty() ? std::nullopt : parse_unsigned(words.front());
    if (fd && *fd <= INT32_MAX && info.watched.size() < most_watched) {
      info.watched.push_back(static_cast<std::int32_t>(*fd));
    }
  } else if (line.starts_with("inotify ")) {
    ++info.inotify_watches;
  } else if (line.starts_with("lock:")) {
    const auto words = split_words(line.substr(5), " \t");  // "1: FLOCK  ADVISORY  WRITE 12 ..."
    if (++info.locks == 1 && words.size() >= 4) {
      info.lock = fmt::format("{} {}", words[1], words[3]);
    }
  }
}

std::string watched_text(const DescriptorInfo& info) {
  std::string text = "watches ";
  if (info.watched_count == 0) {
    return text + "nothing";
  }
  for (std::size_t i = 0; i < info.watched.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", info.watched[i]);
  }
  if (info.watched_count > info.watched.size()) {
    text += fmt::format(", {} more", info.watched_count - info.watched.size());
  }
  return text;
}

}  // namespace

DescriptorLink parse_descriptor_link(std::string_view link) {
  DescriptorLink out;
  out.target = std::string(link);
  if (link.starts_with('/')) {
    return path_link(link);
  }
  if (const auto pipe = number_in(link, "pipe:[")) {
    out.kind = DescriptorKind::pipe;
    out.inode = *pipe;
  } else if (const auto socket = number_in(link, "socket:[")) {
    out.kind = DescriptorKind::socket;
    out.inode = *socket;
  } else if (link.starts_with("anon_inode:")) {
    out.kind = anonymous_kind(link.substr(11));
  } else if (link.starts_with("pidfd:")) {
    out.kind = DescriptorKind::pidfd;  // Linux 6.9: a file system of its own
  }
  return out;
}

DescriptorInfo parse_descriptor_info(std::string_view text) {
  DescriptorInfo info;
  const auto number = [&](std::string_view name, int base) {
    const auto value = status_value(text, name);
    return value ? parse_unsigned(*value, base) : std::nullopt;
  };
  info.flags = number("flags", 8);
  info.position = number("pos", 10);
  info.count = number("eventfd-count", 16);
  if (const auto pid = status_value(text, "Pid")) {
    info.pid = parse_signed(*pid);
  }
  for (const std::string_view line : split(text, '\n')) {
    count_line(line, info);
  }
  return info;
}

std::string describe(DescriptorKind kind, const DescriptorInfo& info) {
  switch (kind) {
    case DescriptorKind::eventfd:
      return info.count ? fmt::format("count {}", *info.count) : "";
    case DescriptorKind::epoll:
      return watched_text(info);
    case DescriptorKind::inotify:
      return counted(info.inotify_watches, "watch", "watches");
    case DescriptorKind::pidfd:
      return !info.pid       ? ""
             : *info.pid < 0 ? "its process has ended"
                             : fmt::format("pid {}", *info.pid);
    default:
      return info.locks > 0 ? fmt::format("locked ({})", info.lock) : "";
  }
}

}  // namespace tracso::proc
