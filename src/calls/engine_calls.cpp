// Calls and returns at breakpoints, and system calls.

#include "base/text.hpp"
#include "calls/engine.hpp"
#include "calls/engine_capture.hpp"
#include "calls/error_rules.hpp"
#include "tracee/guardian.hpp"
#include "tracee/system_call.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>

#include <algorithm>
#include <utility>

namespace tracso::calls {
namespace {

constexpr std::size_t most_under_way =
    65536;  // calls of a thread under way; a target may invent more
constexpr std::uint64_t address_bytes = 8;
// Events name the place of a call on the stack. Return addresses stand at multiples of 8: the
// numbers between serve for calls that share one (a function that jumps to another), and the last
// for system calls.
constexpr std::uint64_t most_at_one_place = 6;

}  // namespace

std::string Engine::place_of(const EngineThread& thread, std::uint64_t address) const {
  if (!options_.places) {
    return "";
  }
  const EngineObject* object = thread.process->memory->object_at(address);
  return object == nullptr
             ? fmt::format("{:#x}", address)
             : fmt::format("{}+{:#x}", printable(base_name(object->path)), address - object->bias);
}

void Engine::on_breakpoint(EngineThread& thread, std::uint64_t address, Registers& registers) {
  auto& memory = *thread.process->memory;
  const auto found = memory.places.find(address);
  const bool again = std::exchange(thread.reported, std::nullopt) ==
                     std::optional(std::pair(address, registers.stack()));
  if (found == memory.places.end() || again || !thread.process->told) {
    pass(thread, address, registers);
    return;
  }
  const EnginePlace place = found->second;  // looking at objects may change the table
  if (place.loader) {
    ++memory.loader_events;
    places_.look(thread.process->pid, thread.number, memory);
  }
  if (place.asks) {
    asked_to_be_traced_ += registers.argument(thread.number, 0) == std::uint64_t{0} ? 1 : 0;
  }
  if (place.returns) {
    add_returns(thread, registers, address);
  }
  if (place.entry) {
    add_entry(thread, registers, *place.entry);
  }
  const auto code = std::span(place.code.data(), place.code_bytes);
  const auto jump = place.import ? tracee::entry_instruction(code, registers.word()) : std::nullopt;
  if (jump && registers.perform(thread.number, *jump)) {
    // Now it stands where the call leads to, as at any entry.
    registers.give_to(thread.number);
    add_call(thread, registers, *place.import);
    resume(thread);
    return;
  }
  pass(thread, address, registers);
}

void Engine::add_entry(EngineThread& thread, const Registers& registers, std::uint32_t entry) {
  std::uint64_t back = 0;
  read_target(thread.number, registers.stack(), std::as_writable_bytes(std::span(&back, 1)));
  add_call(thread, registers, sites_.entry_from(entry, thread.process->memory->path_at(back)));
}

void Engine::add_call(EngineThread& thread, const Registers& registers, std::uint32_t site) {
  const EngineSite& facts = sites_.at(site);
  const auto place = registers.stack();
  CallEvent event;
  capture_call(thread.number, registers, facts.line.prototype, options_.text_bytes, event);
  const auto back = event.call.return_address;
  // What lies below has been left by longjmp or an exception; so has a call whose return address
  // has been overwritten, and the same call at the same place, which cannot have been made twice.
  auto& calls = thread.calls;
  while (!calls.empty() && calls.back().place < place) {
    calls.pop_back();
  }
  const auto dead = std::find_if(calls.begin(), calls.end(), [&](const UnderWay& call) {
    return call.place == place && (call.return_address != back || call.site == site);
  });
  calls.erase(dead, calls.end());
  std::uint64_t number = 0;
  for (const UnderWay& call : calls) {
    number += call.place == place ? 1 : 0;
  }
  event.slot = site;
  event.thread = thread.number;
  event.ticks = rate_.now();
  event.place = place - std::min(number, most_at_one_place);
  const bool room = calls.size() < most_under_way && number <= most_at_one_place;
  auto& memory = *thread.process->memory;
  if (!facts.never_returns && back != 0 && room) {
    if (EnginePlaces::insert(thread.number, memory, back)) {
      memory.places[back].returns = true;
      UnderWay call{place, back, event.place, site, event.ticks, {}};
      std::copy(std::begin(event.call.integer), std::end(event.call.integer), call.words.begin());
      calls.push_back(call);
      sink_.add(thread.process->program, event, facts, place_of(thread, back));
      return;
    }
    returns_unseen_ += memory.places.size() >= tracee::most_breakpoints ? 1 : 0;
  }
  event.kind = tracso_event_only;
  sink_.add(thread.process->program, event, facts, place_of(thread, back));
}

// The thread has just returned to that address, or has come there by another way.
void Engine::add_returns(EngineThread& thread, const Registers& registers, std::uint64_t address) {
  const auto place = registers.stack() - address_bytes;
  auto& calls = thread.calls;
  while (!calls.empty() && calls.back().place < place) {
    calls.pop_back();
  }
  while (!calls.empty() && calls.back().place == place && calls.back().return_address == address) {
    const UnderWay call = calls.back();
    calls.pop_back();
    end_call(thread, call, registers);
  }
}

void Engine::end_call(EngineThread& thread, const UnderWay& call, const Registers& registers) {
  const EngineSite& facts = sites_.at(call.site);
  CallEvent event;
  event.kind = tracso_event_return;
  event.slot = call.site;
  event.thread = thread.number;
  event.ticks = rate_.now();
  event.place = call.told_place;
  event.result.integer = registers.result().value_or(0);
  event.result.took = event.ticks - call.ticks;
  if (facts.line.into_c_library && means_failure(event.result.integer, facts.errors)) {
    event.result.error_number =
        read_errno(thread.number, thread.process->memory->errno_function, registers);
  }
  capture_results(thread.number, call.words, facts.line.prototype, options_.text_bytes, event);
  sink_.add(thread.process->program, event, facts, "");
}

void Engine::on_system_call(EngineThread& thread) {
  const auto stop = tracee::call_stop(thread.number);
  if (stop && thread.process->told && options_.system_calls) {
    if (stop->entry) {
      begin_system_call(thread, *stop);
    } else {
      end_system_call(thread, *stop);
    }
  } else if (stop && stop->entry && !thread.process->told) {
    // What lives in our memory and is about to get privileges would get none while it is traced.
    const auto call = tracee::current_call(thread.number);
    if (call && call->kind == tracee::SystemCall::Kind::executes &&
        tracee::would_lose_privileges(thread.number, *call)) {
      tracee::detach(thread.number, 0);
      threads_.erase(thread.number);
      ++children_let_go_;
      return;
    }
  }
  resume(thread);
}

void Engine::begin_system_call(EngineThread& thread, const tracee::CallStop& stop) {
  const auto path = thread.process->memory->path_at(stop.instruction);
  const auto waited_in = std::exchange(thread.waited_in, std::nullopt);
  const bool goes_on = stop.native && stop.number == SYS_restart_syscall && waited_in;
  const auto number = goes_on ? *waited_in : stop.number;
  const auto site = sites_.system_call(stop.native ? number : ~std::uint64_t{0}, std::string(path));
  const EngineSite& facts = sites_.at(site);
  CallEvent event;
  event.slot = site;
  event.thread = thread.number;
  event.ticks = rate_.now();
  event.kind = facts.never_returns ? tracso_event_only : tracso_event_call;
  event.place = stop.stack - most_at_one_place - 1;
  std::copy(stop.arguments.begin(), stop.arguments.end(), std::begin(event.call.integer));
  event.call.return_address = stop.instruction;
  capture_pieces(thread.number, facts.line.prototype, options_.text_bytes, event);
  thread.system_call.reset();
  if (!facts.never_returns) {
    thread.system_call =
        UnderWay{stop.stack, stop.instruction, event.place, site, event.ticks, stop.arguments};
  }
  sink_.add(thread.process->program, event, facts, place_of(thread, stop.instruction));
}

void Engine::end_system_call(EngineThread& thread, const tracee::CallStop& stop) {
  const auto call = std::exchange(thread.system_call, std::nullopt);
  if (!call) {
    return;  // of the call by which the command was started
  }
  const EngineSite& facts = sites_.at(call->site);
  CallEvent event;
  event.kind = tracso_event_return;
  event.slot = call->site;
  event.thread = thread.number;
  event.ticks = rate_.now();
  event.place = call->told_place;
  event.result.integer = stop.failed ? ~std::uint64_t{0} : static_cast<std::uint64_t>(stop.result);
  event.result.error_number = stop.failed ? -stop.result : 0;
  event.result.took = event.ticks - call->ticks;
  capture_results(thread.number, call->words, facts.line.prototype, options_.text_bytes, event);
  sink_.add(thread.process->program, event, facts, "");
}

}  // namespace tracso::calls
