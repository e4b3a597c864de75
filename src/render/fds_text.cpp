#include "render/fds_text.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/descriptor_words.hpp"
#include "render/text/columns.hpp"
#include "render/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tracso {
namespace {

// Per kind, the most frequent first: "12 file, 3 tcp, 2 pipe".
std::string kinds_text(const std::vector<Descriptor>& descriptors) {
  std::array<std::size_t, static_cast<std::size_t>(DescriptorKind::other) + 1> counts{};
  for (const Descriptor& one : descriptors) {
    ++counts[static_cast<std::size_t>(one.kind)];
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) {
      parts.push_back(
          fmt::format("{} {}", counts[i], descriptor_kind_name(static_cast<DescriptorKind>(i))));
    }
  }
  return join(parts, ", ");
}

std::string number_or_empty(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "";
}

// "+1.2 MB/s", "-3.0 KB/s".
std::string speed(double bytes, bool is_signed) {
  const std::string sign = bytes < 0 ? "-" : is_signed ? "+" : "";
  return sign + size_text(static_cast<std::uint64_t>(std::llround(std::abs(bytes)))) + "/s";
}

std::string rate_text(const DescriptorRate& rate) {
  std::vector<std::string> parts;
  if (rate.received) {
    parts.push_back("in " + speed(*rate.received, false));
  }
  if (rate.sent) {
    parts.push_back("out " + speed(*rate.sent, false));
  }
  if (rate.position) {
    parts.push_back("position " + speed(*rate.position, true));
  }
  if (rate.queue) {
    parts.push_back("waiting " + speed(*rate.queue, true) + ", traffic not visible");
  }
  return parts.empty() ? "rate not visible" : join(parts, ", ");
}

std::string rate_fields(const DescriptorRate& rate) {
  std::string out;
  for (const auto& figure : {rate.received, rate.sent, rate.position, rate.queue}) {
    out += figure ? fmt::format(",{:.0f}", *figure) : ",";
  }
  return out;
}

}  // namespace

std::string descriptors_text(const RenderOptions& options,
                             std::int32_t pid,
                             const std::vector<Descriptor>& descriptors,
                             const std::vector<DescriptorRate>& rates,
                             const std::vector<Notice>& notices) {
  const std::string_view dot = glyphs(options.unicode).dot;
  std::string out = paint(options.color,
                          Style::bold,
                          fmt::format("tracso {0} fds of pid {1} {0} {2} open {0} {3}",
                                      dot,
                                      pid,
                                      descriptors.size(),
                                      kinds_text(descriptors))) +
                    "\n";
  for (const Notice& notice : notices) {
    out += paint(options.color, Style::yellow, "Notice: ") + printable(notice.text) + "; " +
           printable(notice.effect) + "\n";
  }
  const std::size_t limit = options.limit_libraries;
  const std::size_t shown = limit == 0 ? descriptors.size() : std::min(limit, descriptors.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Descriptor& one = descriptors[i];
    const std::string detail = descriptor_detail(one);
    out += pad_left(std::to_string(one.fd), 6) + "  " + descriptor_target(one) +
           (detail.empty() ? "" : "   " + paint(options.color, Style::cyan, "(" + detail + ")")) +
           (i < rates.size() ? "   " + rate_text(rates[i]) : "") + "\n";
  }
  if (shown < descriptors.size()) {
    const std::string rest = fmt::format("  ... and {} more", descriptors.size() - shown);
    out += paint(options.color, Style::dim, rest) + "\n";
  }
  return out;
}

std::string descriptor_diff_text(const RenderOptions& options,
                                 const std::string& before,
                                 const std::string& after,
                                 const DescriptorChange& change) {
  const std::string_view arrow = options.unicode ? "\xe2\x86\x92" : "->";
  std::string out = paint(options.color,
                          Style::bold,
                          fmt::format("tracso {} descriptors of {} {} {}: {} {} {}",
                                      glyphs(options.unicode).dot,
                                      printable(before),
                                      arrow,
                                      printable(after),
                                      change.before,
                                      arrow,
                                      change.after)) +
                    "\n";
  const auto list = [&](std::string_view what, const std::vector<Descriptor>& all, Style style) {
    for (const Descriptor& one : all) {
      out += "  " + paint(options.color, style, what) + "  " + descriptor_phrase(one) + "\n";
    }
  };
  list("opened", change.opened, Style::green);
  list("closed", change.closed, Style::red);
  return change.opened.empty() && change.closed.empty() ? out + "No difference\n" : out;
}

std::string descriptors_csv(const std::vector<Descriptor>& descriptors,
                            const std::vector<DescriptorRate>& rates) {
  std::string out = "fd,kind,target,detail,deleted,bytes_waiting,bytes_unsent,peers";
  out += rates.empty() ? "\n"
                       : ",received_per_second,sent_per_second,position_per_second,"
                         "queue_per_second\n";
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    const Descriptor& one = descriptors[i];
    std::vector<std::string> peers;
    for (const Holder& peer : one.peers) {
      peers.push_back(fmt::format("{}:{}", peer.pid, peer.fd));
    }
    out += fmt::format("{},{},{},{},{},{},{},{}{}\n",
                       one.fd,
                       descriptor_kind_name(one.kind),
                       csv_field(to_utf8(one.target)),
                       csv_field(to_utf8(one.detail)),
                       one.deleted ? "true" : "false",
                       number_or_empty(one.bytes_waiting),
                       number_or_empty(one.bytes_unsent),
                       csv_field(join(peers, ";")),
                       i < rates.size() ? rate_fields(rates[i]) : "");
  }
  return out;
}

}  // namespace tracso
