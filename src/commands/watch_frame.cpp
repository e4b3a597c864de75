#include "commands/watch_frame.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/sparkline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace tracso {
namespace {

using pick::FrameLine;
using pick::Paint;

constexpr std::size_t label_columns = 10;
constexpr std::size_t value_columns = 11;

// What a terminal shows of a text in so many columns; pieces are cut at characters.
std::string fitted(std::string_view text, std::size_t columns) {
  std::string out(text);
  while (!out.empty() && display_width(out) > columns) {
    do {
      const auto byte = static_cast<unsigned char>(out.back());
      out.pop_back();
      if ((byte & 0xC0U) != 0x80U) {
        break;
      }
    } while (!out.empty());
  }
  return out;
}

class WatchScreen {
 public:
  WatchScreen(const WatchState& state, pick::Size size, bool unicode)
      : state_(state), size_(size), unicode_(unicode) {}

  pick::Frame draw(const std::string& ended) {
    head(ended);
    if (!state_.samples().empty()) {
      figures();
    }
    classes();
    verdict();
    events();
    frame_.lines.resize(std::min(frame_.lines.size(), size_.rows));
    frame_.cursor_line = size_.rows - 1;
    return std::move(frame_);
  }

 private:
  void add(std::string_view text, Paint paint = Paint::plain) {
    frame_.lines.push_back({{fitted(text, size_.columns), paint}});
  }

  void head(const std::string& ended) {
    const double age = state_.samples().empty() ? 0 : state_.samples().back().seconds;
    add(fmt::format("tracso watch {} {}   {}   q ends",
                    state_.pid(),
                    printable(state_.name()),
                    ended.empty() ? "for " + duration_text(age) : printable(ended)),
        ended.empty() ? Paint::bold : Paint::warning);
    add("");
  }

  void figure(std::string_view label,
              const std::string& value,
              const std::function<double(const WatchSample&)>& get) {
    std::vector<double> values;
    for (const WatchSample& sample : state_.samples()) {
      values.push_back(get(sample));
    }
    const std::size_t left = label_columns + value_columns + 2;
    const std::size_t columns = size_.columns > left ? size_.columns - left : 0;
    frame_.lines.push_back(
        {{fitted(pad_right(label, label_columns) + pad_left(value, value_columns) + "  ",
                 size_.columns),
          Paint::plain},
         {sparkline(values, columns, unicode_), Paint::accent}});
  }

  void figures() {
    const WatchSample& now = state_.samples().back();
    figure("resident", size_text(now.look.resident), [](const WatchSample& one) {
      return static_cast<double>(one.look.resident);
    });
    if (now.private_bytes) {
      figure("private", size_text(*now.private_bytes), [](const WatchSample& one) {
        return static_cast<double>(one.private_bytes.value_or(0));
      });
    }
    const std::string limit =
        state_.descriptor_limit() ? fmt::format("/{}", *state_.descriptor_limit()) : "";
    figure("fds", std::to_string(now.look.descriptors) + limit, [](const WatchSample& one) {
      return static_cast<double>(one.look.descriptors);
    });
    figure("threads", std::to_string(now.look.threads), [](const WatchSample& one) {
      return static_cast<double>(one.look.threads);
    });
    figure("cpu", fmt::format("{:.0f}%", now.cpu_share * 100), [](const WatchSample& one) {
      return one.cpu_share;
    });
    if (now.children != 0) {
      figure("children",
             fmt::format("{} {}", now.children, size_text(now.children_resident)),
             [](const WatchSample& one) { return static_cast<double>(one.children_resident); });
    }
  }

  void classes() {
    if (!state_.classes()) {
      return;
    }
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < memory_class_count; ++i) {
      const MemoryUse& use = state_.classes()->uses[i];
      if (use.resident != 0) {
        parts.push_back(fmt::format(
            "{} {}", memory_class_name(static_cast<MemoryClass>(i)), size_text(use.resident)));
      }
    }
    add("");
    add("memory: " + join(parts, ", "));
  }

  void verdict() {
    add("growth: " + state_.verdict(), Paint::bold);
    if (const auto left = state_.descriptor_forecast()) {
      add(fmt::format("descriptors grow: the limit of {} is met in {}",
                      *state_.descriptor_limit(),
                      duration_text(*left)),
          Paint::warning);
    }
  }

  void events() {
    add("");
    const std::size_t room =
        size_.rows > frame_.lines.size() + 1 ? size_.rows - frame_.lines.size() - 1 : 0;
    const auto& all = state_.events();
    const std::size_t count = std::min(room, all.size());
    if (all.empty()) {
      add("nothing has happened yet", Paint::dim);
    }
    for (std::size_t i = all.size() - count; i < all.size(); ++i) {
      add(fmt::format(
          "{:>8.1f} s  {:<18} {}", all[i].seconds, all[i].what, printable(all[i].text)));
    }
  }

  const WatchState& state_;
  pick::Size size_;
  bool unicode_;
  pick::Frame frame_;
};

}  // namespace

pick::Frame watch_frame(const WatchState& state,
                        pick::Size size,
                        bool unicode,
                        const std::string& ended) {
  return WatchScreen(state, size, unicode).draw(ended);
}

}  // namespace tracso
