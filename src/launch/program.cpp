#include "launch/program.hpp"

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "launch/loader_gate.hpp"
#include "proc/status.hpp"
#include "tracee/registers.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace tracso::launch {
namespace {

// Python often begins to work some ten milliseconds after its start, and soon loads the first
// extension module.
constexpr std::chrono::milliseconds shortest_pause{3};

}  // namespace

Program::Program(tracee::TracedProcess& process,
                 std::unique_ptr<ProcessSource> door,
                 const RunOptions& options,
                 Clock::time_point start,
                 pid_t stopped)
    : process_(process), door_(std::move(door)), options_(options), start_(start) {
  const auto registers = tracee::Registers::of(stopped);
  const auto auxv = door_->read("auxv");
  if (!registers || !auxv) {
    return;  // an unknown processor, or it has just died: its exit stop is what remains
  }
  const bool narrow = registers->is_32_bit();
  facts_ = parse_auxv(*auxv, narrow ? 4 : 8);
  if (!options_.breakpoints && !options_.on_python) {
    return;
  }
  auto& breakpoints = process_.breakpoints();
  if (facts_.loader != 0) {
    // Libraries are mapped when the program's first instruction is reached.
    static_cast<void>(breakpoints.insert(stopped, facts_.entry));
  }
  // A loader that was run by name ("ld.so PROGRAM") tells by its hook when it has mapped PROGRAM.
  if (facts_.loader == 0 || watches_loads()) {
    watch_loader(stopped, narrow ? ElfClass::elf32 : ElfClass::elf64);
  }
  if (hook_ && options_.record_loads) {
    loads_.emplace(process_, *door_, facts_, *hook_, start_, stopped, imports_door());
  }
}

void Program::watch_loader(pid_t stopped, ElfClass elf_class) {
  auto& breakpoints = process_.breakpoints();
  hook_ = find_loader_hook(*door_, facts_, elf_class);
  if (!hook_) {
    return;
  }
  const auto loader = loader_image(*door_, facts_, elf_class);
  if (loader && !options_.on_load && options_.record_loads) {
    make_loader_gate(breakpoints, *door_, stopped, *loader, *hook_);
  }
  // The function does nothing, so a thread can return from it while the breakpoint stays in: no
  // other thread can run past it meanwhile.
  static_cast<void>(breakpoints.insert(stopped, hook_->stop, tracee::AtBreakpoint::returns));
}

Arrival Program::arrive(const tracee::Event& stop) {
  const pid_t thread = stop.thread;
  const std::uint64_t address = stop.address;
  if (hook_ && address == hook_->stop) {
    arrive_at_loader(stop);
    return Arrival::nothing;
  }
  if (loads_ && loads_->arrive(stop)) {
    return Arrival::nothing;
  }
  switch (python_.hit(process_.breakpoints(), thread, address)) {
    case PythonEnd::Step::running:
      return Arrival::python_begun;
    case PythonEnd::Step::whole:
      return Arrival::python_whole;
    case PythonEnd::Step::begun:
    case PythonEnd::Step::not_ours:
      break;
  }
  if (address == facts_.entry) {
    started_ = true;
    process_.breakpoints().remove(thread, address);
    watch_python(thread);
  }
  return Arrival::nothing;
}

void Program::look_ahead() {
  if (!loads_) {
    return;
  }
  loads_->look_ahead();
}

void Program::prepare(Clock::time_point now) {
  if (!loads_ || !python_found_ || now < next_preparation_) {
    return;
  }
  if (!imports_) {
    imports_.emplace(Target{door_.get(), nullptr, nullptr});
  }
  const bool done = imports_->prepare({process_.pid(), 0, 0});
  const auto later = Clock::now();
  const Clock::duration pause = std::max<Clock::duration>(shortest_pause, (later - start_) / 4);
  next_preparation_ = done ? Clock::time_point::max() : later + pause;
}

std::optional<Program::Clock::time_point> Program::next_preparation() const {
  const bool wanted = loads_ && python_found_ && next_preparation_ != Clock::time_point::max();
  return wanted ? std::optional(next_preparation_) : std::nullopt;
}

void Program::arrive_at_loader(const tracee::Event& stop) {
  const pid_t thread = stop.thread;
  if (loads_) {
    // At the start Python is looked for when everything is there, below or at the entry.
    using Objects = LoadWatch::Objects;
    const auto objects = loads_->at_loader(stop, python_found_ ? Objects::later : Objects::at_once);
    if (started_ && !python_found_ && brings_python(objects)) {
      watch_python(thread);
    }
  }
  if (options_.on_load) {
    tell_loader_event(thread);
  }
  const bool has_program =
      facts_.loader != 0 || loader_state(*door_, *hook_) == LoaderState::consistent;
  if (has_program && facts_.loader == 0 && !python_found_) {
    watch_python(thread);
  }
  started_ = started_ || (has_program && facts_.loader == 0);
  if ((has_program && !watches_loads()) || !stop.returned) {
    process_.breakpoints().remove(thread, hook_->stop);
  }
}

void Program::tell_loader_event(pid_t thread) {
  const auto now = Clock::now();
  const auto state = loader_state(*door_, *hook_);
  if (state != LoaderState::consistent) {
    changes_[thread] = {now, state == LoaderState::removing};
    return;
  }
  const auto change = changes_.extract(thread);
  if (!python_found_ && !loads_) {
    watch_python(thread);  // it may be this library
  }
  options_.on_load({process_.pid(),
                    thread,
                    (change ? change.mapped().began : now) - start_,
                    now - start_,
                    change && change.mapped().removal});
}

bool Program::brings_python(const std::vector<loader::NewObject>& objects) const {
  return std::any_of(objects.begin(), objects.end(), [&](const loader::NewObject& object) {
    const auto image = elf::MemoryImage::at_dynamic(
        *door_, object.bias, object.dynamic, hook_->word == 4 ? ElfClass::elf32 : ElfClass::elf64);
    return image && image->symbol(*door_, PythonEnd::mark);
  });
}

ImportsDoor Program::imports_door() {
  return {
      [this] {
        if (imports_) {
          imports_->fetch();
        }
      },
      [this](python::ThreadKey thread) {
        return imports_of([&](python::ImportChainReader& reader) { return reader.chain(thread); });
      },
      [this](python::ThreadKey thread) {
        return imports_of(
            [&](python::ImportChainReader& reader) { return reader.chain_with_past(thread); });
      },
      [this] {
        if (imports_) {
          imports_->tidy();
        }
      }};
}

Imports Program::imports_of(
    const std::function<std::vector<python::ImportStep>(python::ImportChainReader&)>& read) {
  if (!python_found_) {
    return {};
  }
  if (!imports_) {
    imports_.emplace(Target{door_.get(), nullptr, nullptr});
  }
  const std::size_t before = imports_->incomplete_chains();
  auto steps = read(*imports_);
  return {std::move(steps), imports_->incomplete_chains() == before};
}

std::vector<FailedLoad> Program::failures() const {
  return loads_ ? loads_->failures() : std::vector<FailedLoad>();
}

void Program::give_loads(RunResult& result) {
  if (loads_) {
    loads_->give(result);
  }
}

void Program::watch_python(pid_t stopped) {
  python_found_ =
      python_.watch(process_.breakpoints(),
                    *door_,
                    stopped,
                    options_.on_python ? PythonEnd::Watch::begin_and_end : PythonEnd::Watch::end);
}

}  // namespace tracso::launch
