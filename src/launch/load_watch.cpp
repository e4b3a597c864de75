#include "launch/load_watch.hpp"

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "launch/loader_errors.hpp"
#include "launch/musl_start.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// From the loader's hook to the frame of _dl_open: some 150 words in glibc 2.36.
constexpr std::size_t words_to_dlopen = 256, most_words_to_dlopen = 1024;
constexpr std::size_t most_complaints = 100;

}  // namespace

LoadWatch::LoadWatch(tracee::TracedProcess& process,
                     const ProcessSource& door,
                     const StartFacts& facts,
                     const LoaderHook& hook,
                     Clock::time_point start,
                     pid_t stopped,
                     ImportsDoor imports)
    : process_(process),
      door_(door),
      hook_(hook),
      elf_class_(hook.word == 4 ? ElfClass::elf32 : ElfClass::elf64),
      start_(start),
      imports_(std::move(imports)),
      follower_(door, elf_class_) {
  const auto image = loader_image(door, facts, elf_class_);
  if (!image) {
    return;
  }
  auto& breakpoints = process.breakpoints();
  sees_errors_ = entries_.add(breakpoints, door, stopped, *image, exception_function);
  if (sees_errors_) {
    entries_.add(breakpoints, door, stopped, *image, error_function);
    entries_.add(breakpoints, door, stopped, *image, format_function);
  } else {
    sees_words_ = entries_.add(breakpoints, door, stopped, *image, open_function) &&
                  entries_.add(breakpoints, door, stopped, *image, print_function);
    entries_.remove(breakpoints, stopped, print_function);  // but during a dlopen
    if (entries_.add(breakpoints, door, stopped, *image, start_print_function)) {
      errno_place_ = place_of_errno(door, *image);
    }
  }
}

std::vector<loader::NewObject> LoadWatch::at_loader(const tracee::Event& stop, Objects objects) {
  using Sight = loader::LinkMapFollower::Sight;
  const Sight sight = follower_.glance(loader_record(door_, hook_));
  if (sight == Sight::at_work) {
    begin_change(stop);
    return {};
  }
  const auto known = changes_.extract(stop.thread);
  Completion completion{
      stop, now(), known ? std::move(known.mapped()) : Change{now(), 0, std::nullopt}, {}};
  if (sight == Sight::grown && objects == Objects::later && can_wait(completion)) {
    completion.call = call_on_stack(stop, words_to_dlopen, [this](std::uint64_t record) {
      return record == follower_.first_new();
    });
    if (completion.call) {
      later_ = std::move(completion);
      return {};
    }
  }
  return complete(std::move(completion));
}

// Whatever else has to be read at such a stop, or changed in the program.
bool LoadWatch::can_wait(const Completion& completion) const {
  return started_ && !sees_words_ && completion.change.imports && follower_.first_new() != 0;
}

std::vector<loader::NewObject> LoadWatch::complete(Completion completion) {
  const auto change = follower_.take();
  lost_list_ = lost_list_ || !follower_.problem().empty();
  if (!change) {
    changes_.try_emplace(completion.stop.thread, std::move(completion.change));
    return {};
  }
  if (sees_words_) {
    end_musl_dlopen(completion.stop);
  }
  for (const std::uint64_t record : change->gone) {
    log_.gone(record, completion.at);
    owners_.forget();
  }
  if (change->came.empty()) {
    return {};
  }
  if (started_) {
    add_dlopen(change->came, std::move(completion));
  } else {
    started_ = true;
    add_start(change->came, completion);
  }
  return change->came;
}

void LoadWatch::begin_change(const tracee::Event& stop) {
  const auto pointer = stop.registers ? stop.registers->thread_pointer() : 0;
  const auto [change, is_new] = changes_.try_emplace(stop.thread, Change{now(), pointer, {}});
  if (!is_new || !started_) {
    return;
  }
  if (sees_words_) {
    entries_.restore(process_.breakpoints(), stop.thread, print_function);
  }
  // Many small pieces, for each of which the kernel wants a lock that mmap holds: so most of it is
  // fetched before the thread goes on to map.
  imports_.fetch();
  ahead_.push_back(stop.thread);
  change->second.began = now();
}

// What could not be read whole is read again at the second stop: perhaps the process has just died.
void LoadWatch::look_ahead() {
  if (later_) {
    complete(*std::exchange(later_, std::nullopt));
  }
  for (const pid_t thread : std::exchange(ahead_, {})) {
    const auto change = changes_.find(thread);
    if (change != changes_.end()) {
      auto imports = imports_.read(thread, change->second.thread_pointer);
      if (imports.complete) {
        change->second.imports = std::move(imports);
      }
    }
  }
}

LoadRecord LoadWatch::record_of(const loader::NewObject& object,
                                const Completion& completion) const {
  LoadRecord record;
  record.name = object.name;
  record.dynamic = object.dynamic;
  record.base = object.bias;
  record.link_namespace = object.space;
  record.thread = completion.stop.thread;
  record.began = completion.change.began;
  record.ended = completion.at;
  record.requester = object.requester;
  record.dlopen = dlopens_;
  return record;
}

void LoadWatch::add_start(const std::vector<loader::NewObject>& objects,
                          const Completion& completion) {
  const pid_t thread = completion.stop.thread;
  entries_.remove(process_.breakpoints(), thread, error_function);
  entries_.remove(process_.breakpoints(), thread, format_function);
  entries_.remove(process_.breakpoints(), thread, start_print_function);
  complaints_.clear();
  for (const auto& object : objects) {
    const bool opened = object.start == loader::LinkMapEntry::Start::dlopened;  // LD_AUDIT
    LoadRecord record = record_of(object, completion);
    record.cause = !opened                 ? LoadCause::startup
                   : object.requester != 0 ? LoadCause::needed
                                           : LoadCause::dlopen;
    log_.came(object.record, std::move(record));
    watch_errors_of(object, thread);
  }
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

void LoadWatch::add_dlopen(const std::vector<loader::NewObject>& objects, Completion completion) {
  ++dlopens_;
  const tracee::Event& stop = completion.stop;
  const Opening opening = find_opening(completion, objects);
  auto& early = completion.change.imports;
  const auto imports =
      early ? std::move(early->steps)
            : imports_of(stop.thread, stop.registers ? stop.registers->thread_pointer() : 0);
  for (const auto& object : objects) {
    // What is opened itself has no requester in glibc's records; in those of musl it comes first.
    const bool has_start = object.start != loader::LinkMapEntry::Start::unknown;
    const bool opened = opening.record != 0 ? object.record == opening.record
                        : has_start         ? object.requester == 0
                                            : object.record == objects.front().record;
    LoadRecord record = record_of(object, completion);
    record.cause = opened ? LoadCause::dlopen : LoadCause::needed;
    record.requester = opened ? opening.requester : object.requester;
    record.imports = imports;
    log_.came(object.record, std::move(record));
  }
}

LoadWatch::Opening LoadWatch::find_opening(const Completion& completion,
                                           const std::vector<loader::NewObject>& objects) {
  const auto is_new = [&](std::uint64_t record) {
    return std::any_of(objects.begin(), objects.end(), [&](const loader::NewObject& object) {
      return object.record == record;
    });
  };
  auto call = completion.call;
  for (const std::size_t words : {words_to_dlopen, most_words_to_dlopen}) {
    call = call ? call : call_on_stack(completion.stop, words, is_new);
  }
  if (call) {
    return {caller_of(*call), call->record};
  }
  const auto& registers = completion.stop.registers;
  const MuslDlopen* musl =
      musl_.innermost(completion.stop.thread, registers ? registers->stack() : 0);
  return {musl != nullptr ? owner_of(musl->caller) : 0, 0};
}

std::optional<DlopenCall> LoadWatch::call_on_stack(
    const tracee::Event& stop,
    std::size_t words,
    const std::function<bool(std::uint64_t)>& is_new) const {
  const std::uint64_t stack = stop.registers ? stop.registers->stack() : 0;
  return find_dlopen_call(stack_words(door_, stack, words, hook_.word),
                          [&](const DlopenCall& call) { return is_new(call.record); });
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
  failure.imports = imports_of(stop.thread, stop.registers ? stop.registers->thread_pointer() : 0);
  add_failure(std::move(failure), stop.thread);
}

// At the start only: what it tells later ends in the other function.
void LoadWatch::note_error(pid_t thread, const tracee::Registers& registers) {
  if (!started_) {
    add_failure(signalled_error(door_, thread, registers), thread);
  }
}

// Versions that are missing at the start are printed and not signalled. Mere warnings are told in
// the same way; they count only where the start fails.
void LoadWatch::note_complaint(pid_t thread, const tracee::Registers& registers) {
  if (started_ || complaints_.size() == most_complaints) {
    return;
  }
  complaints_.push_back(formatted_exception(door_, thread, registers));
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
    failure.imports = imports_of(thread, registers.thread_pointer());
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

std::vector<python::ImportStep> LoadWatch::imports_of(pid_t thread, std::uint64_t thread_pointer) {
  auto imports = imports_.read(thread, thread_pointer);
  incomplete_imports_ += imports.complete ? 0 : 1;
  return std::move(imports.steps);
}

std::uint64_t LoadWatch::caller_of(const DlopenCall& call) {
  const std::uint64_t dynamic = log_.dynamic_of(call.caller);
  return dynamic != 0 ? dynamic : owner_of(call.caller);
}

std::uint64_t LoadWatch::owner_of(std::uint64_t code) {
  return owners_.owner_of(door_, code, log_.dynamics());
}

void LoadWatch::give(RunResult& result) {
  for (FailedLoad& complaint : complaints_) {
    const bool signalled = last_of_start_ && last_of_start_->name == complaint.name &&
                           last_of_start_->reason == complaint.reason;
    if (!signalled) {
      log_.failed(std::move(complaint));
    }
  }
  log_.give(result);
  if (lost_list_) {
    result.notices.push_back({"loads-unreadable",
                              "the loader's list could not be followed to its end",
                              "some objects that were loaded are missing from the list of loads",
                              ""});
  }
  if (incomplete_imports_ > 0) {
    result.notices.push_back(
        {"imports-incomplete",
         fmt::format("the imports under way could not be read whole at {} loads",
                     incomplete_imports_),
         "who imported what was loaded then is told in part only",
         ""});
  }
  if (!started_ && !sees_errors_ && !last_of_start_) {
    result.notices.push_back(
        {"start-unfinished",
         "the loader ended the program before its start, and does not tell why",
         "what it did not find is known by its rules only",
         "its words stand in the program's standard error"});
  }
  // Signals on the way to a dlopen's last one are normal, but they do not come alone.
  const bool blind = unmatched_signals_ > 0 && matched_signals_ == 0;
  if (blind || (!sees_errors_ && !sees_words_ && (dlopens_ > 0 || musl_.count() > 0))) {
    result.notices.push_back({"failed-loads-not-seen",
                              "this loader does not tell what it refuses",
                              "loads that failed are not listed",
                              "LD_DEBUG=files where the loader is that of glibc"});
  }
}

}  // namespace tracso::launch
