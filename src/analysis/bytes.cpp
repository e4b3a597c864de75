#include "analysis/bytes.hpp"

#include <limits>

namespace tracso {

namespace {

/// The figure of anything that has the three.
template <class Figures>
std::optional<std::uint64_t> figure(const Figures& figures, ByteKind kind) {
  switch (kind) {
    case ByteKind::resident:
      return figures.resident;
    case ByteKind::private_bytes:
      return figures.private_bytes;
    case ByteKind::file:
      break;
  }
  return figures.file;
}

}  // namespace

std::optional<std::uint64_t> bytes_of(const Cost& cost, ByteKind kind) {
  return figure(cost, kind);
}

std::optional<std::uint64_t> bytes_of(const Package& package, ByteKind kind) {
  return figure(package, kind);
}

std::optional<std::uint64_t> bytes_of(const Totals& totals, ByteKind kind) {
  return figure(totals, kind);
}

void ByteSum::add(std::optional<std::uint64_t> bytes) {
  if (!bytes) {
    is_complete_ = false;
    return;
  }
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - known_;
  known_ = *bytes > room ? std::numeric_limits<std::uint64_t>::max() : known_ + *bytes;
}

void CostSum::add(const Cost& cost) {
  file.add(cost.file);
  resident.add(cost.resident);
  private_bytes.add(cost.private_bytes);
}

const ByteSum& CostSum::of(ByteKind kind) const {
  switch (kind) {
    case ByteKind::resident:
      return resident;
    case ByteKind::private_bytes:
      return private_bytes;
    case ByteKind::file:
      break;
  }
  return file;
}

}  // namespace tracso
