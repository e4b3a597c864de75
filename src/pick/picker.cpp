#include "pick/picker.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace tracso::pick {
namespace {

constexpr std::array sort_keys{
    SortKey::memory, SortKey::pid, SortKey::user, SortKey::python, SortKey::command};
constexpr std::size_t longest_filter = 200;

std::string haystack(const proc::ProcessEntry& entry) {
  const std::string python = entry.python.empty()    ? ""
                             : entry.python == "yes" ? "python"
                                                     : "python " + entry.python;
  return lower_case(fmt::format("{} {} {} {} {} {}",
                                entry.pid,
                                entry.name,
                                entry.command,
                                entry.user,
                                entry.container,
                                python));
}

// By the key; equal ones by pid, so that the order never jumps. Those without a Python come last.
bool before(const proc::ProcessEntry& a, const proc::ProcessEntry& b, SortKey key) {
  switch (key) {
    case SortKey::memory:
      return std::tuple(b.resident_bytes, a.pid) < std::tuple(a.resident_bytes, b.pid);
    case SortKey::pid:
      return a.pid < b.pid;
    case SortKey::user:
      return std::tie(a.user, a.pid) < std::tie(b.user, b.pid);
    case SortKey::python:
      return std::tuple(a.python.empty(), std::string_view(b.python), a.pid) <
             std::tuple(b.python.empty(), std::string_view(a.python), b.pid);
    case SortKey::command:
      return std::tie(a.command, a.pid) < std::tie(b.command, b.pid);
  }
  return false;
}

void remove_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0U) == 0x80U) {
    text.pop_back();
  }
  if (!text.empty()) {
    text.pop_back();
  }
}

void remove_word(std::string& text) {
  const std::size_t end = text.find_last_not_of(' ');
  const std::size_t blank = end == std::string::npos ? end : text.find_last_of(' ', end);
  text.erase(blank == std::string::npos ? 0 : blank + 1);
}

}  // namespace

std::string_view sort_name(SortKey key) {
  static constexpr std::array<std::string_view, sort_keys.size()> names{
      "memory", "pid", "user", "python", "command"};
  return names[static_cast<std::size_t>(key)];
}

Picker::Picker(std::vector<proc::ProcessEntry> entries) {
  replace(std::move(entries));
}

void Picker::replace(std::vector<proc::ProcessEntry> entries) {
  const std::int32_t pid = selected() == nullptr ? 0 : selected()->pid;
  entries_ = std::move(entries);
  haystacks_.clear();
  std::transform(entries_.begin(), entries_.end(), std::back_inserter(haystacks_), haystack);
  asked_until_ = 0;
  refresh();
  select(pid);
}

void Picker::select(std::int32_t pid) {
  for (std::size_t row = 0; row < shown_.size(); ++row) {
    if (entries_[shown_[row]].pid == pid) {
      move_to(static_cast<std::ptrdiff_t>(row));
    }
  }
}

std::optional<std::size_t> Picker::unknown_python() const {
  for (std::size_t row = top_; row < std::min(top_ + height_, shown_.size()); ++row) {
    if (!entries_[shown_[row]].python_asked) {
      return shown_[row];
    }
  }
  while (asked_until_ < entries_.size() && entries_[asked_until_].python_asked) {
    ++asked_until_;
  }
  return asked_until_ < entries_.size() ? std::optional(asked_until_) : std::nullopt;
}

void Picker::set_python(std::size_t entry, std::string version) {
  entries_[entry].python = std::move(version);
  entries_[entry].python_asked = true;
  if (!entries_[entry].python.empty()) {
    haystacks_[entry] = haystack(entries_[entry]);
  }
}

void Picker::reorder() {
  if (sort_ != SortKey::python && filter_.empty()) {
    return;
  }
  const std::int32_t pid = selected() == nullptr ? 0 : selected()->pid;
  const bool at_top = cursor_ == 0;  // whose eye rests on the first row wants the first row
  refresh();
  if (!at_top) {
    select(pid);
  }
}

void Picker::refresh() {
  order();
  apply_filter();
}

void Picker::order() {
  ordered_.resize(entries_.size());
  std::iota(ordered_.begin(), ordered_.end(), std::size_t{0});
  std::sort(ordered_.begin(), ordered_.end(), [&](std::size_t a, std::size_t b) {
    return direction_ == Direction::natural ? before(entries_[a], entries_[b], sort_)
                                            : before(entries_[b], entries_[a], sort_);
  });
}

void Picker::apply_filter() {
  const std::string wanted = lower_case(filter_);
  const auto words = split_words(wanted, " ");
  shown_.clear();
  for (const std::size_t at : ordered_) {
    const std::string& text = haystacks_[at];
    if (std::all_of(words.begin(), words.end(), [&](std::string_view word) {
          return text.find(word) != std::string::npos;
        })) {
      shown_.push_back(at);
    }
  }
  top_ = cursor_ = 0;
}

void Picker::set_filter(std::string filter) {
  filter_ = std::move(filter);
  apply_filter();
}

void Picker::set_height(std::size_t rows) {
  height_ = std::max<std::size_t>(rows, 1);
  move_by(0);
}

void Picker::move_by(std::ptrdiff_t rows) {
  move_to(static_cast<std::ptrdiff_t>(cursor_) + rows);
}

// Keeps the row in view, and the view full as long as there are rows.
void Picker::move_to(std::ptrdiff_t row) {
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  cursor_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(std::min(row, last), 0));
  if (cursor_ < top_) {
    top_ = cursor_;
  } else if (cursor_ >= top_ + height_) {
    top_ = cursor_ - height_ + 1;
  }
  const std::size_t deepest = shown_.size() > height_ ? shown_.size() - height_ : 0;
  top_ = std::min(top_, deepest);
}

void Picker::next_sort(int step) {
  const int count = static_cast<int>(sort_keys.size());
  const int next = (static_cast<int>(sort_) + step + count) % count;
  sort_ = sort_keys[static_cast<std::size_t>(next)];
  direction_ = Direction::natural;
  refresh();
}

const proc::ProcessEntry* Picker::selected() const {
  return cursor_ < shown_.size() ? &entries_[shown_[cursor_]] : nullptr;
}

bool Picker::edit(const Key& key) {
  std::string text = filter_;
  switch (key.kind) {
    case Key::Kind::text:
      text += text.size() + key.text.size() <= longest_filter ? key.text : "";
      break;
    case Key::Kind::backspace:
      remove_character(text);
      break;
    case Key::Kind::delete_word:
      remove_word(text);
      break;
    case Key::Kind::clear:
      text.clear();
      break;
    default:
      return false;
  }
  if (text != filter_) {
    set_filter(std::move(text));
  }
  return true;
}

bool Picker::move(const Key& key) {
  const auto page = static_cast<std::ptrdiff_t>(height_);
  const auto all = static_cast<std::ptrdiff_t>(shown_.size());
  switch (key.kind) {
    case Key::Kind::up:
      move_by(-1);
      return true;
    case Key::Kind::down:
      move_by(1);
      return true;
    case Key::Kind::page_up:
      move_by(-page);
      return true;
    case Key::Kind::page_down:
      move_by(page);
      return true;
    case Key::Kind::home:
      move_to(0);
      return true;
    case Key::Kind::end:
      move_to(all);
      return true;
    default:
      return false;
  }
}

Outcome Picker::press(const Key& key) {
  if (edit(key) || move(key)) {
    return Outcome::going_on;
  }
  switch (key.kind) {
    case Key::Kind::next_sort:
    case Key::Kind::previous_sort:
      next_sort(key.kind == Key::Kind::next_sort ? 1 : -1);
      break;
    case Key::Kind::reverse_sort:
      direction_ = direction_ == Direction::natural ? Direction::reversed : Direction::natural;
      refresh();
      break;
    case Key::Kind::click:
    case Key::Kind::double_click:
      if (key.row >= height_ || top_ + key.row >= shown_.size()) {
        break;
      }
      move_to(static_cast<std::ptrdiff_t>(top_ + key.row));
      return key.kind == Key::Kind::double_click ? Outcome::accepted : Outcome::going_on;
    case Key::Kind::accept:
      return selected() == nullptr ? Outcome::going_on : Outcome::accepted;
    case Key::Kind::cancel:
      return Outcome::cancelled;
    case Key::Kind::rescan:
      return Outcome::rescan;
    default:
      break;
  }
  return Outcome::going_on;
}

}  // namespace tracso::pick
