#pragma once
// Choosing one of many processes: filter, order, selection and what is in view. No terminal here.

#include "proc/process_entry.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::pick {

enum class SortKey : std::uint8_t { memory, pid, user, python, command };

/// "memory", "pid", ...
std::string_view sort_name(SortKey key);

enum class Direction : std::uint8_t { natural, reversed };  ///< natural: largest memory first

/// A key or click, as the terminal told it.
struct Key {
  enum class Kind : std::uint8_t {
    none,
    text,       ///< `text` was typed
    backspace,  ///< take the last character of the filter away
    delete_word,
    clear,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    next_sort,
    previous_sort,
    reverse_sort,
    rescan,
    click,         ///< on row `row` of those in view
    double_click,  ///< the same, and take it
    accept,
    cancel
  };
  Kind kind = Kind::none;
  std::string text;
  std::size_t row = 0;
};

enum class Outcome : std::uint8_t { going_on, accepted, cancelled, rescan };

class Picker {
 public:
  explicit Picker(std::vector<proc::ProcessEntry> entries);

  /// A new list; filter and order stay, and the selected process if it is still there.
  void replace(std::vector<proc::ProcessEntry> entries);

  /// An entry of which nobody knows yet whether it is a Python: one in view, else the next of the
  /// list; nullopt: all are known.
  std::optional<std::size_t> unknown_python() const;
  /// What was found of it. Order and filter follow with reorder().
  void set_python(std::size_t entry, std::string version);
  /// Order and filter anew, if they look at the Python; the selected process stays selected.
  void reorder();

  /// Rows that are in view at once; at least one.
  void set_height(std::size_t rows);

  /// accepted: only with a process selected.
  Outcome press(const Key& key);

  /// Every word must occur in pid, name, command, user, container or Python version, in any case.
  void set_filter(std::string filter);

  const std::string& filter() const { return filter_; }

  SortKey sort() const { return sort_; }

  Direction direction() const { return direction_; }

  /// Of the entry list: those that pass the filter, in order.
  std::span<const std::size_t> shown() const { return shown_; }

  std::size_t total() const { return entries_.size(); }

  const proc::ProcessEntry& entry(std::size_t at) const { return entries_[at]; }

  /// The first row in view, and the selected one; indices into shown().
  std::size_t top() const { return top_; }

  std::size_t cursor() const { return cursor_; }

  std::size_t height() const { return height_; }

  /// nullptr: nothing passes the filter.
  const proc::ProcessEntry* selected() const;

 private:
  void refresh();
  void select(std::int32_t pid);
  void order();
  void apply_filter();
  void move_to(std::ptrdiff_t row);
  void move_by(std::ptrdiff_t rows);
  void next_sort(int step);
  bool edit(const Key& key);
  bool move(const Key& key);

  std::vector<proc::ProcessEntry> entries_;
  std::vector<std::string> haystacks_;  // per entry, lower case: what the filter looks in
  std::vector<std::size_t> ordered_, shown_;
  std::string filter_;
  SortKey sort_ = SortKey::memory;
  Direction direction_ = Direction::natural;
  std::size_t top_ = 0, cursor_ = 0, height_ = 1;
  mutable std::size_t asked_until_ = 0;  // of the entries, those before it are all known
};

}  // namespace tracso::pick
