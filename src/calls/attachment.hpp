#pragma once
// The agent in a process that runs already: how it gets in, and how everything is put back.
//
//   1. a thread at a safe point is borrowed; the process makes two memfds, which we open and fill:
//      so neither its user nor its mount or process namespace matters
//   2. the loader of the process loads the agent, unless one is there already
//   3. the agent patches what is loaded, in pieces; between them the thread runs
//   4. at the end all slots are given back, the agent stays: a thread may be in a traced call
//
// What happens there: src/agent/attach.c.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "calls/agent_files.hpp"
#include "calls/agent_layout.hpp"
#include "calls/arena.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracso::calls {

/// How long threads of the process were held.
struct HeldTime {
  std::chrono::nanoseconds all{0}, longest{0};
  unsigned times = 0;
};

class Attachment {
 public:
  /// Of `target` process and files, which must outlive it. denied: the kernel does not permit it;
  /// unsupported: a process that cannot be traced, or not now (its reason says why), and is as it
  /// was; interrupted: it ended.
  static Result<std::unique_ptr<Attachment>> attach(const Target& target,
                                                    const ArenaOptions& options);
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  const Arena& arena() const { return *arena_; }

  const ProcessSource& process() const { return *target_.process; }

  const HeldTime& held() const { return held_; }

  /// Gives all slots back. Nothing to do where the process has ended. unsupported: no safe point
  /// came; then they go on counting, which harms nobody. interrupted: the process runs another
  /// program by now.
  Result<Done> detach();

 private:
  class Visit;

  explicit Attachment(const Target& target) : target_(target) {}

  static constexpr std::uint64_t budget_ns = 8'000'000;  // of one visit to the agent

  bool is_agent_there() const;
  Result<Done> come(const ArenaOptions& options);
  Result<long> begin(Visit& visit, const ArenaOptions& options);
  Result<Done> load_agent(Visit& visit,
                          Result<ForeignFile> memory,
                          std::vector<tracee::RemoteCall>& afterwards);
  Result<Done> open_agent(Visit& visit, const std::string& path);

  Target target_;
  std::optional<Arena> arena_;
  LoaderFunctions functions_;
  AgentLayout layout_;
  std::uint64_t agent_ = 0;  // its load address; 0: not loaded
  bool attached_ = false;
  HeldTime held_;
};

}  // namespace tracso::calls
