// One reading goes over the stack three times, so that what each pass needs can be fetched at once:
// the frames; their code objects, which tell the roles; and of the few frames that asked for an
// import, the line and the name of their module. Nothing is kept between two readings but where
// the runtime lies, the hash of "__name__", and which code objects are importlib's: these live as
// long as the interpreter. A module's code does not, and its place may soon hold another's. Which
// places were read is kept too: the next reading begins by reading them all again, in one go.
//
// Where the thread must not wait, the bytes of the last reading are kept as well. A frame that was
// there before, with the same code and globals, is probably the same call, and most of a stack is.
// Not for certain: code that is dropped may leave its place to other code, in a frame at the same
// place. So all that is taken from the last reading is read again when the thread runs on.

#include "python/import_stack.hpp"

#include "python/memory_locate.hpp"

#include <optional>
#include <utility>

namespace tracso::python {
namespace {

constexpr std::size_t most_frames = 10000;
constexpr std::size_t most_steps = 200;
// How much of an object is fetched ahead.
constexpr std::uint64_t code_bytes = 160, text_bytes = 128, table_bytes = 512;
constexpr std::array wanted_names = {Name::module_name};
// The dict of sys has about a hundred names.
constexpr std::uint64_t largest_teacher = 4096;

}  // namespace

const ImportStack::PastFrame* ImportStack::seen_before(const Frame& frame) const {
  const auto found = past_.find(frame.address);
  const bool same = found != past_.end() && found->second.code == frame.code &&
                    found->second.globals == frame.globals;
  return same ? &found->second : nullptr;
}

void ImportStack::trust_if(bool seen_before) {
  memory_.trust(believes_ && seen_before ? MemoryReader::Trust::confirmed
                                         : MemoryReader::Trust::not_yet);
}

void ImportStack::trust_local_of(const Frame& frame, std::uint64_t local) {
  const auto* past = seen_before(frame);
  trust_if(past != nullptr && past->local == local);
}

// Frames are read anew in any case, and what is in them.
std::uint64_t ImportStack::local_of(const Frame& frame) {
  memory_.trust(MemoryReader::Trust::never);
  return first_local(objects_, frame);
}

void ImportStack::remember_frames() {
  past_.clear();
  for (const auto& frame : frames_) {
    const bool imports = codes_[frame.code].role == FrameRole::import;
    past_[frame.address] = {frame.code, frame.globals, imports ? local_of(frame) : 0};
  }
}

bool ImportStack::read_frames(ThreadKey thread) {
  memory_.trust(MemoryReader::Trust::never);
  frames_.clear();
  for (const auto state : thread_states(objects_, runtime_, thread)) {
    const auto stack = read_stack(objects_, state, most_frames - frames_.size());
    complete_ = complete_ && stack.whole;
    frames_.insert(frames_.end(), stack.frames.rbegin(), stack.frames.rend());
  }
  return !frames_.empty();
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

ImportStack::CodeFacts ImportStack::facts_of(std::uint64_t code, const Parts& parts) {
  const auto file = is_code(code) ? objects_.text(parts[0]) : std::nullopt;
  const auto function = file ? objects_.text(parts[1]) : std::nullopt;
  if (!function) {
    return {};
  }
  return {frame_role(*file, *function), *file};
}

void ImportStack::read_codes() {
  codes_.clear();
  for (const auto& frame : frames_) {
    auto& facts = codes_[frame.code];
    facts.seen_before = facts.seen_before || seen_before(frame) != nullptr;
  }
  for (const auto& [code, facts] : codes_) {
    trust_if(facts.seen_before);
    memory_.plan(code, code_bytes);
  }
  memory_.fetch();
  std::vector<std::pair<std::uint64_t, Parts>> unknown;
  for (auto& [code, facts] : codes_) {
    trust_if(facts.seen_before);
    const auto parts = parts_of(code);
    const auto known = importlib_.find(code);
    if (known != importlib_.end() && known->second.parts == parts) {
      facts.role = known->second.role;
    } else {
      unknown.emplace_back(code, parts);
      memory_.plan(parts[0], text_bytes);
      memory_.plan(parts[1], text_bytes);
    }
  }
  memory_.fetch();
  for (const auto& [code, parts] : unknown) {
    auto& facts = codes_[code];
    trust_if(facts.seen_before);
    facts = facts_of(code, parts);
    if (facts.role >= FrameRole::machinery && facts.file.starts_with("<frozen importlib._")) {
      importlib_[code] = {parts, facts.role};
    }
    complete_ = complete_ && facts.role != FrameRole::unknown;
  }
}

std::string ImportStack::name_told_by(std::size_t index) {
  const auto& frame = frames_[index];
  auto object = local_of(frame);
  trust_local_of(frame, object);
  if (codes_[frame.code].role != FrameRole::import) {
    object = objects_.instance_attribute(object, Name::name).object;
  }
  auto name = object == 0 ? std::nullopt : objects_.text(object);
  complete_ = complete_ && name.has_value();
  return name.value_or("");
}

std::vector<FrameRole> ImportStack::read_roles() {
  std::vector<FrameRole> roles;
  roles.reserve(frames_.size());
  for (const auto& frame : frames_) {
    roles.push_back(codes_[frame.code].role);
    if (roles.back() == FrameRole::import) {
      const auto name = local_of(frame);
      trust_local_of(frame, name);
      memory_.plan(name, text_bytes);  // it will be asked for
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
    const auto& frame = frames_[*step.asker];
    trust_objects_of(frame);
    memory_.plan(parts_of(frame.code)[2], table_bytes);
    if (!step.is_body) {
      memory_.trust(MemoryReader::Trust::never);  // a dict changes
      objects_.plan_dict(frame.globals);
      askers.push_back(&frame);
    }
  }
  memory_.fetch();
  memory_.trust(MemoryReader::Trust::never);
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
}

// __name__ of the globals; empty: it has none.
std::string ImportStack::module_of(const Frame& frame) {
  memory_.trust(MemoryReader::Trust::never);
  const auto found = objects_.find(frame.globals, Name::module_name);
  return found.object == 0 ? "" : objects_.text(found.object).value_or("");
}

ImportStep ImportStack::step_of(const PlannedStep& planned) {
  ImportStep step;
  step.module = planned.module;
  if (planned.asker) {
    const auto& frame = frames_[*planned.asker];
    trust_objects_of(frame);
    step.file = codes_[frame.code].file;
    step.line = current_line(objects_, frame);
    // importlib has given a module that name; of other code only its globals know theirs.
    step.importer = planned.is_body && !planned.around.empty() ? planned.around : module_of(frame);
  }
  step.importer = step.importer.empty() ? planned.around : step.importer;
  return step;
}

void ImportStack::prepare() {
  learn_names();
}

void ImportStack::fetch() {
  objects_.forget_objects();
  memory_.fetch_as_before();
}

std::vector<ImportStep> ImportStack::chain(ThreadKey thread) {
  believes_ = false;
  return read_chain(thread);
}

std::vector<ImportStep> ImportStack::chain_with_past(ThreadKey thread, ReadLimits limits) {
  objects_.restart_with_past(limits);
  memory_.prefetch();
  believes_ = true;
  return read_chain(thread);
}

std::optional<std::vector<ImportStep>> ImportStack::corrected(ThreadKey thread) {
  if (memory_.confirm()) {
    return std::nullopt;
  }
  const auto stood = frames_;
  objects_.forget_objects();
  auto steps = chain(thread);
  const bool whole = complete_;
  bool stands = frames_ == stood;
  objects_.forget_objects();
  read_frames(thread);
  stands = stands && frames_ == stood;
  complete_ = whole && stands;
  if (!stands) {
    steps.clear();  // they are of another moment
  }
  return steps;
}

std::vector<ImportStep> ImportStack::read_chain(ThreadKey thread) {
  complete_ = true;
  if (!read_frames(thread)) {
    return {};
  }
  read_codes();
  const auto roles = read_roles();
  memory_.trust(MemoryReader::Trust::not_yet);
  learn_names();
  const auto planned = plan_steps(roles, [this](std::size_t frame) { return name_told_by(frame); });
  fetch_askers(planned);
  std::vector<ImportStep> steps;
  for (const auto& step : planned) {
    steps.push_back(step_of(step));
  }
  remember_frames();
  complete_ = complete_ && !memory_.exhausted();
  return shorten(std::move(steps), most_steps);
}

}  // namespace tracso::python
