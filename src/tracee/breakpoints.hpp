#pragma once
// Breakpoint instructions in the memory of one traced process.
//
// A page that had one stays a private copy after the original bytes are back: 4 KiB of private
// memory that the process would not have without us. pages() names them, so that they can be told.

#include "tracso/result.hpp"

#include "tracee/guardian.hpp"

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tracso::tracee {

/// What becomes of a thread that has run into one.
enum class AtBreakpoint : std::uint8_t {
  stays,   ///< it stands at the address
  returns  ///< at the first instruction of a function that does nothing: it has returned from it
};

/// How long code stands that is no breakpoint.
enum class Replaced : std::uint8_t { until_end, for_good };

class Breakpoints {
 public:
  /// From now on it is told of all that is put where.
  void use(std::unique_ptr<Guardian> guardian) { guardian_ = std::move(guardian); }

  /// Null: there is none.
  Guardian* guardian() const { return guardian_.get(); }

  /// Puts one at an address. `stopped` is any stopped thread of the process. unsupported: not on
  /// this processor; denied: that memory cannot be changed.
  Result<Done> insert(pid_t stopped,
                      std::uint64_t address,
                      AtBreakpoint then = AtBreakpoint::stays);
  /// Puts the original bytes back. The address is remembered: threads that have already run into
  /// it may report so later.
  void remove(pid_t stopped, std::uint64_t address);
  /// Puts other code at an address, of a process that has no thread but `stopped`. What stands
  /// until the end, when remove_all() and clean_copy() put the original back, must lie in one
  /// aligned word of 8 bytes, and stand for a function that does nothing but return; the rest
  /// stays, for a thread may be about to run it. false: it cannot be put there.
  bool replace(pid_t stopped,
               std::uint64_t address,
               std::span<const std::uint8_t> code,
               Replaced replaced);
  void remove_all(pid_t stopped);
  /// The same where nobody of the process can be stopped: the guardian does it, and is no more.
  void leave_to_guardian();
  /// Takes one out for the moment in which a thread passes it; no other may run meanwhile. false:
  /// it is not inserted.
  bool lift(pid_t stopped, std::uint64_t address) const;
  /// Puts it back. false: that memory cannot be changed any more.
  bool put_back(pid_t stopped, std::uint64_t address) const;

  /// The program may have forbidden itself the instruction of ours at `fault`: a thread that it
  /// stops there counts as one that has run into the breakpoint at `address`.
  void add_fault(std::uint64_t fault, std::uint64_t address) { faults_[fault] = address; }

  bool has_faults() const { return !faults_.empty(); }

  /// The breakpoint for a fault there; nullopt: the fault is the program's own.
  std::optional<std::uint64_t> behind_fault(std::uint64_t fault) const;
  /// Puts the original bytes back in a process that has copied this one's memory (fork).
  void clean_copy(pid_t stopped) const;
  /// The same for one of them.
  void clean_copy(pid_t stopped, std::uint64_t address) const;
  /// What stands in a process that has copied this one's memory, `stopped` of it: those whose
  /// instruction is really there. Nobody guards them until use() and guard_all().
  Breakpoints copied(pid_t stopped) const;
  /// Tells a new guardian of all that stand.
  void guard_all(pid_t stopped);
  /// The memory is another one (exec): nothing is inserted and nothing is remembered.
  void forget();

  bool is_inserted(std::uint64_t address) const;
  /// Is a thread to return that has run into it?
  bool returns(std::uint64_t address) const;
  /// How many are.
  std::size_t count() const;
  /// Inserted now, or once and removed.
  bool is_known(std::uint64_t address) const;

  /// Start addresses of the pages that were changed, in the order of the changes.
  const std::vector<std::uint64_t>& pages() const { return pages_; }

 private:
  struct Site {
    std::array<std::uint8_t, 8> original{};
    bool inserted = false;
    AtBreakpoint then = AtBreakpoint::stays;
  };

  struct Replacement {
    std::uint64_t address = 0;  // of the word
    std::uint64_t original = 0, now = 0;
    std::size_t offset = 0, size = 0;  // of the code in the word
  };

  const Site* find(std::uint64_t address) const;
  void note_page(std::uint64_t address);
  void put_originals(pid_t stopped) const;
  bool has_guardian(pid_t stopped);
  void tell_guardian(pid_t stopped, std::uint64_t address, const Site& site);
  void tell_guardian(pid_t stopped, const Replacement& replacement);

  std::unique_ptr<Guardian> guardian_;
  bool guarded_ = false;  // it knows this memory
  std::map<std::uint64_t, Site> sites_;
  std::vector<Replacement> replaced_;  // until the end
  std::map<std::uint64_t, std::uint64_t> faults_;
  std::vector<std::uint64_t> pages_;
};

}  // namespace tracso::tracee
