#pragma once
// The imports under way in threads of one Python runtime, read from its frames.

#include "tracso/import_step.hpp"

#include "python/import_steps.hpp"
#include "python/memory_frames.hpp"
#include "python/memory_objects.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracso::python {

class ImportStack {
 public:
  /// `runtime` is the address of a _PyRuntime that has this layout.
  ImportStack(MemoryReader& memory, std::uint64_t runtime, const Layout& layout)
      : memory_(memory), objects_(memory, layout), runtime_(runtime) {}

  /// Reads ahead of the first chain what all of them need, and what it may find of that thread, in
  /// a process that may run meanwhile: nothing of it is used without being compared.
  void prepare(ThreadKey thread);

  /// Begins a new reading with what the last one asked for. To be called before each chain.
  void fetch();

  /// The imports under way in a thread that stands still, outermost first; empty: it runs no Python
  /// of this runtime.
  std::vector<ImportStep> chain(ThreadKey thread);

  /// The same in less time: of calls that the last chain had as well the bytes are compared, and
  /// nothing is made of them again.
  std::vector<ImportStep> chain_with_past(ThreadKey thread, ReadLimits limits);

  /// Does ahead of the next chain what can be done when the thread runs again.
  void tidy();

  /// Nothing of the last chain was unreadable.
  bool is_complete() const { return complete_; }

 private:
  using Parts = std::array<std::uint64_t, 3>;  // addresses of file, name and line table

  // What was made of a code object, and of which bytes.
  struct CodeFacts {
    FrameRole role = FrameRole::unknown;
    std::string file;
    Parts parts{};
    Evidence evidence;
    bool lasts = false;  // importlib's of the only interpreter: it lives as long as the program
  };

  using Code = std::shared_ptr<const CodeFacts>;

  // What was made of a frame.
  struct Call {
    Frame frame;
    Code code;
    std::uint64_t local = 0;          // the first one; 0: not asked for
    std::optional<std::string> name;  // that it tells
    std::optional<LineTable> table;
    std::optional<std::uint32_t> line;
    Evidence of_name, of_table;
  };

  std::vector<ImportStep> read_chain(ThreadKey thread);
  std::vector<Frame> read_frames(ThreadKey thread);
  void renew_calls(const std::vector<Frame>& frames);
  std::size_t calls_as_before(const std::vector<Frame>& frames) const;
  void read_codes();
  Code known_code(std::uint64_t code);
  void suppose(const CodeFacts& facts);
  Parts parts_of(std::uint64_t code);
  bool is_code(std::uint64_t object);
  bool is_only_interpreter();
  Code read_code(std::uint64_t code);
  std::vector<FrameRole> read_roles();
  void read_local(Call& call);
  void learn_names();
  std::string name_told_by(std::size_t call);
  std::optional<std::string> read_name(const Call& call);
  void fetch_askers(const std::vector<PlannedStep>& planned);
  std::string module_of(const Frame& frame);
  std::uint32_t line_of(Call& call);
  ImportStep step_of(const PlannedStep& planned);
  Evidence* room_for(Evidence& evidence) const;

  MemoryReader& memory_;
  Objects objects_;
  std::uint64_t runtime_;
  std::uint64_t code_type_ = 0;
  bool names_learnt_ = false;
  std::unordered_map<std::uint64_t, Code> importlib_;  // by address
  bool runs_ = false;                                  // the process, while it is read
  bool supposes_ = false;
  // Of the last reading, or of the one under way; outermost first.
  std::vector<Call> calls_;
  std::unordered_map<std::uint64_t, Code> codes_;  // of these calls, by address
  std::size_t evidence_bytes_ = 0;
  bool complete_ = true;
};

}  // namespace tracso::python
