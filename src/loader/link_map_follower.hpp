#pragma once
// The link maps of a process that is stopped whenever its loader has changed them: what has come
// and gone since the last look.
//
// A loader that has done nothing but add objects to the one list of the process has put them at its
// end: then a look costs a few system calls, however many objects there are, and their names need
// not be read while the loader stands still: they stay in their place until it tells of its next
// change. Whatever else it did, or may have done, all lists are walked again.

#include "tracso/target.hpp"

#include "loader/link_map_walk.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracso::loader {

/// An object that has come.
struct NewObject {
  std::uint64_t record = 0;   ///< address of its link map: its name until it goes
  std::string name;           ///< l_name
  std::uint64_t bias = 0;     ///< l_addr
  std::uint64_t dynamic = 0;  ///< l_ld
  std::int64_t space = 0;     ///< its namespace
  /// l_ld of the object that it came for: glibc's l_loader, elsewhere the first that needs it; 0:
  /// none, or not known.
  std::uint64_t requester = 0;
  LinkMapEntry::Start start = LinkMapEntry::Start::unknown;  ///< unknown: not glibc
};

struct LinkMapChange {
  std::vector<std::uint64_t> gone;  ///< records; an address may come back as another object
  std::vector<NewObject> came;      ///< in load order, by namespace
};

class LinkMapFollower {
 public:
  /// `process` must outlive this.
  LinkMapFollower(const ProcessSource& process, ElfClass elf_class)
      : process_(process), elf_class_(elf_class) {}

  /// From now on no look is to be expected where something is about to be added. Instead the gap
  /// behind r_state changes then (launch/loader_gate.hpp).
  void expect_stamps() { stamped_ = true; }

  /// The gap behind r_state at the last glance.
  std::uint32_t stamp() const { return stamp_; }

  /// What is seen of the lists at a moment at which the loader stands still.
  enum class Sight : std::uint8_t {
    at_work,  ///< on one of them, or there is none yet: a later look tells what has changed
    grown,    ///< at its end only: take() has time until the loader tells of its next change
    changed   ///< take() is to be called before the loader goes on
  };

  /// One system call; where the lists have grown and the loader does not count its objects, one
  /// more for each new one.
  /// `along` is read in the same call.
  Sight glance(std::uint64_t r_debug, std::span<const Range> along = {});

  /// The bytes of what was read along; empty: not there.
  const std::vector<std::string>& along() const { return along_; }

  /// What has changed, after a glance that has not found the loader at work. nullopt: the lists
  /// could not be read; a later look tells of it.
  std::optional<LinkMapChange> take();

  /// Both at once; nullopt also where the loader is at work.
  std::optional<LinkMapChange> look(std::uint64_t r_debug);

  /// The record behind the last known one at the last glance; 0: none.
  std::uint64_t first_new() const { return seen_.last.empty() ? 0 : seen_.last[next_word]; }

  /// The last look found a list that could not be followed to its end.
  const std::string& problem() const { return problem_; }

 private:
  struct Known {
    RawEntry raw;
    std::string name;
    bool proxy = false;  // ld.so's stand-in in another namespace: no object of its own
  };

  /// What the loader was seen to do since the lists were read.
  enum class Since : std::uint8_t { nothing, adding, anything };

  struct Glance {
    std::uint64_t r_debug = 0;
    std::vector<std::uint64_t> debug;     // of the base namespace, from r_version on
    std::vector<std::uint64_t> last;      // of the last known record
    std::vector<std::uint64_t> variable;  // of spaces_
    bool grown = false;
    std::size_t ahead = 0;           // new records that are not walked yet
    std::vector<Known> came;         // without names
    std::vector<std::string> tails;  // their private fields
  };

  static constexpr std::size_t next_word = 3;  // of a record

  bool calibrate(std::uint64_t r_debug);
  void note_state(std::uint64_t state);
  bool has_only_grown() const;
  bool has_spaces() const;
  std::optional<std::size_t> loader_count() const;
  bool count_end();
  bool walk_end(SteadyMemory& memory, std::size_t most);
  LinkMapChange take_end(SteadyMemory& memory);
  std::optional<LinkMapChange> look_at_all(SteadyMemory& memory);
  /// `tails` of the private fields, in the same order; empty: not read yet.
  std::vector<NewObject> take_new(SteadyMemory& memory,
                                  std::span<const std::size_t> fresh,
                                  std::vector<std::string> tails);
  void read_names(SteadyMemory& memory, std::span<const std::size_t> fresh);
  void take_private(std::size_t place, std::string_view tail, NewObject& object) const;
  void find_who_needs(std::vector<NewObject>& objects) const;

  const ProcessSource& process_;
  ElfClass elf_class_;
  bool calibrated_ = false;
  std::size_t private_word_ = 0;
  std::uint64_t loader_ = 0;     // its record
  std::optional<Range> spaces_;  // where unchained namespaces lie
  Since since_ = Since::anything;
  bool counts_ = false;  // the loader has counted right
  bool stamped_ = false;
  std::uint32_t stamp_ = 0;
  Glance seen_;
  std::vector<std::string> along_;
  std::vector<Known> known_;
  std::string problem_;
};

}  // namespace tracso::loader
