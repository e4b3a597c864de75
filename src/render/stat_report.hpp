#pragma once
// The parts of the text of `tracso stat`: stat_text.cpp tells what was measured, and
// stat_process_text.cpp what the process has open, runs and has started.

#include "tracso/renderer.hpp"
#include "tracso/stat.hpp"

#include "base/text.hpp"
#include "render/attribution_text.hpp"
#include "render/text/columns.hpp"
#include "render/text/wrap.hpp"
#include "render/words.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracso {

class StatReport {
 public:
  StatReport(const RenderOptions& options, const Stat& stat) : options_(options), stat_(stat) {}

  std::string text();

 private:
  // `lead` is plain text that stands before the rest in a colour of its own.
  void line(std::string_view label,
            const std::string& text,
            std::string_view lead = "",
            Style style = Style::plain) {
    const WrapLook look{options_.width, label_columns + display_width(lead), label_columns};
    out_ += paint(options_.color, Style::bold, pad_right(label, label_columns)) +
            paint(options_.color && !lead.empty(), style, lead) + wrapped(text, look) + "\n";
  }

  void header();
  void notices();
  void memory();
  void memory_change();
  void samples();
  void used();
  void libraries();
  void descriptors();
  void descriptor_list(const std::vector<Descriptor>& descriptors, std::string_view label);
  void threads();
  void children();
  void tree();
  void activity();
  void runs();
  void budgets();
  std::size_t heaviest_columns() const;

  bool is_one_look() const { return !stat_.command && !stat_.wall_ns; }  // of a running process

  std::string outcome() const;

  const RenderOptions& options_;
  const Stat& stat_;
  std::string out_;
};

}  // namespace tracso
