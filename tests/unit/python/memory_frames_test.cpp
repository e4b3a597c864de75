// Thread states and frames made of bytes: chains that never end, frames that run no code, and which
// thread state is a thread's.

#include "python/memory_frames.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <cstring>
#include <string>
#include <vector>

using namespace tracso;
using namespace tracso::python;

namespace {

constexpr std::uint64_t start = 0x7f0000000000;
constexpr std::uint64_t runtime = start, interpreter = start + 0x4000, threads = start + 0x8000,
                        frames = start + 0xa000;

// A runtime with one interpreter; thread states and frames are put where a test wants them.
class FakeFrames {
 public:
  explicit FakeFrames(std::uint32_t minor)
      : layout(*find_layout(minor, false)), bytes_(0x10000, '\0') {
    put(runtime + layout.interpreter.head, interpreter);
    put(interpreter + layout.interpreter.threads, threads);
  }

  void put(std::uint64_t address, std::uint64_t value) {
    std::memcpy(bytes_.data() + (address - start), &value, sizeof value);
  }

  // The thread state of that number; `next`: its follower's, 0: none.
  std::uint64_t thread(std::uint64_t number, std::uint64_t next, ThreadKey key) {
    const auto at = threads + number * 0x200;
    put(at + layout.thread.next, next == 0 ? 0 : threads + next * 0x200);
    put(at + layout.thread.thread_id, key.pointer);
    if (layout.thread.native_id != 0) {
      put(at + layout.thread.native_id, static_cast<std::uint64_t>(key.id));
    }
    return at;
  }

  void set_first_frame(std::uint64_t thread_state, std::uint64_t frame) {
    const auto at = thread_state + layout.thread.frame;
    if (layout.thread.cframe_to) {
      put(at, start + 0x9000);
      put(start + 0x9000 + *layout.thread.cframe_to, frame);
    } else {
      put(at, frame);
    }
  }

  // `owner`: only where the version has one.
  void frame(std::uint64_t at, std::uint64_t previous, std::uint64_t code, std::uint8_t owner = 0) {
    put(at + layout.frame.previous, previous);
    put(at + layout.frame.code, code);
    if (layout.frame.owner != 0) {
      bytes_[at + layout.frame.owner - start] = static_cast<char>(owner);
    }
  }

  const ProcessSource& process() {
    process_.memory[start] = bytes_;
    return process_;
  }

  Layout layout;

 private:
  std::string bytes_;
  test::FakeProcess process_;
};

std::vector<std::uint64_t> states_of(FakeFrames& fake, ThreadKey key) {
  MemoryReader memory(fake.process(), {});
  Objects objects(memory, fake.layout);
  return thread_states(objects, runtime, key);
}

Stack stack_of(FakeFrames& fake, std::uint64_t thread_state, std::size_t limit = 100) {
  MemoryReader memory(fake.process(), {});
  Objects objects(memory, fake.layout);
  return read_stack(objects, thread_state, limit);
}

using States = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("frames: a thread is known by its own pointer first", "[python][chain]") {
  FakeFrames fake(13);
  const auto one = fake.thread(0, 1, {77, 0x7e0000010000});
  const auto two = fake.thread(1, 0, {78, 0x7e0000020000});
  CHECK(states_of(fake, {78, 0x7e0000010000}) == States{one});  // another pid namespace
  CHECK(states_of(fake, {78, 0x7e0000030000}) == States{two});  // forked behind Python's back
  CHECK(states_of(fake, {1, 0x7e0000020900}) == States{two});   // the pointer is a bit above
  CHECK(states_of(fake, {78, 0}) == States{two});
  CHECK(states_of(fake, {1, 0x7e0000030000}).empty());
  CHECK(states_of(fake, {0, 0}).empty());
}

TEST_CASE("frames: the only thread of an old Python needs no pointer", "[python][chain]") {
  FakeFrames fake(9);
  const auto one = fake.thread(0, 0, {0, 0x7e0000010000});
  CHECK(states_of(fake, {77, 0}) == States{one});
  CHECK(states_of(fake, {77, 0x7e0000050000}).empty());
  fake.thread(0, 1, {0, 0x7e0000010000});
  fake.thread(1, 0, {0, 0x7e0000020000});
  CHECK(states_of(fake, {77, 0}).empty());
}

TEST_CASE("frames: a thread in two interpreters has two states, the outer one first",
          "[python][chain]") {
  FakeFrames fake(12);
  const auto inner = fake.thread(0, 1, {7, 0x7e0000010000});
  const auto outer = fake.thread(1, 0, {7, 0x7e0000010000});
  CHECK(states_of(fake, {7, 0x7e0000010000}) == States{outer, inner});
}

TEST_CASE("frames: lists that go in circles end", "[python][chain]") {
  for (const std::uint32_t minor : {8U, 10U, 11U, 12U, 14U}) {
    FakeFrames fake(minor);
    fake.put(interpreter + fake.layout.interpreter.next, interpreter);
    const auto one = fake.thread(0, 1, {7, 0x7e0000010000});
    fake.thread(1, 0, {8, 0x7e0000020000});
    fake.put(threads + 0x200 + fake.layout.thread.next, threads);
    CHECK(states_of(fake, {7, 0x7e0000010000}) == States{one});
    fake.set_first_frame(one, frames);
    fake.frame(frames, frames + 0x200, 0x1000);
    fake.frame(frames + 0x200, frames, 0x2000);
    const auto stack = stack_of(fake, one);
    CHECK(stack.frames.size() == 2);
    CHECK_FALSE(stack.whole);
  }
}

TEST_CASE("frames: what runs no code is passed over, tags are taken off", "[python][chain]") {
  FakeFrames fake(14);
  const auto one = fake.thread(0, 0, {7, 0x7e0000010000});
  fake.set_first_frame(one, frames);
  fake.frame(frames, frames + 0x200, 0x1001);
  fake.frame(frames + 0x200, frames + 0x400, 0x2000, 3);
  fake.frame(frames + 0x400, 0, 0x3000, 1);
  const auto stack = stack_of(fake, one);
  CHECK(stack.whole);
  REQUIRE(stack.frames.size() == 2);
  CHECK(stack.frames[0].code == 0x1000);
  CHECK(stack.frames[1].code == 0x3000);
}

TEST_CASE("frames: a limit or unreadable memory leaves a part", "[python][chain]") {
  FakeFrames fake(8);
  const auto one = fake.thread(0, 0, {0, 0x7e0000010000});
  fake.set_first_frame(one, frames);
  fake.frame(frames, frames + 0x200, 0x1000);
  fake.frame(frames + 0x200, 0x123456789000, 0x2000);
  CHECK(stack_of(fake, one).frames.size() == 2);
  CHECK_FALSE(stack_of(fake, one).whole);
  CHECK(stack_of(fake, one, 1).frames.size() == 1);
  CHECK_FALSE(stack_of(fake, one, 1).whole);
  fake.frame(frames + 0x200, 0, 0x2000);
  CHECK(stack_of(fake, one).whole);
  CHECK(stack_of(fake, one, 2).whole);
}
