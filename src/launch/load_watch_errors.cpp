// What the loader has refused, of LoadWatch: the functions by which it tells so.

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "launch/load_watch.hpp"
#include "launch/loader_errors.hpp"
#include "launch/musl_start.hpp"

#include <utility>

namespace tracso::launch {
namespace {

constexpr std::string_view exception_function = "_dl_signal_exception";
constexpr std::string_view error_function = "_dl_signal_error";
constexpr std::string_view format_function = "_dl_exception_create_format";
// Of musl.
constexpr std::string_view open_function = "dlopen";
constexpr std::string_view print_function = "vsnprintf";
constexpr std::string_view start_print_function = "vdprintf";

constexpr std::size_t most_complaints = 100;

}  // namespace

void LoadWatch::watch_refusals(const elf::MemoryImage& loader, pid_t stopped) {
  auto& breakpoints = process_.breakpoints();
  sees_errors_ = entries_.add(breakpoints, door_, stopped, loader, exception_function);
  if (sees_errors_) {
    entries_.add(breakpoints, door_, stopped, loader, error_function);
    entries_.add(breakpoints, door_, stopped, loader, format_function);
    return;
  }
  sees_words_ = entries_.add(breakpoints, door_, stopped, loader, open_function) &&
                entries_.add(breakpoints, door_, stopped, loader, print_function);
  entries_.remove(breakpoints, stopped, print_function);  // but during a dlopen
  if (entries_.add(breakpoints, door_, stopped, loader, start_print_function)) {
    errno_place_ = place_of_errno(door_, loader);
  }
}

// The start has gone well: what was complained of was no reason to end.
void LoadWatch::leave_refusals_of_start(pid_t stopped) {
  for (const auto function : {error_function, format_function, start_print_function}) {
    entries_.remove(process_.breakpoints(), stopped, function);
  }
  complaints_.clear();
}

// Of musl, in a dlopen.
void LoadWatch::watch_words(pid_t stopped) {
  entries_.restore(process_.breakpoints(), stopped, print_function);
}

// Until 2.36 the loader signals through the functions of libc once that is there.
void LoadWatch::watch_errors_of(const loader::NewObject& object, pid_t stopped) {
  if (!sees_errors_ || !base_name(object.name).starts_with("libc.so")) {
    return;
  }
  const auto image = elf::MemoryImage::at_dynamic(door_, object.bias, object.dynamic, elf_class_);
  if (image && image->symbol(door_, exception_function)) {
    sees_errors_ = entries_.add(process_.breakpoints(), door_, stopped, *image, exception_function);
  }
}

bool LoadWatch::arrive(const tracee::Event& stop) {
  const pid_t thread = stop.thread;
  const std::string_view name = entries_.name_at(stop.address);
  if (name.empty()) {
    return false;
  }
  auto registers = stop.registers;
  if (!registers) {
    process_.breakpoints().remove(thread, stop.address);
    return true;
  }
  if (name == open_function) {
    musl_.begin(door_, thread, *registers);
  } else if (name == print_function) {
    musl_.print(door_, thread, *registers);
  } else if (name == start_print_function) {
    if (auto failure = musl_start_error(door_, thread, *registers, errno_place_)) {
      add_failure(std::move(*failure), thread);
    }
  } else if (name == error_function) {
    note_error(thread, *registers);
  } else if (name == format_function) {
    note_complaint(thread, *registers);
  } else {
    note_exception(thread, *registers);
  }
  entries_.pass(process_.breakpoints(), thread, *registers, stop.address);
  return true;
}

// Its lists are complete again: so whatever it had to say of this dlopen has been said.
void LoadWatch::end_musl_dlopen(const tracee::Event& stop) {
  const std::uint64_t stack = stop.registers ? stop.registers->stack() : 0;
  entries_.remove(process_.breakpoints(), stop.thread, print_function);
  MuslDlopen* call = musl_.innermost(stop.thread, stack);
  if (!started_ || call == nullptr || call->words == 0) {
    return;
  }
  FailedLoad failure = musl_refusal(loader_text(door_, std::exchange(call->words, 0)));
  failure.asked = loader_text(door_, call->name);
  failure.requester = owner_of(call->caller);
  failure.imports = imports_of(key_of(stop.thread, stop.registers));
  add_failure(std::move(failure), stop.thread);
}

// At the start only: what it tells later ends in the other function.
void LoadWatch::note_error(pid_t thread, const tracee::Registers& registers) {
  if (!started_) {
    add_failure(signalled_error(door_, thread, registers), thread);
  }
}

// Versions that are missing at the start are printed and not signalled. Mere warnings are told in
// the same way, and refuse nothing.
void LoadWatch::note_complaint(pid_t thread, const tracee::Registers& registers) {
  if (started_ || complaints_.size() == most_complaints) {
    return;
  }
  auto complaint = formatted_exception(door_, thread, registers);
  if (is_warning(complaint.reason)) {
    return;
  }
  complaints_.push_back(std::move(complaint));
  complaints_.back().at = now();
  complaints_.back().thread = thread;
}

void LoadWatch::note_exception(pid_t thread, const tracee::Registers& registers) {
  std::optional<DlopenCall> call;
  if (started_) {
    call = signalling_call(door_, thread, registers, [&](const DlopenCall& candidate) {
      return caller_of(candidate) != 0;
    });
    if (!call) {
      unmatched_signals_ += registers.argument(thread, 2) == std::uint64_t{0} ? 1 : 0;
      return;
    }
    ++matched_signals_;
  }
  FailedLoad failure = signalled_exception(door_, thread, registers);
  if (call) {
    failure.asked = loader_text(door_, call->name);
    failure.requester = caller_of(*call);
    failure.imports = imports_of(key_of(thread, registers));
  }
  add_failure(std::move(failure), thread);
}

void LoadWatch::add_failure(FailedLoad failure, pid_t thread) {
  failure.name = failure.name.empty() ? failure.asked : failure.name;
  failure.at = now();
  failure.thread = thread;
  // A start that fails says so at every level on its way out.
  const bool again = !started_ && last_of_start_ && last_of_start_->name == failure.name &&
                     last_of_start_->reason == failure.reason;
  if (!started_) {
    last_of_start_ = failure;
  }
  if (!again) {
    log_.failed(std::move(failure));
  }
}

}  // namespace tracso::launch
