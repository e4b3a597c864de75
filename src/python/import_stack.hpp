#pragma once
// The imports under way in threads of one Python runtime, read from its frames.

#include "tracso/import_step.hpp"

#include "python/import_steps.hpp"
#include "python/memory_frames.hpp"
#include "python/memory_objects.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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

  /// Reads ahead of the first chain what all of them need, in a process that may run meanwhile.
  void prepare();

  /// Begins a new reading with what the last one asked for. To be called before each chain.
  void fetch();

  /// The imports under way in a thread that stands still, outermost first; empty: it runs no Python
  /// of this runtime.
  std::vector<ImportStep> chain(ThreadKey thread);

  /// The same in less time: only its frames are read, and the objects of frames that the last chain
  /// did not have. Of the others it is believed that they are as they were: corrected() has to be
  /// asked whether that is so.
  std::vector<ImportStep> chain_with_past(ThreadKey thread, ReadLimits limits);

  /// After chain_with_past(), when the thread runs again, but in C code that does not return soon.
  /// nullopt: what was believed is so, and therefore was so when the thread stood; for it keeps
  /// what its frames refer to. Else the chain as it is now; where the thread has gone on meanwhile
  /// that is another one: then it is empty and counts as incomplete.
  std::optional<std::vector<ImportStep>> corrected(ThreadKey thread);

  /// Nothing of the last chain was unreadable.
  bool is_complete() const { return complete_; }

 private:
  using Parts = std::array<std::uint64_t, 3>;  // addresses of file, name and line table

  // A code object of importlib, and what it must still be made of.
  struct KnownCode {
    Parts parts{};
    FrameRole role = FrameRole::unknown;
  };

  struct CodeFacts {
    FrameRole role = FrameRole::unknown;
    std::string file;
    bool seen_before = false;  // in the last chain
  };

  // A frame of the last chain.
  struct PastFrame {
    std::uint64_t code = 0, globals = 0, local = 0;
  };

  std::vector<ImportStep> read_chain(ThreadKey thread);
  bool read_frames(ThreadKey thread);
  const PastFrame* seen_before(const Frame& frame) const;
  void trust_if(bool seen_before);

  void trust_objects_of(const Frame& frame) { trust_if(seen_before(frame) != nullptr); }

  void trust_local_of(const Frame& frame, std::uint64_t local);
  std::uint64_t local_of(const Frame& frame);
  void remember_frames();
  void read_codes();
  Parts parts_of(std::uint64_t code);
  bool is_code(std::uint64_t object);
  CodeFacts facts_of(std::uint64_t code, const Parts& parts);
  std::vector<FrameRole> read_roles();
  void learn_names();
  std::string name_told_by(std::size_t frame);
  void fetch_askers(const std::vector<PlannedStep>& planned);
  std::string module_of(const Frame& frame);
  ImportStep step_of(const PlannedStep& planned);

  MemoryReader& memory_;
  Objects objects_;
  std::uint64_t runtime_;
  std::uint64_t code_type_ = 0;
  bool names_learnt_ = false;
  std::unordered_map<std::uint64_t, KnownCode> importlib_;  // by address
  std::unordered_map<std::uint64_t, PastFrame> past_;       // by address
  bool believes_ = false;
  // Of the reading under way, outermost first.
  std::vector<Frame> frames_;
  std::unordered_map<std::uint64_t, CodeFacts> codes_;
  bool complete_ = true;
};

}  // namespace tracso::python
