#pragma once
// CPython objects as bytes of another process: str, int, dict and the attributes of an instance.
// Nothing is trusted: what does not look like the object it should be is "unreadable".

#include "python/layouts.hpp"
#include "python/memory_reader.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracso::python {

/// The keys tracso looks for in dicts. `other` is every other key.
enum class Name : std::uint8_t {
  other,
  file,
  spec,
  origin,
  hexversion,
  modules,
  module_name,
  name,
  asyncio_tasks,
  all_tasks,
  scheduled_tasks,
  eager_tasks,
  data,
  thread_id,
  greenlet,
  module,
  threading,
  active_threads,
  thread_name
};
constexpr std::size_t name_count = 19;

enum class Lookup : std::uint8_t { found, absent, unreadable };

/// Whether the entries of a dict must be as many as it says.
enum class Count : std::uint8_t { exact, any };

/// What a look into a dict or at an attribute gave; object is 0 unless found.
struct Found {
  Lookup state = Lookup::absent;
  std::uint64_t object = 0;
};

/// The table of a dict (PyDictKeysObject, Include/internal/pycore_dict.h).
struct DictKeys {
  std::uint64_t indices = 0, entries = 0;  ///< addresses
  std::uint64_t slots = 0;                 ///< a power of two
  std::uint64_t count = 0;                 ///< entries in use, deleted ones among them
  std::uint32_t index_bytes = 0;           ///< 1, 2, 4 or 8
  std::uint32_t entry_bytes = 0;           ///< 24 (hash, key, value), 16 (key, value)
};

struct DictEntry {
  std::uint64_t key = 0, value = 0;
  bool operator==(const DictEntry&) const = default;
};

/// Where an instance keeps its attributes: a dict, or an array beside the keys of its type.
struct InstanceStorage {
  std::uint64_t dict = 0;    ///< address of a dict; 0: none
  std::uint64_t values = 0;  ///< address of the array; 0: none
};

class Objects {
 public:
  Objects(MemoryReader& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  const Layout& layout() const { return layout_; }

  MemoryReader& memory() { return memory_; }

  /// Forgets everything read, for a new pass.
  void forget();
  /// The same, but keeps the hashes of names: they stay what they are as long as the interpreter
  /// lives, and so do the keys from which they were learnt if these are its own.
  void forget_objects();
  /// The same with limits of its own (MemoryReader::restart).
  void restart(ReadLimits limits);
  /// Says that the types will be asked for again that have been asked for so far.
  void plan_types();

  /// ob_type; 0: unreadable.
  std::uint64_t type_of(std::uint64_t object);
  /// tp_name: "module", "mypackage.Lazy"; empty: unreadable.
  std::string type_name(std::uint64_t type);
  /// The types in which an attribute of an instance is looked up after it: tp_mro, or the chain of
  /// tp_base where that is not kept; at most 64.
  std::vector<std::uint64_t> method_resolution_order(std::uint64_t type);
  /// tp_dict; 0: none (static types of 3.12 and later).
  std::uint64_t type_dict(std::uint64_t type);
  /// With the module before it, as a class statement leaves it: "app.models.Request"; what is built
  /// in or written in C as it calls itself: "dict", "collections.OrderedDict". A name that is empty
  /// is "(no name)", of a very long one this is the beginning and "...". nullopt: unreadable.
  std::optional<std::string> full_type_name(std::uint64_t type);

  /// A str or an instance of a subclass.
  bool is_text(std::uint64_t object);
  /// A str (or of a subclass) as bytes of the file system: UTF-8, a surrogate escape (PEP 383) as
  /// the byte it stands for. nullopt: another object, unreadable, or more than 65536 characters.
  std::optional<std::string> text(std::uint64_t object);
  /// The bytes of a bytes object; nullopt: another object, unreadable, or more than `limit`.
  std::optional<std::vector<std::byte>> bytes(std::uint64_t object, std::uint64_t limit);
  /// An int of less than 2^60.
  std::optional<std::int64_t> integer(std::uint64_t object);

  /// The live entries of a dict in order; nullopt: no dict, unreadable, more than 2^20 entries, or
  /// (when exact) not as many as the dict says, for then a thread is just changing it.
  std::optional<std::vector<DictEntry>> entries(std::uint64_t dict, Count count = Count::exact);
  /// One value, as CPython finds it: by hash where the hash of that name is known, else by looking
  /// at every key.
  Found find(std::uint64_t dict, Name name);
  /// Learns the hashes of names from the keys of a dict; true: nothing is left to learn.
  bool learn(const std::vector<DictEntry>& entries, std::span<const Name> wanted);
  /// Entries of a dict's table, deleted ones among them: what reading all would cost; nullopt:
  /// unreadable.
  std::optional<std::uint64_t> table_entries(std::uint64_t dict);

  /// Where an instance keeps its attributes.
  InstanceStorage storage(std::uint64_t object);
  /// An attribute of the instance itself; those of its type are not looked at.
  Found instance_attribute(std::uint64_t object, Name name);

  /// Plans what find(dict, name) will read: the header of the dict, then that of its table, then
  /// the slot, then the entry. Each step needs the one before to be fetched.
  void plan_dict(std::uint64_t dict);
  void plan_keys(std::uint64_t dict);
  void plan_slot(std::uint64_t dict, Name name);
  void plan_entry(std::uint64_t dict, Name name);

 private:
  struct KnownKey {
    std::uint64_t address = 0, hash = 0;
  };

  struct Dict {
    std::uint64_t used = 0;              // live entries
    std::uint64_t keys = 0, values = 0;  // addresses; values 0: they stand in the entries
  };

  std::uint64_t flags(std::uint64_t type);
  std::optional<std::string> long_type_name(std::uint64_t type);
  std::string characters(std::uint64_t object, std::uint64_t length, std::uint32_t state);
  Name name_of(std::uint64_t key);
  void fetch_names(const std::vector<DictEntry>& entries);
  std::optional<Dict> dict_at(std::uint64_t address);
  std::optional<DictKeys> keys_at(std::uint64_t address);
  std::optional<DictKeys> old_keys_at(std::uint64_t address);
  std::optional<std::int64_t> index_at(const DictKeys& keys, std::uint64_t slot);
  std::uint64_t key_at(const DictKeys& keys, std::uint64_t index);
  std::uint64_t value_at(const Dict& dict, const DictKeys& keys, std::uint64_t index);
  bool same_key(std::uint64_t key, Name name);
  std::optional<std::vector<DictEntry>> entries_of(const Dict& dict, Count count);
  Found find_by_hash(const Dict& dict, Name name);
  Found find_by_reading(const Dict& dict, Name name);
  Found find_in_values(std::uint64_t type, std::uint64_t values, Name name);

  const KnownKey& known(Name name) const { return known_[static_cast<std::size_t>(name)]; }

  MemoryReader& memory_;
  Layout layout_;
  std::unordered_map<std::uint64_t, Name> names_;  // of key objects
  std::vector<std::uint64_t> types_;  // of which the flags were asked for: the first few
  std::array<KnownKey, name_count> known_{};
};

}  // namespace tracso::python
