// tracso calls -o x.dot: libraries as nodes, an edge from each that calls to each that is called,
// the wider the more time was spent there (without times: the more calls).

#include "base/text.hpp"
#include "render/calls.hpp"
#include "render/dot_look.hpp"
#include "render/load_words.hpp"
#include "render/text/style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracso {
namespace {

struct CallEdge {
  std::string caller, callee;  ///< paths; where there is none the name
  std::uint64_t calls = 0, self_ns = 0, errors = 0;
};

// "1,234,567" is read at once, 1234567 is not.
std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

std::string time_text(std::uint64_t ns) {
  constexpr std::uint64_t million = 1'000'000;
  return ns < million ? fmt::format("{:.1f} us", static_cast<double>(ns) / 1000)
                      : milliseconds(static_cast<std::int64_t>(ns));
}

class CallPicture {
 public:
  CallPicture(const RenderOptions& options, const CallsReport& report, std::size_t limit)
      : options_(options), report_(report), timed_(report.mode != CallMode::count) {
    collect();
    shown_ = limit == 0 ? edges_.size() : std::min(limit, edges_.size());
  }

  std::string text() const {
    std::string out = head();
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < shown_; ++i) {
      for (const auto& path : {edges_[i].caller, edges_[i].callee}) {
        if (numbers.try_emplace(path, numbers.size()).second) {
          out += node(numbers[path], path);
        }
      }
    }
    for (std::size_t i = 0; i < shown_; ++i) {
      out += edge(edges_[i], numbers);
    }
    return out + "}\n";
  }

 private:
  void collect();
  std::string head() const;
  std::string node(std::size_t number, const std::string& path) const;
  std::string edge(const CallEdge& one, std::map<std::string, std::size_t>& numbers) const;

  double weight(const CallEdge& edge) const {
    return static_cast<double>(timed_ ? edge.self_ns : edge.calls);
  }

  const RenderOptions& options_;
  const CallsReport& report_;
  bool timed_;
  std::vector<CallEdge> edges_;  // the heaviest first
  std::set<std::string> programs_;
  std::size_t shown_ = 0;
};

void CallPicture::collect() {
  std::map<std::pair<std::string, std::string>, CallEdge> sums;
  for (const CallRow& row : report_.rows) {
    const auto& caller = row.caller_path.empty() ? row.caller : row.caller_path;
    const auto& callee = row.callee_path.empty() ? row.callee : row.callee_path;
    auto& edge = sums.try_emplace({caller, callee}, CallEdge{caller, callee}).first->second;
    edge.calls += row.calls;
    edge.self_ns += row.self_ns;
    edge.errors += row.errors;
  }
  for (auto& [ends, edge] : sums) {
    edges_.push_back(std::move(edge));
  }
  std::stable_sort(edges_.begin(), edges_.end(), [&](const auto& one, const auto& other) {
    return std::pair(weight(one), one.calls) > std::pair(weight(other), other.calls);
  });
  for (const CalledObject& object : report_.objects) {
    if (object.is_program) {
      programs_.insert(object.path);
    }
  }
}

std::string CallPicture::head() const {
  const std::string_view dot = glyphs(options_.unicode).dot;
  std::uint64_t calls = 0;
  std::uint64_t self_ns = 0;
  for (const CallEdge& edge : edges_) {
    calls += edge.calls;
    self_ns += edge.self_ns;
  }
  std::string title = "calls between libraries";
  if (!report_.command.empty()) {
    title = join(report_.command, " ");
  } else if (!report_.programs.empty()) {
    title = report_.programs.front().command;
  }
  constexpr std::size_t longest = 60;
  title = printable(title);
  title = title.size() > longest ? title.substr(0, longest) + "..." : title;
  title += fmt::format(" {} {} {}", dot, grouped(calls), calls == 1 ? "call" : "calls");
  if (timed_) {
    title += fmt::format(" {} {}", dot, time_text(self_ns));
  }
  if (shown_ < edges_.size()) {
    title += fmt::format(" {} {} of {} edges", dot, shown_, edges_.size());
  }
  return fmt::format(
      "digraph calls {{\n"
      "  label={};\n"
      "  labelloc=t; rankdir=LR; fontname=\"Helvetica\"; fontsize=16; ranksep=1.2; nodesep=0.25;\n"
      "  node [fontname=\"Helvetica\", fontsize=10, margin=\"0.08,0.03\", height=0.3];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.6];\n",
      dot_string(title));
}

std::string CallPicture::node(std::size_t number, const std::string& path) const {
  const std::string_view look = programs_.contains(path)
                                    ? R"(shape=box,style="filled,bold",fillcolor="#d4d4d8")"
                                    : R"(shape=box,style="rounded,filled",fillcolor="#dbeafe",)"
                                      R"(color="#3b82f6")";
  return fmt::format("  n{} [label={},tooltip={},{}];\n",
                     number,
                     dot_string(base_name(path)),
                     dot_string(path),
                     look);
}

// The width by the logarithm: one pair of libraries has millions of calls where others have ten.
std::string CallPicture::edge(const CallEdge& one,
                              std::map<std::string, std::size_t>& numbers) const {
  constexpr double thinnest = 0.6;
  constexpr double growth = 4.4;
  const double largest = std::log1p(weight(edges_.front()));
  const double part = largest == 0 ? 0 : std::log1p(weight(one)) / largest;
  std::vector<std::string> lines{grouped(one.calls) + (one.calls == 1 ? " call" : " calls")};
  if (timed_) {
    lines.push_back(time_text(one.self_ns));
  }
  if (one.errors != 0) {
    lines.push_back(grouped(one.errors) + (one.errors == 1 ? " error" : " errors"));
  }
  return fmt::format("  n{} -> n{} [label={},penwidth={:.2f},weight={},color=\"{}\"];\n",
                     numbers[one.caller],
                     numbers[one.callee],
                     dot_label(lines),
                     thinnest + growth * part * part,
                     1 + static_cast<int>(part * 10),
                     one.errors == 0 ? "#475569" : "#dc2626");
}

}  // namespace

std::string calls_dot(const RenderOptions& options, const CallsReport& report, std::size_t limit) {
  return CallPicture(options, report, limit).text();
}

}  // namespace tracso
