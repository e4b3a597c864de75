#pragma once
// Reads another process's memory in many small pieces at the price of few system calls: lines of
// 512 bytes are kept for the length of one pass, and what a pass will need next is planned and
// fetched in one go. Limits make hostile or torn memory harmless.

#include "tracso/target.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracso::python {

struct ReadLimits {
  std::uint64_t bytes = std::uint64_t{512} << 20;  ///< read in all
  std::size_t lines = std::size_t{1} << 17;        ///< kept at once (64 MB)
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Bytes that somebody has read, and where: what was made of them is right while they stand there.
class Evidence {
 public:
  static constexpr std::uint64_t line_bytes = 512;

  /// A piece of it.
  struct Piece {
    std::uint64_t address = 0;
    std::span<const std::byte> bytes;
  };

  void add(std::uint64_t address, std::span<const std::byte> bytes);

  /// Whether all pieces pass a test.
  bool all_of(const std::function<bool(const Piece&)>& test) const;

  /// The lines of memory that it lies in, as address / line_bytes; none twice.
  const std::vector<std::uint64_t>& lines() const { return lines_; }

  std::size_t size() const { return bytes_.size(); }

 private:
  struct Place {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };

  std::vector<Place> places_;
  std::vector<std::byte> bytes_;  // of one after the other
  std::vector<std::uint64_t> lines_;
};

class MemoryReader {
 public:
  MemoryReader(const ProcessSource& process, ReadLimits limits);

  /// The whole of `into`, or false: not mapped, or a limit is reached.
  bool read(std::uint64_t address, std::span<std::byte> into);

  /// The value at that address; nullopt as above.
  template <class T>
  std::optional<T> value(std::uint64_t address) {
    T value{};
    if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) {
      return std::nullopt;
    }
    return value;
  }

  /// A word; 0 where it cannot be read, for then nothing can be found behind it either.
  std::uint64_t pointer(std::uint64_t address) { return value<std::uint64_t>(address).value_or(0); }

  /// A NUL-terminated text; nullopt: unreadable, or not ended within `limit` bytes.
  std::optional<std::string> text(std::uint64_t address, std::size_t limit);

  /// Says that these bytes will be read soon; addresses that cannot be are ignored.
  void plan(std::uint64_t address, std::uint64_t bytes);
  /// Reads what was planned and is not known yet.
  void fetch();

  /// Starts a new pass: nothing read so far is believed any more.
  void forget();
  /// Reads in one go what the last pass has asked for: one much like it will ask for most of it.
  void fetch_as_before();

  /// What is read from now on is remembered for prefetch(). Off in every new pass.
  void keep(bool on) {
    keeps_ = on;
    last_number_ = 0;
  }

  /// Reads in one go what keep() was on for in the last pass.
  void prefetch();

  /// What is read from now on is noted there too, and kept; null: no more.
  void note(Evidence* evidence) {
    notes_ = evidence;
    last_number_ = 0;
  }

  /// Supposes that these bytes still are what they were, and plans to read them. They are kept, and
  /// must not change before confirm() is asked or the next pass begins.
  void suppose(const Evidence& evidence);
  /// All that was supposed in this pass is so, or was when this pass read it. Nothing is supposed
  /// any more.
  bool confirm();

  /// These bytes need not be read any more.
  bool knows(std::uint64_t address, std::uint64_t bytes) const;

  /// The same for work that has limits of its own: what was spent before does not count.
  void restart(ReadLimits limits);

  /// A limit was reached: every further read fails.
  bool exhausted() const { return exhausted_; }

  /// Shortens the time that is left, for work during which the target stands still.
  void set_deadline(std::chrono::steady_clock::time_point deadline) { limits_.deadline = deadline; }

  /// Bytes read so far, over all passes.
  std::uint64_t bytes_read() const { return bytes_; }

 private:
  static constexpr std::uint64_t line_bytes = Evidence::line_bytes;
  static constexpr std::size_t chunk_lines = 256;

  struct Line {
    std::byte* bytes = nullptr;  // null: cannot be read
    bool asked = false;          // not only read along with others
    bool kept = false;
  };

  bool spend(std::uint64_t bytes);
  std::byte* new_line();
  void fetch_lines(std::vector<std::uint64_t>& lines);
  const Line* line(std::uint64_t number);
  Line* fetch_line(std::uint64_t number);
  bool read_directly(std::uint64_t address, std::span<std::byte> into);
  bool read_lines(std::uint64_t address, std::span<std::byte> into);

  void fill_gaps(std::vector<std::uint64_t>& numbers) const;
  bool holds(const Evidence::Piece& piece) const;

  bool is_known(std::uint64_t number) const { return lines_.find(number) != lines_.end(); }

  const ProcessSource& process_;
  ReadLimits limits_;

  std::unordered_map<std::uint64_t, Line> lines_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t used_lines_ = 0;
  std::uint64_t last_number_ = 0;  // of the line that was asked for last; 0: none
  const Line* last_line_ = nullptr;
  bool keeps_ = false;
  Evidence* notes_ = nullptr;
  std::vector<const Evidence*> supposed_;
  std::vector<std::uint64_t> planned_;
  std::vector<std::uint64_t> asked_before_;  // lines, in the last pass
  std::vector<std::uint64_t> kept_before_;
  std::uint64_t bytes_ = 0;
  std::uint32_t reads_ = 0;
  bool exhausted_ = false;
};

}  // namespace tracso::python
