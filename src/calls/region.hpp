#pragma once
// What one traced process has written into the shared memory. It could have written anything:
// numbers are cut to what there is, indexes checked where they are used.

#include "agent/shared_layout.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracso::calls {

class Region {
 public:
  /// nullopt: its agent has not finished its start, or cannot be read. `fd` must outlive it.
  static std::optional<Region> read(int fd, std::uint32_t index);

  const tracso_head& head() const { return head_; }

  std::span<const tracso_object> objects() const { return objects_; }

  std::span<const tracso_slot> slots() const { return slots_; }

  /// The text at that offset of the names; empty: none there.
  std::string name(std::uint32_t offset) const;

  /// Path of an object; empty: there is none of that number.
  std::string path(std::uint32_t object) const;

  std::uint32_t threads() const { return threads_; }

  /// The counters of a thread, one per slot, and its number.
  std::vector<tracso_stat> counters(std::uint32_t thread, std::int32_t& id) const;
  /// The command line, words separated by spaces.
  std::string command() const;

 private:
  template <class T>
  bool get(std::vector<T>& into, std::uint64_t offset, std::size_t count) const;

  int fd_ = -1;
  std::uint64_t start_ = 0;
  tracso_head head_{};
  std::vector<tracso_object> objects_;
  std::vector<tracso_slot> slots_;
  std::string names_, program_;
  std::uint32_t threads_ = 0;
};

}  // namespace tracso::calls
