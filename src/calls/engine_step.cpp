// How a thread gets past a breakpoint that stays where it is.

#include "calls/engine.hpp"
#include "calls/engine_capture.hpp"
#include "tracee/moved_instruction.hpp"

#include <sched.h>

#include <csignal>
#include <cstring>
#include <span>
#include <utility>

namespace tracso::calls {
namespace {

using std::chrono::milliseconds;
using tracee::StopKind;

// Who does not stop in that time sleeps in the kernel, where nobody runs into a breakpoint.
constexpr milliseconds hold_limit{50};
constexpr milliseconds step_limit{2000};
// Of an instruction that is repeated (rep movs) each step does one round.
constexpr int most_rounds = 100'000;

// Would it go into the kernel, and perhaps sleep there, while others are held?
bool enters_kernel(const EnginePlace& place) {
  const auto& code = place.code;
  return (code[0] == 0x0f && (code[1] == 0x05 || code[1] == 0x34)) || code[0] == 0xcd;
}

// The next report of a thread that is let run for one instruction; nullopt: none in time.
std::optional<tracee::Report> step_once(pid_t thread) {
  if (!tracee::step(thread)) {
    return std::nullopt;
  }
  // It mostly takes less time than falling asleep and waking up.
  constexpr int most_looks = 2000;
  for (int i = 0; i < most_looks; ++i) {
    if (const auto report = tracee::poll_report(thread)) {
      return report;
    }
    ::sched_yield();
  }
  return tracee::await_report(thread, step_limit);
}

bool write_code(pid_t thread, std::uint64_t address, std::span<const std::uint8_t> code) {
  for (std::size_t at = 0; at < code.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, code.data() + at, sizeof word);
    if (!tracee::poke(thread, address + at, word)) {
      return false;
    }
  }
  return true;
}

void shift_distance(std::span<std::uint8_t> code, std::size_t at, std::uint64_t by) {
  std::uint32_t distance = 0;
  std::memcpy(&distance, code.data() + at, sizeof distance);
  distance += static_cast<std::uint32_t>(by);
  std::memcpy(code.data() + at, &distance, sizeof distance);
}

}  // namespace

void Engine::pass(EngineThread& thread, std::uint64_t address, Registers& registers) {
  auto& memory = *thread.process->memory;
  const auto place = memory.places.find(address);
  if (place == memory.places.end()) {
    memory.breakpoints.remove(thread.number, address);
    resume(thread);
    return;
  }
  const std::span code(place->second.code.data(), place->second.code_bytes);
  const auto instruction = tracee::entry_instruction(code, registers.word());
  if (instruction && registers.perform(thread.number, *instruction)) {
    registers.give_to(thread.number);
    resume(thread);
    return;
  }
  if (enters_kernel(place->second)) {
    memory.breakpoints.remove(thread.number, address);
    memory.places.erase(place);
    resume(thread);
    return;
  }
  if (!step_elsewhere(thread, address, registers)) {
    step_over(thread, address);
  }
}

// false: it cannot be done so; nothing has happened.
bool Engine::step_elsewhere(EngineThread& thread, std::uint64_t address, Registers& registers) {
  auto& memory = *thread.process->memory;
  const EnginePlace& place = memory.places.at(address);
  const auto instruction =
      tracee::moved_instruction(std::span(place.code.data(), place.code_bytes));
  const EngineObject* own = memory.object_at(address);
  const EngineObject* object = own != nullptr && own->spare_code != 0 ? own : memory.spare_object();
  const bool too_far = object != own && instruction && instruction->distance_at;
  if (!instruction || object == nullptr || too_far || memory.spare_code_taken ||
      address - object->spare_code < 2 * place.code.size()) {
    return false;
  }
  MovedStep move{address, object->spare_code, *instruction, {}};
  auto code = place.code;
  if (instruction->distance_at) {
    shift_distance(code, *instruction->distance_at, address - move.spare);
  }
  if (read_target(thread.number, move.spare, std::as_writable_bytes(std::span(move.spare_bytes))) !=
          code.size() ||
      !write_code(thread.number, move.spare, code)) {
    return false;
  }
  thread.moved = move;
  memory.spare_code_taken = true;
  registers.set_pc(move.spare);
  registers.give_to(thread.number);
  // The same report may come a little later, if it has to wait for its memory: then by itself.
  const auto report = step_once(thread.number);
  if (report) {
    digest(*report);
  } else {
    thread.stopped = false;
  }
  return true;
}

// It has stopped, whatever for: as if the instruction had been carried out where it stands.
void Engine::end_move(EngineThread& thread) {
  const auto move = *std::exchange(thread.moved, std::nullopt);
  write_code(thread.number, move.spare, move.spare_bytes);
  thread.process->memory->spare_code_taken = false;
  auto registers = Registers::of(thread.number);
  if (!registers) {
    return;
  }
  const auto reached = registers->pc();
  if (reached == move.spare) {  // a signal came first, or it is to be repeated
    registers->set_pc(move.address);
    thread.reported = {move.address, registers->stack()};
  } else if (!move.instruction.absolute) {
    registers->set_pc(reached - move.spare + move.address);
  }
  if (move.instruction.calls && reached != move.spare) {
    const auto back = tracee::peek(thread.number, registers->stack());
    tracee::poke(thread.number, registers->stack(), back.value_or(0) - move.spare + move.address);
  }
  registers->give_to(thread.number);
}

// Stops every other thread that might run past the place meanwhile. What they had to tell waits.
void Engine::hold_others(const EngineThread& thread, std::vector<EngineThread*>& held) {
  std::vector<EngineThread*> asked;
  for (auto& [number, other] : threads_) {
    const bool runs = !other.stopped && !other.waits && !other.bears;
    if (number != thread.number && runs && other.process->memory == thread.process->memory &&
        tracee::interrupt(number) == 0) {
      asked.push_back(&other);
    }
  }
  for (EngineThread* other : asked) {
    const auto report = tracee::await_report(other->number, hold_limit);
    if (!report) {
      continue;
    }
    const auto stop = tracee::decode_status(report->status);
    if (stop.kind == StopKind::trap) {
      other->stopped = true;
      held.push_back(other);
    } else {
      other->stopped = stop.kind != StopKind::exited && stop.kind != StopKind::killed;
      deferred_.push_back(*report);
    }
  }
}

void Engine::step_over(EngineThread& thread, std::uint64_t address) {
  auto& breakpoints = thread.process->memory->breakpoints;
  std::vector<EngineThread*> held;
  hold_others(thread, held);
  breakpoints.lift(thread.number, address);
  std::optional<Report> report;
  bool done = false;
  for (int round = 0; round < most_rounds && !done; ++round) {
    report = step_once(thread.number);
    const auto stop = report ? tracee::decode_status(report->status) : tracee::Stop{};
    const auto details = stop.kind == StopKind::signal && stop.value == SIGTRAP
                             ? tracee::signal_details(thread.number)
                             : std::nullopt;
    const bool stepped =
        details && (details->si_code == TRAP_TRACE || details->si_code == SI_KERNEL ||
                    details->si_code == TRAP_BRKPT);
    if (!stepped) {
      break;
    }
    const auto registers = Registers::of(thread.number);
    done = !registers || registers->pc() != address;
  }
  const auto registers = Registers::of(thread.number);
  breakpoints.put_back(thread.number, address);
  for (EngineThread* other : held) {
    resume(*other);
  }
  if (done) {
    resume(thread);
    return;
  }
  if (registers && registers->pc() == address) {
    thread.reported = {address, registers->stack()};  // it comes back to it
  }
  if (report) {
    deferred_.push_back(*report);
    return;
  }
  resume(thread);
}

}  // namespace tracso::calls
