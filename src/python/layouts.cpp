#include "python/layouts.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tracso::python {
namespace {

// Printed by tests/support/python_offsets.c from the headers of each version. Patch releases may
// move fields (3.14 moved interpreter.modules), so nothing here is believed without the self-check
// of memory_locate.cpp.
// clang-format off
constexpr std::array known_layouts = {
    Layout{.minor = 8, .free_threaded = false,
           .interpreter = {.head = 32, .next = 0, .id = 16, .threads = 8, .modules = 56, .sysdict = 72},
           .object = {.bytes = 16, .type = 8, .cached_keys = 872, .ascii = 48, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 176, .native_id = 0, .frame = 24, .cframe_to = {}},
           .frame = {.previous = 24, .code = 32, .instruction = 104, .owner = 0, .locals = 360, .globals = 48, .copy = 0},
           .code = {.filename = 104, .name = 112, .first_line = 40, .qualified_name = 0, .instructions = 0, .line_table = 120, .copies = 0}},
    Layout{.minor = 9, .free_threaded = false,
           .interpreter = {.head = 32, .next = 0, .id = 24, .threads = 8, .modules = 856, .sysdict = 872},
           .object = {.bytes = 16, .type = 8, .cached_keys = 864, .ascii = 48, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 176, .native_id = 0, .frame = 24, .cframe_to = {}},
           .frame = {.previous = 24, .code = 32, .instruction = 104, .owner = 0, .locals = 360, .globals = 48, .copy = 0},
           .code = {.filename = 104, .name = 112, .first_line = 40, .qualified_name = 0, .instructions = 0, .line_table = 120, .copies = 0}},
    Layout{.minor = 10, .free_threaded = false,
           .interpreter = {.head = 32, .next = 0, .id = 24, .threads = 8, .modules = 856, .sysdict = 872},
           .object = {.bytes = 16, .type = 8, .cached_keys = 872, .ascii = 48, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 176, .native_id = 0, .frame = 24, .cframe_to = {}},
           .frame = {.previous = 24, .code = 32, .instruction = 96, .owner = 0, .locals = 352, .globals = 48, .copy = 0},
           .code = {.filename = 104, .name = 112, .first_line = 40, .qualified_name = 0, .instructions = 0, .line_table = 120, .copies = 0}},
    Layout{.minor = 11, .free_threaded = false,
           .interpreter = {.head = 40, .next = 0, .id = 48, .threads = 16, .modules = 888, .sysdict = 904},
           .object = {.bytes = 16, .type = 8, .cached_keys = 872, .ascii = 48, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 152, .native_id = 160, .frame = 56, .cframe_to = 8},
           .frame = {.previous = 48, .code = 32, .instruction = 56, .owner = 69, .locals = 72, .globals = 8, .copy = 0, .entry = 68},
           .code = {.filename = 112, .name = 120, .first_line = 72, .qualified_name = 128, .instructions = 184, .line_table = 136, .copies = 0}},
    Layout{.minor = 12, .free_threaded = false,
           .interpreter = {.head = 40, .next = 0, .id = 8, .threads = 72, .modules = 944, .sysdict = 352},
           .object = {.bytes = 16, .type = 8, .cached_keys = 880, .ascii = 40, .compact = 56},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 136, .native_id = 144, .frame = 56, .cframe_to = 0},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70, .locals = 72, .globals = 24, .copy = 0},
           .code = {.filename = 112, .name = 120, .first_line = 68, .qualified_name = 128, .instructions = 192, .line_table = 136, .copies = 0}},
    Layout{.minor = 13, .free_threaded = false,
           .interpreter = {.head = 632, .next = 7264, .id = 7272, .threads = 7344, .modules = 7656, .sysdict = 7640},
           .object = {.bytes = 16, .type = 8, .cached_keys = 880, .ascii = 40, .compact = 56},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 152, .native_id = 160, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70, .locals = 72, .globals = 24, .copy = 0},
           .code = {.filename = 112, .name = 120, .first_line = 68, .qualified_name = 128, .instructions = 200, .line_table = 136, .copies = 0}},
    Layout{.minor = 13, .free_threaded = true,
           .interpreter = {.head = 632, .next = 7264, .id = 7272, .threads = 7344, .modules = 7664, .sysdict = 7648},
           .object = {.bytes = 32, .type = 24, .cached_keys = 896, .ascii = 56, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 152, .native_id = 160, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70, .locals = 72, .globals = 24, .copy = 0},
           .code = {.filename = 128, .name = 136, .first_line = 84, .qualified_name = 144, .instructions = 216, .line_table = 152, .copies = 0}},
    Layout{.minor = 14, .free_threaded = false,
           .interpreter = {.head = 808, .next = 7272, .id = 7280, .threads = 7344, .modules = 7688, .sysdict = 7672},
           .object = {.bytes = 16, .type = 8, .cached_keys = 880, .ascii = 40, .compact = 56},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 152, .native_id = 160, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 74, .locals = 80, .globals = 24, .copy = 0},
           .code = {.filename = 112, .name = 120, .first_line = 68, .qualified_name = 128, .instructions = 208, .line_table = 136, .copies = 0}},
    Layout{.minor = 14, .free_threaded = true,
           .interpreter = {.head = 808, .next = 7272, .id = 7280, .threads = 7344, .modules = 7712, .sysdict = 7696},
           .object = {.bytes = 32, .type = 24, .cached_keys = 896, .ascii = 56, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 152, .native_id = 160, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 78, .locals = 80, .globals = 24, .copy = 72},
           .code = {.filename = 128, .name = 136, .first_line = 84, .qualified_name = 144, .instructions = 232, .line_table = 152, .copies = 224}},
    Layout{.minor = 15, .free_threaded = false,
           .interpreter = {.head = 936, .next = 7264, .id = 7272, .threads = 7336, .modules = 7592, .sysdict = 7576},
           .object = {.bytes = 16, .type = 8, .cached_keys = 888, .ascii = 40, .compact = 56},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 176, .native_id = 184, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 74, .locals = 80, .globals = 24, .copy = 0},
           .code = {.filename = 112, .name = 120, .first_line = 68, .qualified_name = 128, .instructions = 208, .line_table = 136, .copies = 0}},
    Layout{.minor = 15, .free_threaded = true,
           .interpreter = {.head = 936, .next = 7264, .id = 7272, .threads = 7336, .modules = 7592, .sysdict = 7576},
           .object = {.bytes = 32, .type = 24, .cached_keys = 904, .ascii = 56, .compact = 72},
           .thread = {.next = 8, .interpreter = 16, .thread_id = 176, .native_id = 184, .frame = 72, .cframe_to = {}},
           .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 78, .locals = 80, .globals = 24, .copy = 72},
           .code = {.filename = 128, .name = 136, .first_line = 84, .qualified_name = 144, .instructions = 232, .line_table = 152, .copies = 224}},
};

// Where _Py_DebugOffsets of each minor says it: bytes from its start. The first four groups of
// words (cookie to interpreters_head, and id, next, threads_head) have never moved.
struct DebugOffsets {
  std::uint32_t minor;
  struct { std::uint32_t modules, sysdict; } interpreter;
  struct { std::uint32_t next, interpreter, frame, thread_id, native_id; } thread;
  struct { std::uint32_t previous, code, instruction, locals, owner; } frame;
  struct { std::uint32_t filename, name, qualified_name, line_table, first_line, instructions; } code;
  struct { std::uint32_t bytes, type, ascii; } object;
};

constexpr std::array debug_offsets = {
    DebugOffsets{13, {88, 96}, {168, 176, 184, 192, 200}, {232, 240, 248, 256, 264}, {280, 288, 296, 304, 312, 344}, {352, 360, 560}},
    DebugOffsets{14, {96, 104}, {192, 200, 208, 216, 224}, {256, 264, 272, 280, 288}, {320, 328, 336, 344, 352, 384}, {400, 408, 640}},
    DebugOffsets{15, {96, 104}, {192, 200, 208, 240, 248}, {320, 328, 336, 344, 352}, {384, 392, 400, 408, 416, 448}, {464, 472, 736}},
};
// clang-format on

// Of _Py_DebugOffsets, in every version: bytes from its start.
constexpr std::uint32_t version_at = 8, free_threaded_at = 16, head_at = 40, id_at = 56,
                        next_at = 64, threads_at = 72;

class Words {
 public:
  explicit Words(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint32_t at(std::uint32_t bytes) {
    const std::size_t index = bytes / sizeof(std::uint64_t);
    if (index >= words_.size() || words_[index] > largest_offset) {
      absurd_ = true;
      return 0;
    }
    return static_cast<std::uint32_t>(words_[index]);
  }

  bool absurd() const { return absurd_; }

 private:
  std::span<const std::uint64_t> words_;
  bool absurd_ = false;
};

void take_all(const DebugOffsets& places, Words& words, Layout& layout) {
  layout.interpreter.modules = words.at(places.interpreter.modules);
  layout.interpreter.sysdict = words.at(places.interpreter.sysdict);
  layout.thread.next = words.at(places.thread.next);
  layout.thread.interpreter = words.at(places.thread.interpreter);
  layout.thread.frame = words.at(places.thread.frame);
  layout.thread.thread_id = words.at(places.thread.thread_id);
  layout.thread.native_id = words.at(places.thread.native_id);
  layout.frame.previous = words.at(places.frame.previous);
  layout.frame.code = words.at(places.frame.code);
  layout.frame.instruction = words.at(places.frame.instruction);
  layout.frame.locals = words.at(places.frame.locals);
  layout.frame.owner = words.at(places.frame.owner);
  layout.code.filename = words.at(places.code.filename);
  layout.code.name = words.at(places.code.name);
  layout.code.qualified_name = words.at(places.code.qualified_name);
  layout.code.line_table = words.at(places.code.line_table);
  layout.code.first_line = words.at(places.code.first_line);
  layout.code.instructions = words.at(places.code.instructions);
  layout.object.bytes = words.at(places.object.bytes);
  layout.object.type = words.at(places.object.type);
  layout.object.ascii = words.at(places.object.ascii);
}

}  // namespace

std::span<const Layout> layouts() {
  return known_layouts;
}

const Layout* find_layout(std::uint32_t minor, bool free_threaded) {
  const auto found =
      std::find_if(known_layouts.begin(), known_layouts.end(), [&](const Layout& row) {
        return row.minor == minor && row.free_threaded == free_threaded;
      });
  return found == known_layouts.end() ? nullptr : &*found;
}

std::optional<Layout> layout_from_debug_offsets(std::span<const std::uint64_t> words) {
  if (words.size() < debug_offsets_words || std::memcmp(words.data(), "xdebugpy", 8) != 0) {
    return std::nullopt;
  }
  const std::uint64_t version = words[version_at / 8];
  const bool free_threaded = words[free_threaded_at / 8] == 1;
  const auto minor = static_cast<std::uint32_t>(version >> 16U & 0xffU);
  if (version >> 24U != 3 || minor < debug_offsets.front().minor) {
    return std::nullopt;
  }
  const std::uint32_t newest = debug_offsets.back().minor;
  Layout layout = *find_layout(std::min(minor, newest), free_threaded);
  layout.minor = minor;
  Words offsets(words);
  layout.interpreter.head = offsets.at(head_at);
  layout.interpreter.id = offsets.at(id_at);
  layout.interpreter.next = offsets.at(next_at);
  layout.interpreter.threads = offsets.at(threads_at);
  if (minor <= newest) {
    take_all(debug_offsets[minor - debug_offsets.front().minor], offsets, layout);
  } else {
    layout.interpreter.modules = offsets.at(debug_offsets.back().interpreter.modules);
    layout.interpreter.sysdict = offsets.at(debug_offsets.back().interpreter.sysdict);
  }
  const bool usable = layout.object.bytes == 16 || layout.object.bytes == 32;
  return usable && !offsets.absurd() ? std::optional(layout) : std::nullopt;
}

}  // namespace tracso::python
