#pragma once
// tracso help TOPIC: the documentation that was built in.

#include <span>
#include <string_view>

namespace tracso {

struct GuideTopic {
  std::string_view name;     ///< as it is asked for
  std::string_view summary;  ///< one line
  std::string_view text;     ///< Markdown, from docs/
};

std::span<const GuideTopic> guide_topics();

}  // namespace tracso
