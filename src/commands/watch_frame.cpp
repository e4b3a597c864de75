#include "commands/watch_frame.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "render/text/columns.hpp"
#include "render/text/sparkline.hpp"
#include "render/text/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

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

// A word that no line has room for; of a path the name at its end says most.
std::string shortened(std::string_view word, std::size_t columns, bool unicode) {
  constexpr std::size_t least_folder = 5;
  const std::string_view name = base_name(word);
  const std::size_t kept = display_width(name) + 1;
  return name.size() == word.size() || kept + least_folder > columns
             ? cut_middle(word, columns, unicode)
             : cut_end(directory_of(word), columns - kept, unicode) + "/" + std::string(name);
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
  // Broken between words; one that is too long for any line (a path) loses its middle.
  std::vector<std::string> lines_of(std::string_view text, std::size_t hang) const {
    const std::size_t room = size_.columns - std::min(size_.columns, hang);
    std::string words;
    bool first = true;
    for (const std::string_view word : split(text, ' ')) {  // empty ones too: blanks stay
      words += std::exchange(first, false) ? "" : " ";
      words += display_width(word) > room ? shortened(word, room, unicode_) : std::string(word);
    }
    const std::string broken = wrapped(words, {size_.columns, 0, hang});
    std::vector<std::string> lines;
    for (const std::string_view line : split(broken, '\n')) {
      lines.push_back(fitted(line, size_.columns));
    }
    return lines;
  }

  void add(std::string_view text, Paint paint = Paint::plain) {
    constexpr std::size_t hang = 2;
    for (std::string& line : lines_of(text, hang)) {
      frame_.lines.push_back({{std::move(line), paint}});
    }
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
    std::string start = fitted(
        pad_right(label, label_columns) + pad_left(value, value_columns) + "  ", size_.columns);
    const std::size_t columns = size_.columns - display_width(start);
    frame_.lines.push_back(
        {{std::move(start), Paint::plain}, {sparkline(values, columns, unicode_), Paint::accent}});
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
    if (all.empty()) {
      add("nothing has happened yet", Paint::dim);
    }
    // The newest stand last, and as many before them as there is room for.
    std::vector<std::string> lines;
    for (std::size_t i = all.size(); i > 0; --i) {
      auto one = event(all[i - 1]);
      if (lines.size() + one.size() > room) {
        break;
      }
      one.insert(one.end(), lines.begin(), lines.end());
      lines = std::move(one);
    }
    for (std::string& line : lines) {
      frame_.lines.push_back({{std::move(line), Paint::plain}});
    }
  }

  std::vector<std::string> event(const WatchEvent& one) const {
    constexpr std::size_t text_at = 31, narrow = 60;
    return lines_of(
        fmt::format("{:>8.1f} s  {:<18} {}", one.seconds, one.what, printable(one.text)),
        size_.columns < narrow ? 4 : text_at);
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
