#pragma once
// Sums of measured bytes that stay honest: one figure that is not known makes the sum not known.

#include "tracso/answers.hpp"
#include "tracso/graph.hpp"

#include <cstdint>
#include <optional>

namespace tracso {

/// The figure of that kind; nullopt: not measured.
std::optional<std::uint64_t> bytes_of(const Cost& cost, ByteKind kind);
std::optional<std::uint64_t> bytes_of(const Package& package, ByteKind kind);
std::optional<std::uint64_t> bytes_of(const Totals& totals, ByteKind kind);

/// Sums saturate: a document may claim any size, and a wrapped total would rank last.
class ByteSum {
 public:
  void add(std::optional<std::uint64_t> bytes);

  /// What was measured, however incomplete; for ranking.
  std::uint64_t known() const { return known_; }

  /// nullopt: at least one figure was not measured.
  std::optional<std::uint64_t> complete() const {
    return is_complete_ ? std::optional(known_) : std::nullopt;
  }

 private:
  std::uint64_t known_ = 0;
  bool is_complete_ = true;
};

/// The three sums of a set of libraries.
struct CostSum {
  ByteSum file, resident, private_bytes;

  void add(const Cost& cost);
  const ByteSum& of(ByteKind kind) const;
};

}  // namespace tracso
