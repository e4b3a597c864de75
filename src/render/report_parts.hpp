#pragma once
// What a row of the report holds beside the name: all of it, unless a terminal is too narrow.

#include "tracso/renderer.hpp"

#include "render/text/columns.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tracso {

class ReportParts {
 public:
  /// `costs`: resident and private bytes are wanted. The bytes that rank (`by`) go last.
  ReportParts(const RenderOptions& options, bool costs, ByteKind by);

  /// "(5 libs)", "3 py".
  bool counts() const { return counts_; }

  void add_file(Line& line, const std::string& size) const;
  void add_bar(Line& line, double part) const;
  void add_costs(Line& line,
                 const std::optional<std::uint64_t>& resident,
                 const std::optional<std::uint64_t>& private_bytes) const;
  /// As wide as add_costs makes its columns; empty: there are none.
  std::string cost_titles() const;

 private:
  bool unicode_;
  bool bar_ = true, counts_ = true;
  bool file_ = true, resident_ = false, private_ = false;
};

}  // namespace tracso
