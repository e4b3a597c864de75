#pragma once
// A process whose loader's records are laid out by hand, as glibc has them, for either word size.

#include "tracso/mapping.hpp"

#include "proc/auxv.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso::test {

struct FakeObject {
  std::string name;
  std::uint64_t bias = 0, dynamic = 0;
  std::vector<std::string> requested;
  std::optional<std::size_t> requester;  ///< index of FakeLoader's objects
  std::uint32_t type = 1;                ///< l_type: 0 program, 1 startup, 2 dlopened
  std::uint32_t opens = 0;
  std::size_t space = 0;
  std::optional<std::size_t> real;  ///< a stand-in for that object
};

/// How the records are laid out.
struct FakeLayout {
  ElfClass elf_class = ElfClass::elf64;
  std::size_t info_words = 80;    ///< length of l_info
  std::uint32_t state = 0;        ///< r_state of the base namespace
  bool dt_debug = true;           ///< the program has DT_DEBUG
  bool marked = true;             ///< l_phdr, l_entry, l_phnum stand in the records
  std::uint64_t loader_base = 0;  ///< r_ldbase
};

/// The first object is the program.
class FakeLoader {
 public:
  FakeLoader(FakeLayout layout, std::vector<FakeObject> objects);

  FakeProcess process;
  proc::Auxv auxv;
  std::vector<Mapping> mappings;  ///< one page around each object's dynamic section

  std::uint64_t record(std::size_t object) const { return records_.at(object); }

  /// The bytes all records and names lie in.
  std::string& heap() { return process.memory.at(heap_start_); }

  std::uint64_t heap_start() const { return heap_start_; }

  /// Overwrites a word of the heap.
  void poke(std::uint64_t address, std::uint64_t value);

  /// Address of the r_debug of a namespace.
  std::uint64_t debug(std::size_t space) const { return debugs_.at(space); }

  std::size_t word() const { return layout_.elf_class == ElfClass::elf32 ? 4 : 8; }

  /// Address of l_loader of an object.
  std::uint64_t requester_field(std::size_t object) const;

 private:
  std::uint64_t take(std::size_t bytes);
  std::uint64_t text(const std::string& value);
  std::uint64_t names(const std::vector<std::string>& values);
  void place_program();
  void place_records();
  void fill_record(std::size_t object);
  void fill_debugs();

  FakeLayout layout_;
  std::vector<FakeObject> objects_;
  std::uint64_t heap_start_ = 0, used_ = 0;
  std::vector<std::uint64_t> records_, debugs_;
};

/// A program with libc and ld.so, as most are.
std::vector<FakeObject> usual_objects();

}  // namespace tracso::test
