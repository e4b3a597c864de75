// PyThreadState and its frames (Include/internal/pycore_frame.h, pycore_interpframe_structs.h).
// Frames lie where the interpreter put them: before 3.11 each is an object on the heap, since then
// most lie one after the other in a thread's own stack. Either way each names the one before it,
// and that is often in the same page: fetching pages halves the time.

#include "python/memory_frames.hpp"

#include "base/byte_view.hpp"
#include "python/address_space.hpp"
#include "python/layouts.hpp"
#include "python/line_tables.hpp"
#include "python/memory_locate.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::size_t most_threads = 16384;  // of all interpreters
constexpr std::uint64_t longest_line_table = std::uint64_t{4} << 20;
// glibc and musl keep what pthread_self() names right below the thread pointer of processors other
// than x86, where it is the pointer itself. No two threads are as near as this.
constexpr std::uint64_t longest_thread_block = 8192;
// Frames of this owner and above run no Python code: they mark where C called the interpreter
// ("<shim>", 3.12 and later).
constexpr std::uint8_t first_owner_without_code = 3;

template <class Test>
std::vector<std::uint64_t> addresses_where(const std::vector<ThreadState>& states, Test test) {
  std::vector<std::uint64_t> addresses;
  for (const auto& state : states) {
    if (test(state)) {
      addresses.push_back(state.address);
    }
  }
  return addresses;
}

// A thread's own pointer is certain. Its kernel id is another one in its own pid namespace than in
// ours, and after a fork that the interpreter was not told of.
std::vector<std::uint64_t> states_of(const std::vector<ThreadState>& states, ThreadKey thread) {
  auto found = addresses_where(states, [&](const ThreadState& state) {
    return thread.pointer != 0 && state.thread_id == thread.pointer;
  });
  if (found.empty()) {
    found = addresses_where(states, [&](const ThreadState& state) {
      return state.thread_id != 0 && state.thread_id < thread.pointer &&
             thread.pointer - state.thread_id < longest_thread_block;
    });
  }
  if (found.empty()) {
    found = addresses_where(states, [&](const ThreadState& state) {
      return state.native_id != 0 && state.native_id == static_cast<std::uint64_t>(thread.id);
    });
  }
  const bool unknowable = thread.pointer == 0 && states.size() == 1 && states[0].native_id == 0;
  return found.empty() && unknowable ? std::vector{states[0].address} : found;
}

// Notices when a list leads back into itself, at the latest after twice its length (R. P. Brent,
// 1980): what torn or hostile memory may do.
class CycleGuard {
 public:
  bool comes_back(std::uint64_t address) {
    if (address == mark_) {
      return true;
    }
    if (++steps_ == limit_) {
      mark_ = address;
      limit_ *= 2;
      steps_ = 0;
    }
    return false;
  }

 private:
  std::uint64_t mark_ = 0, steps_ = 0, limit_ = 1;
};

// The beginning of a frame, read at once.
class FrameHead {
 public:
  explicit FrameHead(const FrameLayout& layout) : layout_(layout) {
    const auto last =
        std::max({layout.previous, layout.code, layout.instruction, layout.owner, layout.globals}) +
        sizeof(std::uint64_t);
    bytes_ = last <= room_.size() ? std::span(room_).first(last) : std::span<std::byte>();
  }

  bool read(MemoryReader& memory, std::uint64_t address) {
    return !bytes_.empty() && memory.read(address, bytes_);
  }

  bool is_known(const MemoryReader& memory, std::uint64_t address) const {
    return !bytes_.empty() && memory.knows(address, bytes_.size());
  }

  std::uint64_t previous() const { return word(layout_.previous); }

  bool runs_code() const {
    return layout_.owner == 0 ||
           std::to_integer<std::uint8_t>(bytes_[layout_.owner]) < first_owner_without_code;
  }

  Frame frame(std::uint64_t address) const {
    return {address,
            word(layout_.code) & ~tag_bits,
            word(layout_.globals) & ~tag_bits,
            word(layout_.instruction),
            layout_.entry == 0 || bytes_[layout_.entry] != std::byte{0}};
  }

 private:
  std::uint64_t word(std::uint32_t offset) const {
    return ByteView(bytes_).get<std::uint64_t>(offset).value_or(0);
  }

  const FrameLayout& layout_;
  std::array<std::byte, 256> room_{};
  std::span<std::byte> bytes_;
};

// Distance in bytes from the first instruction to the current one. Free-threaded builds since 3.14
// give each thread its own copy of the instructions.
std::optional<std::int64_t> instruction_offset(Objects& objects, const Frame& frame) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  if (layout.minor <= 10) {
    const auto index = static_cast<std::int32_t>(frame.instruction);  // f_lasti, an int
    return layout.minor == 10 ? std::int64_t{index} * 2 : index;
  }
  auto first = frame.code + layout.code.instructions;
  if (layout.frame.copy != 0) {
    const auto index = memory.value<std::uint32_t>(frame.address + layout.frame.copy).value_or(0);
    const auto copies = index == 0 ? 0 : memory.pointer(frame.code + layout.code.copies);
    if (index != 0 && index >= memory.pointer(copies)) {
      return std::nullopt;
    }
    first = index == 0 ? first : memory.pointer(copies + 8 + std::uint64_t{8} * index);
  }
  return static_cast<std::int64_t>(frame.instruction - first);
}

}  // namespace

std::vector<ThreadState> all_thread_states(Objects& objects, std::uint64_t runtime) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  std::vector<ThreadState> states;
  std::unordered_set<std::uint64_t> seen;
  for (const auto& interpreter : interpreter_states(objects, runtime)) {
    for (auto at = memory.pointer(interpreter.address + layout.interpreter.threads);
         at != 0 && states.size() < most_threads && seen.insert(at).second;
         at = memory.pointer(at + layout.thread.next)) {
      const bool has_native_id = layout.thread.native_id != 0;
      states.push_back({at,
                        memory.pointer(at + layout.thread.thread_id),
                        has_native_id ? memory.pointer(at + layout.thread.native_id) : 0,
                        interpreter.address});
    }
  }
  return states;
}

std::vector<std::uint64_t> thread_states(Objects& objects,
                                         std::uint64_t runtime,
                                         ThreadKey thread) {
  auto found = states_of(all_thread_states(objects, runtime), thread);
  std::reverse(found.begin(), found.end());  // both lists begin with what was made last
  return found;
}

Stack read_stack(Objects& objects, std::uint64_t thread_state, std::size_t limit) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout();
  auto at = memory.pointer(thread_state + layout.thread.frame);
  if (layout.thread.cframe_to && at != 0) {
    at = memory.pointer(at + *layout.thread.cframe_to);
  }
  Stack stack;
  FrameHead head(layout.frame);
  CycleGuard guard;
  std::uint64_t page = 0;
  for (; at != 0; at = head.previous()) {
    if (at / page_bytes != page && !head.is_known(memory, at)) {
      page = at / page_bytes;
      memory.plan(page * page_bytes, page_bytes);
      memory.fetch();
    }
    if (stack.frames.size() == limit || guard.comes_back(at) || !head.read(memory, at)) {
      stack.whole = false;
      return stack;
    }
    if (head.runs_code()) {
      stack.frames.push_back(head.frame(at));
      auto& frame = stack.frames.back();
      frame.from_c = frame.from_c && (layout.minor <= 11 || head.previous() == 0);
    } else if (!stack.frames.empty()) {
      stack.frames.back().from_c = true;
    }
  }
  return stack;
}

std::optional<Frame> frame_at(Objects& objects, std::uint64_t address) {
  FrameHead head(objects.layout().frame);
  return head.read(objects.memory(), address) ? std::optional(head.frame(address)) : std::nullopt;
}

std::uint64_t first_local(Objects& objects, const Frame& frame) {
  return objects.memory().pointer(frame.address + objects.layout().frame.locals) & ~tag_bits;
}

std::optional<LineTable> line_table(Objects& objects, std::uint64_t code) {
  auto& memory = objects.memory();
  const auto& layout = objects.layout().code;
  const auto first_line = memory.value<std::uint32_t>(code + layout.first_line);
  auto bytes = objects.bytes(memory.pointer(code + layout.line_table), longest_line_table);
  return first_line && bytes ? std::optional(LineTable{*first_line, std::move(*bytes)})
                             : std::nullopt;
}

std::uint32_t current_line(Objects& objects, const Frame& frame, const LineTable& table) {
  const auto offset = instruction_offset(objects, frame);
  return offset
             ? line_of_instruction(objects.layout().minor, table.bytes, table.first_line, *offset)
             : 0;
}

std::uint32_t current_line(Objects& objects, const Frame& frame) {
  const auto table = line_table(objects, frame.code);
  return table ? current_line(objects, frame, *table) : 0;
}

}  // namespace tracso::python
