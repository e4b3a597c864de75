#include "launch/load_watch.hpp"

#include "base/text.hpp"
#include "launch/loader_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tracso::launch {
namespace {

// From the loader's hook to the frame of _dl_open: some 150 words in glibc 2.36.
constexpr std::size_t words_to_dlopen = 1024;

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
  if (hook.gated) {
    follower_.expect_stamps();
  }
  if (const auto image = loader_image(door, facts, elf_class_)) {
    watch_refusals(*image, stopped);
  }
}

std::vector<loader::NewObject> LoadWatch::at_loader(const tracee::Event& stop, Objects objects) {
  using Sight = loader::LinkMapFollower::Sight;
  const Sight sight = follower_.glance(loader_record(door_, hook_), innermost_of(stop));
  if (sight == Sight::at_work) {
    begin_change(stop);
    return {};
  }
  Completion completion = completion_of(stop);
  if (sight == Sight::grown && objects == Objects::later && can_wait(completion)) {
    later_ = std::move(completion);
    return {};
  }
  return complete(std::move(completion));
}

// Where a dlopen leaves its frame; of the program's start there is nothing to be found.
std::vector<loader::Range> LoadWatch::innermost_of(const tracee::Event& stop) const {
  const std::uint64_t stack = stop.registers ? stop.registers->stack() : 0;
  return started_ && stack != 0 ? stack_ranges(stack, words_to_dlopen, hook_.word)
                                : std::vector<loader::Range>();
}

LoadWatch::Completion LoadWatch::completion_of(const tracee::Event& stop) {
  Completion completion{stop, now(), {}, follower_.along()};
  auto known = changes_.extract(stop.thread);
  if (known) {
    completion.change = std::move(known.mapped());
  } else {
    completion.change.began = hook_.gated ? passed_gate(completion.at) : completion.at;
  }
  last_completion_ = completion.at;
  last_stamp_ = follower_.stamp();
  return completion;
}

// When the gate let the thread through that stands here: one at a time is inside the loader, and
// has stopped when it was done. `now`: it let none through.
std::chrono::nanoseconds LoadWatch::passed_gate(std::chrono::nanoseconds now) const {
  if (follower_.stamp() == last_stamp_) {
    return now;
  }
  const auto time = clock_.time_of(follower_.stamp());
  return time ? std::clamp<std::chrono::nanoseconds>(*time - start_, last_completion_, now) : now;
}

// Nothing else has to be read at such a stop, or changed in the program, when the imports are
// known.
bool LoadWatch::can_wait(Completion& completion) {
  if (!started_ || sees_words_ || follower_.first_new() == 0) {
    return false;
  }
  auto& known = completion.change.imports;
  if (!known) {
    auto imports = imports_.glance(key_of(completion.stop.thread, completion.stop.registers));
    if (imports.complete) {
      known = std::move(imports);
    }
  }
  return known.has_value();
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
  const auto [change, is_new] =
      changes_.try_emplace(stop.thread, Change{now(), key_of(stop.thread, stop.registers), {}});
  if (!is_new || !started_ || hook_.gated) {  // then nothing is to be added
    return;
  }
  if (sees_words_) {
    watch_words(stop.thread);
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
    imports_.tidy();
  }
  for (const pid_t thread : std::exchange(ahead_, {})) {
    const auto change = changes_.find(thread);
    if (change != changes_.end()) {
      auto imports = imports_.read(change->second.thread);
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
  leave_refusals_of_start(thread);
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

void LoadWatch::add_dlopen(const std::vector<loader::NewObject>& objects, Completion completion) {
  ++dlopens_;
  const tracee::Event& stop = completion.stop;
  const Opening opening = find_opening(completion, objects);
  auto& early = completion.change.imports;
  const auto imports =
      early ? std::move(early->steps) : imports_of(key_of(stop.thread, stop.registers));
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
  const auto is_new = [&](const DlopenCall& call) {
    return std::any_of(objects.begin(), objects.end(), [&](const loader::NewObject& object) {
      return object.record == call.record;
    });
  };
  const auto call = find_dlopen_call(words_in(completion.stack, hook_.word), is_new);
  if (call) {
    return {caller_of(*call), call->record};
  }
  const auto& registers = completion.stop.registers;
  const MuslDlopen* musl =
      musl_.innermost(completion.stop.thread, registers ? registers->stack() : 0);
  return {musl != nullptr ? owner_of(musl->caller) : 0, 0};
}

python::ThreadKey LoadWatch::key_of(pid_t thread,
                                    const std::optional<tracee::Registers>& registers) {
  return registers ? python::ThreadKey{thread, registers->thread_pointer(), registers->stack()}
                   : python::ThreadKey{thread, 0, 0};
}

std::vector<python::ImportStep> LoadWatch::imports_of(python::ThreadKey thread) {
  auto imports = imports_.read(thread);
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
  result.code_executed = result.code_executed || hook_.gated;
  if (lost_list_) {
    result.notices.push_back({"loads-unreadable",
                              "the loader's list could not be followed to its end",
                              "some objects that were loaded are missing from the list of loads",
                              ""});
  }
  if (incomplete_imports_ > 0) {
    result.notices.push_back({"imports-incomplete",
                              fmt::format("the imports under way could not be read whole at {}",
                                          counted(incomplete_imports_, "load")),
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
