#pragma once
// Where the unwind tables of the code at an address lie in memory (.eh_frame_hdr, LSB Core,
// "Exception Frames").

#include "tracso/mapping.hpp"
#include "tracso/target.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tracso::dump {

/// Addresses in the process.
struct UnwindTables {
  std::uint64_t code_start = 0, code_end = 0;  ///< of the object
  std::uint64_t header = 0;                    ///< .eh_frame_hdr; its sorted table counts from here
  std::uint64_t table = 0, entries = 0;        ///< pairs of 32-bit numbers
};

class UnwindTableFinder {
 public:
  explicit UnwindTableFinder(const ProcessSource& process) : process_(process) {}

  void restart(const std::vector<Mapping>& mappings) {
    mappings_ = &mappings;
    known_.clear();
  }

  /// nullopt: no object there, or one without a sorted table.
  std::optional<UnwindTables> at(std::uint64_t address);

 private:
  std::optional<UnwindTables> read(std::uint64_t object) const;

  const ProcessSource& process_;
  const std::vector<Mapping>* mappings_ = nullptr;
  std::map<std::uint64_t, std::optional<UnwindTables>> known_;  // by the object's first byte
};

}  // namespace tracso::dump
