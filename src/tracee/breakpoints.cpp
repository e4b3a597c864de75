#include "tracee/breakpoints.hpp"

#include "tracee/architecture.hpp"
#include "tracee/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace tracso::tracee {
namespace {

constexpr std::uint64_t page_bytes = 4096;

// The bytes of the aligned word around an address, so that no access leaves the page of the code.
struct Word {
  std::uint64_t address = 0;
  std::array<std::uint8_t, 8> bytes{};
  std::size_t offset = 0;  // of the address in the word
};

std::optional<Word> word_around(pid_t stopped, std::uint64_t address) {
  Word word;
  word.offset = address % 8;
  word.address = address - word.offset;
  const auto value = peek(stopped, word.address);
  if (!value || word.offset + breakpoint_code().size() > 8) {
    return std::nullopt;
  }
  std::memcpy(word.bytes.data(), &*value, 8);
  return word;
}

bool overwrite(pid_t stopped, Word word, std::span<const std::uint8_t> with) {
  std::copy(
      with.begin(), with.end(), word.bytes.begin() + static_cast<std::ptrdiff_t>(word.offset));
  std::uint64_t value = 0;
  std::memcpy(&value, word.bytes.data(), 8);
  return poke(stopped, word.address, value);
}

// Only where the breakpoint still stands: the program may have changed or unmapped its code.
void restore(pid_t stopped, std::uint64_t address, const std::array<std::uint8_t, 8>& original) {
  const auto code = breakpoint_code();
  const auto word = word_around(stopped, address);
  if (word && std::equal(code.begin(),
                         code.end(),
                         word->bytes.begin() + static_cast<std::ptrdiff_t>(word->offset))) {
    overwrite(stopped, *word, std::span(original).first(code.size()));
  }
}

}  // namespace

const Breakpoints::Site* Breakpoints::find(std::uint64_t address) const {
  const auto site = sites_.find(address);
  return site == sites_.end() ? nullptr : &site->second;
}

Result<Done> Breakpoints::insert(pid_t stopped, std::uint64_t address, AtBreakpoint then) {
  const std::string subject = fmt::format("address {:#x} of process {}", address, stopped);
  const auto code = breakpoint_code();
  if (code.empty()) {
    return Error{ErrorKind::unsupported, "watch", subject, "not on this processor", ""};
  }
  if (is_inserted(address)) {
    return Done{};
  }
  const Error denied{ErrorKind::denied, "watch", subject, "its memory cannot be changed", ""};
  const auto word = word_around(stopped, address);
  if (!word) {
    return denied;
  }
  Site site{{}, true, then};
  std::copy_n(word->bytes.begin() + static_cast<std::ptrdiff_t>(word->offset),
              code.size(),
              site.original.begin());
  tell_guardian(stopped, address, site);
  if (!overwrite(stopped, *word, code)) {
    if (guardian_) {
      guardian_->removed(address);
    }
    return denied;
  }
  sites_[address] = site;
  note_page(address);
  return Done{};
}

void Breakpoints::note_page(std::uint64_t address) {
  const std::uint64_t page = address - address % page_bytes;
  if (std::find(pages_.begin(), pages_.end(), page) == pages_.end()) {
    pages_.push_back(page);
  }
}

bool Breakpoints::replace(pid_t stopped,
                          std::uint64_t address,
                          std::span<const std::uint8_t> code,
                          Replaced replaced) {
  const std::uint64_t first = address - address % 8, end = address + code.size();
  if (replaced == Replaced::until_end && end > first + 8) {
    return false;
  }
  for (std::uint64_t at = first; at < end; at += 8) {
    const auto word = peek(stopped, at);
    if (!word) {
      return false;
    }
    std::array<std::uint8_t, 8> bytes{};
    std::memcpy(bytes.data(), &*word, 8);
    const std::uint64_t from = std::max(at, address), to = std::min(at + 8, end);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(from - address),
                to - from,
                bytes.begin() + static_cast<std::ptrdiff_t>(from - at));
    std::uint64_t now = 0;
    std::memcpy(&now, bytes.data(), 8);
    if (replaced == Replaced::until_end) {
      replaced_.push_back({at, *word, now, address - at, code.size()});
      tell_guardian(stopped, replaced_.back());
    }
    if (!poke(stopped, at, now)) {
      return false;
    }
    note_page(at);
  }
  return true;
}

void Breakpoints::put_originals(pid_t stopped) const {
  for (const Replacement& replacement : replaced_) {
    if (peek(stopped, replacement.address) == replacement.now) {
      poke(stopped, replacement.address, replacement.original);
    }
  }
}

void Breakpoints::remove(pid_t stopped, std::uint64_t address) {
  const auto site = sites_.find(address);
  if (site == sites_.end() || !site->second.inserted) {
    return;
  }
  restore(stopped, address, site->second.original);
  site->second.inserted = false;
  if (guardian_) {
    guardian_->removed(address);
  }
}

void Breakpoints::remove_all(pid_t stopped) {
  for (const auto& [address, site] : sites_) {
    remove(stopped, address);
  }
  put_originals(stopped);
  for (const Replacement& replacement : replaced_) {
    if (guardian_) {
      guardian_->removed(replacement.address + replacement.offset);
    }
  }
}

void Breakpoints::leave_to_guardian() {
  guardian_.reset();
  for (auto& [address, site] : sites_) {
    site.inserted = false;
  }
}

bool Breakpoints::lift(pid_t stopped, std::uint64_t address) const {
  const Site* site = find(address);
  if (site == nullptr || !site->inserted) {
    return false;
  }
  restore(stopped, address, site->original);
  return true;
}

bool Breakpoints::put_back(pid_t stopped, std::uint64_t address) const {
  const auto word = word_around(stopped, address);
  return word && overwrite(stopped, *word, breakpoint_code());
}

void Breakpoints::clean_copy(pid_t stopped) const {
  for (const auto& [address, site] : sites_) {
    clean_copy(stopped, address);
  }
  put_originals(stopped);
}

void Breakpoints::clean_copy(pid_t stopped, std::uint64_t address) const {
  const Site* site = find(address);
  if (site != nullptr && site->inserted) {
    restore(stopped, address, site->original);
  }
}

Breakpoints Breakpoints::copied(pid_t stopped) const {
  Breakpoints copy;
  const auto code = breakpoint_code();
  for (const auto& [address, site] : sites_) {
    const auto word = site.inserted ? word_around(stopped, address) : std::nullopt;
    if (word && std::equal(code.begin(),
                           code.end(),
                           word->bytes.begin() + static_cast<std::ptrdiff_t>(word->offset))) {
      copy.sites_[address] = site;
    }
  }
  copy.pages_ = pages_;
  copy.replaced_ = replaced_;
  copy.faults_ = faults_;
  return copy;
}

void Breakpoints::guard_all(pid_t stopped) {
  for (const auto& [address, site] : sites_) {
    if (site.inserted) {
      tell_guardian(stopped, address, site);
    }
  }
  for (const Replacement& replacement : replaced_) {
    tell_guardian(stopped, replacement);
  }
}

// One that knows this memory.
bool Breakpoints::has_guardian(pid_t stopped) {
  if (guardian_ && !guarded_) {
    guardian_->guard(stopped);
    guarded_ = true;
  }
  return guardian_ != nullptr;
}

void Breakpoints::tell_guardian(pid_t stopped, std::uint64_t address, const Site& site) {
  if (has_guardian(stopped)) {
    guardian_->inserting(address, site.original);
  }
}

void Breakpoints::tell_guardian(pid_t stopped, const Replacement& replacement) {
  if (!has_guardian(stopped)) {
    return;
  }
  std::array<std::uint8_t, 8> original{}, now{};
  std::memcpy(original.data(), &replacement.original, original.size());
  std::memcpy(now.data(), &replacement.now, now.size());
  guardian_->replacing(replacement.address + replacement.offset,
                       std::span(original).subspan(replacement.offset, replacement.size),
                       std::span(now).subspan(replacement.offset, replacement.size));
}

void Breakpoints::forget() {
  guarded_ = false;
  sites_.clear();
  replaced_.clear();
  faults_.clear();
  pages_.clear();
}

std::optional<std::uint64_t> Breakpoints::behind_fault(std::uint64_t fault) const {
  const auto found = faults_.find(fault);
  return found == faults_.end() ? std::nullopt : std::optional(found->second);
}

bool Breakpoints::is_inserted(std::uint64_t address) const {
  const Site* site = find(address);
  return site != nullptr && site->inserted;
}

bool Breakpoints::returns(std::uint64_t address) const {
  const Site* site = find(address);
  return site != nullptr && site->inserted && site->then == AtBreakpoint::returns;
}

std::size_t Breakpoints::count() const {
  return static_cast<std::size_t>(std::count_if(
      sites_.begin(), sites_.end(), [](const auto& entry) { return entry.second.inserted; }));
}

bool Breakpoints::is_known(std::uint64_t address) const {
  return find(address) != nullptr;
}

}  // namespace tracso::tracee
