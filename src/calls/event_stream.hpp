#pragma once
// The rings of all traced processes, read while they run: events in the order of time, as text.

#include "calls/arena.hpp"
#include "calls/call_lines.hpp"
#include "calls/region.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
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
  EventStream(const Arena& arena, const LineOptions& options);
  ~EventStream();
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;

  /// Reads what has come. Events of the last moment are kept back until the next time, for another
  /// thread may be about to publish an earlier one. false: nothing had come.
  bool read();
  /// The same, with nothing kept back: when all have ended.
  void read_rest();

  /// A line of our own.
  void add_line(std::string_view text) { lines_.add_line(text); }

  /// Nothing more comes: a line that waits for its result is ended.
  void close_line() { lines_.close_line(); }

  std::string take() { return lines_.take(); }

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
  TickTime time() const;

  const Arena& arena_;
  LineOptions options_;
  CallLines lines_;
  TickRate rate_;
  TickTime start_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<Waiting> waiting_;
  std::uint64_t last_look_ = 0;  // ticks
  StreamCounts counts_;
};

}  // namespace tracso::calls
