#pragma once
// Our own documentation on a terminal: the Markdown that docs/ is written in, as text.

#include <cstddef>
#include <string>
#include <string_view>

namespace tracso {

struct MarkdownLook {
  std::size_t columns = 0;  ///< 0: paragraphs are one line each
  bool color = false;
};

/// Headings bold, paragraphs and list items wrapped, code as it is, tables as "first cell: the
/// rest", links as their text.
std::string markdown_text(std::string_view markdown, const MarkdownLook& look);

}  // namespace tracso
