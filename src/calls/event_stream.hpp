#pragma once
// The rings of all traced processes, read while they run: events in the order of time, for a
// writer.

#include "calls/arena.hpp"
#include "calls/call_lines.hpp"
#include "calls/region.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tracso::calls {

struct StreamCounts {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  ///< for which there was no room, or which came in the middle of another
  std::uint64_t damaged = 0;   ///< pieces of rings that were no events: the program wrote over them
  std::uint64_t unmapped = 0;  ///< rings that could not be mapped here
};

class EventStream {
 public:
  /// `places`: tell the writer where calls come from. `arena` must outlive it.
  EventStream(const Arena& arena,
              std::unique_ptr<CallWriter> writer,
              std::shared_ptr<PrototypeFinder> prototypes,
              bool places);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// Reads what has come. Events of the last moment are kept back until the next time, for another
  /// thread may be about to publish an earlier one. false: nothing had come.
  bool read();
  /// The same, with nothing kept back: when all have ended.
  void read_rest();

  /// Nothing more comes (CallWriter::end).
  void end(std::string_view last) { writer_->end(last); }

  std::string take() { return writer_->take(); }

  StreamCounts counts() const;

 private:
  class Ring;
  struct Program;

  struct Waiting {
    std::uint32_t program = 0;
    CallEvent event;
  };

  bool collect();
  void write_until(std::uint64_t ticks);
  void look_for_rings(std::uint32_t index);
  void write(const Waiting& waiting);
  bool is_left_out(const Waiting& waiting, bool is_call);
  TickTime time() const;

  const Arena& arena_;
  std::unique_ptr<CallWriter> writer_;
  std::shared_ptr<PrototypeFinder> prototypes_;
  bool places_;
  TickRate rate_;
  TickTime start_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<Waiting> waiting_;
  std::uint64_t last_look_ = 0;  // ticks
  StreamCounts counts_;
  std::set<std::tuple<std::uint32_t, std::int32_t, std::uint64_t>> left_out_;  // calls under way
};

}  // namespace tracso::calls
