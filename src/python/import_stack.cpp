// One reading goes over the stack three times, so that what each pass needs can be fetched at once:
// the frames; their code objects, which tell the roles; and of the few frames that asked for an
// import, the line and the name of their module. Which places were read is kept: the next reading
// begins by reading them all again, in one go.
//
// Where the thread must not wait, what was made of the last stack is kept as well, with the bytes
// that it was made of. A call is under way still as long as the ones around it are: so the frames
// that begin the stack as they began the last one, with the same code and globals, are probably the
// same calls, and most of a stack is. Not for certain: code that is dropped may leave its place to
// other code, in a frame at the same place. So those bytes are read again too, in one go, and
// compared while the thread still stands: once it runs, the code of the last stack may soon be back
// in that place.
//
// Otherwise nothing is kept between two readings but where the runtime lies, the hash of
// "__name__", and which code objects are importlib's, as long as there was but one interpreter:
// these live as long as the program.

#include "python/import_stack.hpp"

#include "python/memory_locate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::size_t most_frames = 10000;
constexpr std::size_t most_steps = 200;
constexpr std::size_t most_evidence = std::size_t{8} << 20;
// How much of an object is fetched ahead.
constexpr std::uint64_t code_bytes = 160, text_bytes = 128, table_bytes = 2048;
// Some of the interpreter's own frames lie on the thread's stack (3.11 and later), not far from
// where it calls dlopen.
constexpr std::uint64_t stack_bytes = 4096;
constexpr std::array wanted_names = {Name::module_name};
// The dict of sys has about a hundred names.
constexpr std::uint64_t largest_teacher = 4096;

}  // namespace

std::vector<Frame> ImportStack::read_frames(ThreadKey thread) {
  memory_.keep(true);
  std::vector<Frame> frames;
  for (const auto state : thread_states(objects_, runtime_, thread)) {
    const auto stack = read_stack(objects_, state, most_frames - frames.size());
    complete_ = complete_ && stack.whole;
    frames.insert(frames.end(), stack.frames.rbegin(), stack.frames.rend());
  }
  memory_.keep(false);
  return frames;
}

// A call that has gone on since is the innermost one of those that have not ended.
std::size_t ImportStack::calls_as_before(const std::vector<Frame>& frames) const {
  const std::size_t most = supposes_ ? std::min(frames.size(), calls_.size()) : 0;
  for (std::size_t i = 0; i < most; ++i) {
    const Frame &before = calls_[i].frame, &now = frames[i];
    if (before.address != now.address || before.code != now.code || before.globals != now.globals ||
        calls_[i].code->role == FrameRole::unknown) {
      return i;
    }
    if (before.instruction != now.instruction) {
      return i + 1;
    }
  }
  return most;
}

void ImportStack::renew_calls(const std::vector<Frame>& frames) {
  calls_.resize(calls_as_before(frames));
  if (!calls_.empty()) {
    const std::size_t last = calls_.size() - 1;
    if (calls_[last].frame.instruction != frames[last].instruction) {
      calls_[last].line.reset();
    }
  }
  codes_.clear();
  evidence_bytes_ = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    Call& call = calls_[i];
    call.frame = frames[i];
    evidence_bytes_ += call.of_name.size() + call.of_table.size();
    if (codes_.emplace(call.frame.code, call.code).second) {
      evidence_bytes_ += call.code->evidence.size();
      suppose(*call.code);
    }
  }
  for (std::size_t i = calls_.size(); i < frames.size(); ++i) {
    calls_.emplace_back().frame = frames[i];
  }
}

// A hostile stack must not fill our memory: with so much nothing is supposed the next time.
Evidence* ImportStack::room_for(Evidence& evidence) const {
  return evidence_bytes_ < most_evidence ? &evidence : nullptr;
}

ImportStack::Parts ImportStack::parts_of(std::uint64_t code) {
  const auto& layout = objects_.layout().code;
  return {memory_.pointer(code + layout.filename),
          memory_.pointer(code + layout.name),
          memory_.pointer(code + layout.line_table)};
}

bool ImportStack::is_code(std::uint64_t object) {
  const auto type = objects_.type_of(object);
  if (code_type_ == 0 && type != 0 && objects_.type_name(type) == "code") {
    code_type_ = type;
  }
  return type != 0 && type == code_type_;
}

void ImportStack::suppose(const CodeFacts& facts) {
  if (!facts.lasts) {
    memory_.suppose(facts.evidence);
  }
}

// Each interpreter has an importlib of its own, which goes with it; the first one goes with the
// program.
bool ImportStack::is_only_interpreter() {
  return interpreter_states(objects_, runtime_).size() == 1;
}

// Of importlib's code it is enough that it consists of the same parts, and where the thread must
// not wait that it was there before: nothing frees it.
ImportStack::Code ImportStack::known_code(std::uint64_t code) {
  const auto known = importlib_.find(code);
  if (known == importlib_.end()) {
    return nullptr;
  }
  if (supposes_) {
    return known->second;
  }
  return known->second->parts == parts_of(code) ? known->second : nullptr;
}

ImportStack::Code ImportStack::read_code(std::uint64_t code) {
  auto facts = std::make_shared<CodeFacts>();
  memory_.note(room_for(facts->evidence));
  facts->parts = parts_of(code);
  const auto file = is_code(code) ? objects_.text(facts->parts[0]) : std::nullopt;
  const auto function = file ? objects_.text(facts->parts[1]) : std::nullopt;
  memory_.note(nullptr);
  evidence_bytes_ += facts->evidence.size();
  if (function) {
    facts->role = frame_role(*file, *function);
    facts->file = *file;
    facts->lasts = facts->role >= FrameRole::machinery &&
                   file->starts_with("<frozen importlib._") && !runs_ && is_only_interpreter();
  }
  return facts;
}

void ImportStack::read_codes() {
  std::vector<std::uint64_t> unknown;
  for (const Call& call : calls_) {
    if (codes_.count(call.frame.code) == 0) {
      memory_.plan(supposes_ && importlib_.count(call.frame.code) != 0 ? 0 : call.frame.code,
                   code_bytes);
    }
  }
  memory_.fetch();
  for (const Call& call : calls_) {
    const auto [place, is_new] = codes_.try_emplace(call.frame.code);
    if (!is_new) {
      continue;
    }
    place->second = known_code(call.frame.code);
    if (place->second == nullptr) {
      unknown.push_back(call.frame.code);
      const auto parts = parts_of(call.frame.code);
      memory_.plan(parts[0], text_bytes);
      memory_.plan(parts[1], text_bytes);
    }
  }
  memory_.fetch();
  for (const std::uint64_t code : unknown) {
    auto facts = read_code(code);
    if (facts->lasts) {
      importlib_[code] = facts;
    }
    complete_ = complete_ && facts->role != FrameRole::unknown;
    codes_[code] = std::move(facts);
  }
  for (Call& call : calls_) {
    call.code = codes_[call.frame.code];
  }
}

// Read anew: frames are in any case, and what is in them.
void ImportStack::read_local(Call& call) {
  memory_.keep(true);
  const auto local = first_local(objects_, call.frame);
  memory_.keep(false);
  if (local != call.local) {
    call.local = local;
    call.name.reset();
  }
}

std::optional<std::string> ImportStack::read_name(const Call& call) {
  const bool is_name = call.code->role == FrameRole::import;
  const auto object =
      is_name ? call.local : objects_.instance_attribute(call.local, Name::name).object;
  return object == 0 ? std::nullopt : objects_.text(object);
}

std::string ImportStack::name_told_by(std::size_t index) {
  Call& call = calls_[index];
  read_local(call);
  if (call.name) {
    memory_.suppose(call.of_name);
    return *call.name;
  }
  call.of_name = {};
  memory_.note(room_for(call.of_name));
  call.name = read_name(call);
  memory_.note(nullptr);
  evidence_bytes_ += call.of_name.size();
  complete_ = complete_ && call.name;
  return call.name.value_or("");
}

std::vector<FrameRole> ImportStack::read_roles() {
  std::vector<FrameRole> roles;
  roles.reserve(calls_.size());
  for (Call& call : calls_) {
    roles.push_back(call.code->role);
    if (roles.back() == FrameRole::import && !call.name) {
      read_local(call);
      memory_.plan(call.local, text_bytes);  // it will be asked for
    }
  }
  memory_.fetch();
  return roles;
}

// The keys of sys are the interpreter's own, so their addresses stay good.
void ImportStack::learn_names() {
  if (names_learnt_) {
    return;
  }
  const auto& layout = objects_.layout().interpreter;
  const auto states = interpreter_states(objects_, runtime_);
  const auto sys = states.empty() ? 0 : memory_.pointer(states.back().address + layout.sysdict);
  const auto size = sys == 0 ? std::nullopt : objects_.table_entries(sys);
  if (size && *size <= largest_teacher) {
    const auto entries = objects_.entries(sys, Count::any);
    names_learnt_ = entries && objects_.learn(*entries, wanted_names);
  }
}

// Each step needs the one before to be fetched.
void ImportStack::fetch_askers(const std::vector<PlannedStep>& planned) {
  std::vector<const Frame*> askers;
  for (const auto& step : planned) {
    if (!step.asker) {
      continue;
    }
    const Call& call = calls_[*step.asker];
    if (!call.table) {
      memory_.plan(call.code->parts[2], table_bytes);
    }
    if (!step.is_body) {
      objects_.plan_dict(call.frame.globals);
      askers.push_back(&call.frame);
    }
  }
  memory_.fetch();
  memory_.keep(true);  // a dict changes
  for (const auto* frame : askers) {
    objects_.plan_keys(frame->globals);
  }
  memory_.fetch();
  for (const auto* frame : askers) {
    objects_.plan_slot(frame->globals, Name::module_name);
  }
  memory_.fetch();
  for (const auto* frame : askers) {
    objects_.plan_entry(frame->globals, Name::module_name);
  }
  memory_.fetch();
  memory_.keep(false);
}

// __name__ of the globals; empty: it has none.
std::string ImportStack::module_of(const Frame& frame) {
  memory_.keep(true);
  const auto found = objects_.find(frame.globals, Name::module_name);
  auto name = found.object == 0 ? std::nullopt : objects_.text(found.object);
  memory_.keep(false);
  return name.value_or("");
}

std::uint32_t ImportStack::line_of(Call& call) {
  if (call.table) {
    memory_.suppose(call.of_table);
  } else {
    call.of_table = {};
    memory_.note(room_for(call.of_table));
    call.table = line_table(objects_, call.frame.code);
    memory_.note(nullptr);
    evidence_bytes_ += call.of_table.size();
  }
  if (!call.line) {
    call.line = call.table ? current_line(objects_, call.frame, *call.table) : 0;
  }
  return *call.line;
}

ImportStep ImportStack::step_of(const PlannedStep& planned) {
  ImportStep step;
  step.module = planned.module;
  if (planned.asker) {
    Call& call = calls_[*planned.asker];
    step.file = call.code->file;
    step.line = line_of(call);
    // importlib has given a module that name; of other code only its globals know theirs.
    step.importer =
        planned.is_body && !planned.around.empty() ? planned.around : module_of(call.frame);
  }
  step.importer = step.importer.empty() ? planned.around : step.importer;
  return step;
}

void ImportStack::prepare(ThreadKey thread) {
  learn_names();
  runs_ = true;
  chain(thread);
  runs_ = false;
}

void ImportStack::tidy() {
  objects_.forget_objects();
}

void ImportStack::fetch() {
  objects_.forget_objects();
  memory_.fetch_as_before();
}

std::vector<ImportStep> ImportStack::chain(ThreadKey thread) {
  supposes_ = false;
  return read_chain(thread);
}

std::vector<ImportStep> ImportStack::chain_with_past(ThreadKey thread, ReadLimits limits) {
  objects_.restart(limits);
  objects_.plan_types();
  memory_.plan(thread.stack, stack_bytes);
  memory_.prefetch();
  supposes_ = evidence_bytes_ < most_evidence;
  auto steps = read_chain(thread);
  return memory_.confirm() ? steps : chain(thread);
}

std::vector<ImportStep> ImportStack::read_chain(ThreadKey thread) {
  complete_ = true;
  renew_calls(read_frames(thread));
  if (calls_.empty()) {
    return {};
  }
  read_codes();
  const auto roles = read_roles();
  learn_names();
  const auto planned = plan_steps(roles, [this](std::size_t call) { return name_told_by(call); });
  fetch_askers(planned);
  std::vector<ImportStep> steps;
  for (const auto& step : planned) {
    steps.push_back(step_of(step));
  }
  complete_ = complete_ && !memory_.exhausted();
  return shorten(std::move(steps), most_steps);
}

}  // namespace tracso::python
