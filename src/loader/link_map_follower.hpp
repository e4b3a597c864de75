#pragma once
// The link maps of a process that is stopped whenever its loader has changed them: what has come
// and gone since the last look. After the first look only what is new is read, so a look costs
// microseconds however many objects there are.

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

  /// For a process whose loader stands still. nullopt: the loader is at work on one of its lists,
  /// or has none yet; what has changed is told by a later look.
  std::optional<LinkMapChange> look(std::uint64_t r_debug);

  /// The last look found a list that could not be followed to its end.
  const std::string& problem() const { return problem_; }

 private:
  struct Known {
    RawEntry raw;
    std::string name;
    bool proxy = false;  // ld.so's stand-in in another namespace: no object of its own
  };

  bool calibrate();
  std::vector<std::uint64_t> all_r_debugs(std::uint64_t r_debug) const;
  std::vector<NewObject> take_new(SteadyMemory& memory, std::span<const std::size_t> fresh);
  void read_names(SteadyMemory& memory, std::span<const std::size_t> fresh);
  void read_private(SteadyMemory& memory,
                    std::span<const std::size_t> fresh,
                    std::vector<NewObject>& objects);
  void find_who_needs(std::vector<NewObject>& objects) const;

  const ProcessSource& process_;
  ElfClass elf_class_;
  bool calibrated_ = false;
  std::size_t private_word_ = 0;
  std::uint64_t loader_ = 0;  // its record
  std::vector<Known> known_;
  std::string problem_;
};

}  // namespace tracso::loader
