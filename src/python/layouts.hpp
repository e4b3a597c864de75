#pragma once
// Where CPython keeps things: byte offsets of the fields tracso reads, one row per version.
// docs/howto/add-a-python-version.md says how a row is made and checked.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracso::python {

/// The first and the latest 3.x whose structures are known.
constexpr std::uint32_t oldest_minor = 8, newest_minor = 14;
/// Structures have some ten thousand bytes; what says more is no offset in one.
constexpr std::uint64_t largest_offset = std::uint64_t{1} << 20U;
/// The first field of a module, behind PyObject.
constexpr std::uint32_t module_dict = 0;
/// Of a set, counted from the end of PyObject, in every version.
constexpr std::uint32_t set_fill = 0, set_mask = 16, set_table = 24;
/// Since 3.14 references in frames have tags in the lowest bits; objects never do.
constexpr std::uint64_t tag_bits = 7;

/// _PyRuntimeState and PyInterpreterState (Include/internal/pycore_runtime.h, pycore_interp.h).
struct InterpreterLayout {
  std::uint32_t head = 0;     ///< _PyRuntimeState.interpreters.head
  std::uint32_t next = 0;     ///< the rest: of PyInterpreterState
  std::uint32_t id = 0;       ///< 0: the main interpreter
  std::uint32_t threads = 0;  ///< first PyThreadState
  std::uint32_t modules = 0;  ///< what sys.modules was at the start, a dict
  std::uint32_t sysdict = 0;  ///< the dict of the module sys
};

/// PyObject and the objects made of it. All other fields of objects are at the same distance from
/// `bytes` in every version.
struct ObjectLayout {
  std::uint32_t bytes = 0;        ///< sizeof(PyObject): 16, free-threaded 32
  std::uint32_t type = 0;         ///< PyObject.ob_type
  std::uint32_t cached_keys = 0;  ///< PyHeapTypeObject.ht_cached_keys
  std::uint32_t ascii = 0;        ///< sizeof(PyASCIIObject): characters of an ASCII str
  std::uint32_t compact = 0;      ///< sizeof(PyCompactUnicodeObject): of any other
};

/// PyThreadState. Until 3.10 a frame is an object; in 3.11 and 3.12 a _PyCFrame stands between.
struct ThreadLayout {
  std::uint32_t next = 0;
  std::uint32_t interpreter = 0;
  std::uint32_t thread_id = 0;             ///< pthread_self()
  std::uint32_t native_id = 0;             ///< kernel thread id; 0: not kept (before 3.11)
  std::uint32_t frame = 0;                 ///< current frame, or the _PyCFrame
  std::optional<std::uint32_t> cframe_to;  ///< from there: _PyCFrame.current_frame
};

/// PyFrameObject until 3.10, _PyInterpreterFrame since.
struct FrameLayout {
  std::uint32_t previous = 0;
  std::uint32_t code = 0;         ///< since 3.14 a tagged reference: mask the low bits
  std::uint32_t instruction = 0;  ///< until 3.10 f_lasti, an int; since 3.11 a pointer
  std::uint32_t owner = 0;        ///< 0: no such field (until 3.10)
  std::uint32_t locals = 0;       ///< first local variable; since 3.14 tagged
  std::uint32_t globals = 0;      ///< a dict
  std::uint32_t copy =
      0;  ///< which copy of the instructions it runs; 0: no such field, there is one
  std::uint32_t entry = 0;  ///< is_entry of 3.11: C code called it; 0: no such field
};

/// PyCodeObject.
struct CodeLayout {
  std::uint32_t filename = 0, name = 0, first_line = 0;
  std::uint32_t qualified_name = 0;  ///< 0: none (until 3.10)
  std::uint32_t instructions = 0;    ///< co_code_adaptive; 0: none (until 3.10)
  std::uint32_t line_table = 0;      ///< co_lnotab until 3.9, co_linetable since
  std::uint32_t copies =
      0;  ///< co_tlbc, an array of copies for threads; 0: none (not free-threaded)
};

struct Layout {
  std::uint32_t minor = 0;  ///< 11 of 3.11
  bool free_threaded = false;
  InterpreterLayout interpreter;
  ObjectLayout object;
  ThreadLayout thread;
  FrameLayout frame;
  CodeLayout code;
};

/// What has been at the same place since 3.8, counted from the end of PyObject
/// (ObjectLayout.bytes).
namespace body {
/// PyTypeObject
constexpr std::uint32_t type_name = 8, type_basicsize = 16, type_flags = 152, type_base = 240,
                        type_dict = 248, type_dictoffset = 272, type_mro = 328;
/// PyTupleObject; since 3.14 a hash stands before the items.
constexpr std::uint32_t tuple_size = 0, tuple_items = 8;
/// PyBytesObject
constexpr std::uint32_t bytes_size = 0, bytes_data = 16;
/// PyASCIIObject
constexpr std::uint32_t text_length = 0, text_hash = 8, text_state = 16;
/// PyLongObject: ob_size, since 3.12 lv_tag; then digits of 30 bits
constexpr std::uint32_t integer_size = 0, integer_digits = 8;
/// PyDictObject
constexpr std::uint32_t dict_used = 0, dict_keys = 16, dict_values = 24;
}  // namespace body

/// PyDictKeysObject until 3.10, counted from its start; entries have hash, key, value.
namespace old_table {
constexpr std::uint32_t slots = 8, count = 32, indices = 40;
}  // namespace old_table

/// PyDictKeysObject since 3.11: log2 of the slots, log2 of the bytes of the indices, kind.
namespace table {
constexpr std::uint32_t log2_slots = 8, log2_index_bytes = 9, kind = 10, count = 24, indices = 32;
}  // namespace table

/// PyDictValues since 3.13: capacity, size, embedded, valid (a byte each), then the values.
namespace value_array {
constexpr std::uint32_t valid = 3, first = 8;
}  // namespace value_array

/// The rows, oldest first.
std::span<const Layout> layouts();

/// nullptr: no row for that version.
const Layout* find_layout(std::uint32_t minor, bool free_threaded);

/// How much of _PyRuntime layout_from_debug_offsets looks at.
constexpr std::size_t debug_offsets_words = 112;

/// The layout that CPython 3.13 and later describe themselves: _Py_DebugOffsets, the first words of
/// _PyRuntime (Include/internal/pycore_debug_offsets.h). Of a version without a row here only the
/// words that have never moved are believed. nullopt: no such structure, or its values are absurd.
std::optional<Layout> layout_from_debug_offsets(std::span<const std::uint64_t> words);

}  // namespace tracso::python
