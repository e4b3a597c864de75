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
  /// `costs`: resident and private bytes are wanted. The bytes that rank (`by`) go last. `used`:
  /// calls were counted.
  ReportParts(const RenderOptions& options, bool costs, ByteKind by, bool used);

  /// "(5 libs)", "3 py".
  bool counts() const { return counts_; }

  void add_file(Line& line, const std::string& size) const;
  void add_bar(Line& line, double part) const;
  /// The same in a row that ends with add_use(): what goes into a pipe does without.
  void add_bar_beside_use(Line& line, double part) const;
  void add_costs(Line& line,
                 const std::optional<std::uint64_t>& resident,
                 const std::optional<std::uint64_t>& private_bytes) const;
  /// As wide as add_costs makes its columns; empty: there are none.
  std::string cost_titles() const;

  /// There is room for add_use().
  bool uses() const { return uses_; }

  /// How many calls into it, and of whom where there is room; "-": none, and none of its own.
  void add_use(Line& line, const CalledLibrary& use) const;

 private:
  bool unicode_;
  bool bar_ = true, counts_ = true;
  bool file_ = true, resident_ = false, private_ = false;
  bool uses_ = false, callers_ = true, bar_beside_use_ = true;
  std::size_t most_callers_ = 0;  ///< columns; 0: no limit
};

}  // namespace tracso
