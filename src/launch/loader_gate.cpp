#include "launch/loader_gate.hpp"

#include "base/unique_fd.hpp"
#include "tracee/gate.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace tracso::launch {
namespace {

constexpr std::uint64_t smallest_page = 4096;
// struct r_debug of 64 bits: int r_version, a gap; r_map; r_brk; int r_state, a gap; r_ldbase.
constexpr std::uint64_t state_offset = 24, gap_offset = 28;
static_assert(sizeof(void*) != 8 || offsetof(r_debug, r_state) == state_offset);
static_assert(sizeof(void*) != 8 || offsetof(r_debug, r_ldbase) == gap_offset + 4);

constexpr std::uint64_t align_up(std::uint64_t address, std::uint64_t to) {
  return (address + to - 1) / to * to;
}

template <std::size_t count>
std::array<std::uint8_t, count> code_at(const ProcessSource& process, std::uint64_t address) {
  std::array<std::uint8_t, count> code{};
  if (!process.read_memory(address, std::as_writable_bytes(std::span(code)))) {
    code.fill(0xff);
  }
  return code;
}

// Code ends somewhere in a page, and what is mapped behind it belongs to nobody. 0: no room there.
std::uint64_t room_behind(const elf::MemoryImage& image, std::uint64_t function) {
  const auto& headers = image.program_headers();
  const auto code = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    const std::uint64_t start = image.bias() + header.address;
    return header.type == PT_LOAD && (header.flags & PF_X) != 0 && function >= start &&
           function - start < header.file_bytes;
  });
  if (code == headers.end() || code->file_bytes != code->memory_bytes) {
    return 0;
  }
  const std::uint64_t end = image.bias() + code->address + code->file_bytes;
  const std::uint64_t room = align_up(end, 16), page_end = align_up(end, smallest_page);
  const bool shared = std::any_of(headers.begin(), headers.end(), [&](const auto& header) {
    const std::uint64_t start = image.bias() + header.address;
    return header.type == PT_LOAD && start >= end && start < page_end;
  });
  return shared || page_end - room < tracee::gate_bytes ? 0 : room;
}

// Empty: not readable.
std::string clock_source() {
  const UniqueFd file(open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                           O_RDONLY | O_CLOEXEC));
  std::array<char, 64> text{};
  const ssize_t size = read(file.get(), text.data(), text.size());
  return size <= 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
}

bool is_empty(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

bool is_steady_clock(std::string_view source) {
  return source == "tsc\n" || source == "hyperv_clocksource_tsc_page\n";
}

void make_loader_gate(tracee::Breakpoints& breakpoints,
                      const ProcessSource& process,
                      pid_t stopped,
                      const elf::MemoryImage& loader,
                      LoaderHook& hook) {
  constexpr std::size_t alignment_of_functions = 16;
  if (hook.word != 8 || hook.record == 0 || !is_steady_clock(clock_source())) {
    return;
  }
  tracee::GatePlaces places;
  places.function = hook.function;
  places.gate = room_behind(loader, hook.function);
  places.number = hook.record + state_offset;
  places.stamp = hook.record + gap_offset;
  const auto gate = tracee::make_gate(places, r_debug::RT_ADD);
  if (!gate || places.gate == 0 || gate->code.size() > tracee::gate_bytes ||
      !is_empty(code_at<tracee::gate_bytes>(process, places.gate)) ||
      !is_empty(code_at<4>(process, places.stamp)) ||
      !tracee::has_room_for_entry(code_at<alignment_of_functions>(process, hook.function))) {
    return;
  }
  using tracee::Replaced;
  if (breakpoints.replace(stopped, places.gate, gate->code, Replaced::for_good) &&
      breakpoints.replace(stopped, hook.function, gate->entry, Replaced::until_end)) {
    breakpoints.add_fault(gate->clock, gate->stop);
    hook.stop = gate->stop;
    hook.gated = true;
  }
}

StampClock::StampClock() : first_(read()) {}

// The two clocks are not read at once: of some pairs the one that took least is the best.
StampClock::Reading StampClock::read() {
  constexpr int tries = 3;
  Reading best;
  auto least = Clock::duration::max();
  for (int i = 0; i < tries; ++i) {
    const auto before = Clock::now();
    const std::uint64_t stamp = tracee::gate_clock().value_or(0);
    const auto taken = Clock::now() - before;
    if (taken < least) {
      least = taken;
      best = {before + taken / 2, stamp};
    }
  }
  return best;
}

std::optional<StampClock::Clock::time_point> StampClock::time_of(std::uint32_t stamp) const {
  const Reading now = read();
  if (now.stamp <= first_.stamp) {
    return std::nullopt;
  }
  const std::chrono::duration<double, std::nano> elapsed = now.time - first_.time;
  const std::uint32_t units = static_cast<std::uint32_t>(now.stamp) - stamp;
  const auto age = elapsed / static_cast<double>(now.stamp - first_.stamp) * units;
  return now.time - std::chrono::duration_cast<Clock::duration>(age);
}

}  // namespace tracso::launch
