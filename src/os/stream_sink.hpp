#pragma once
// Lines to somebody who may not read them: never waits, keeps what fits, counts the rest.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace tracso::os {

class StreamSink {
 public:
  /// FILE, "-" (standard output), "tcp://host:port", "unix:/path". A connection is made at once,
  /// within two seconds. Errors: usage (no such form), not_found, denied, failed.
  static Result<std::unique_ptr<StreamSink>> open(const std::string& destination);

  /// Takes one line without its newline, writes what the reader takes now and keeps the rest. A
  /// line that finds `most` bytes waiting is dropped whole. false: nobody reads any more.
  bool push(std::string_view line);

  /// Why nothing can be written any more, as errno (EPIPE: the reader has gone); 0: it can.
  int broken() const { return broken_; }

  /// Lines that were dropped so far.
  std::uint64_t dropped() const { return dropped_; }

  /// Lines written whole.
  std::uint64_t written() const { return written_; }

  /// Gives the reader a last moment for what waits; what is left then is dropped.
  void finish();

  static constexpr std::size_t most = std::size_t{1} << 20;

 private:
  enum class Kind : std::uint8_t { file, pipe, socket };

  StreamSink(UniqueFd owned, int fd, Kind kind) : owned_(std::move(owned)), fd_(fd), kind_(kind) {}

  void flush();
  long write_some(std::string_view bytes) const;

  UniqueFd owned_;
  int fd_;
  Kind kind_;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0, sent_of_first_ = 0;
  std::uint64_t dropped_ = 0, written_ = 0;
  int broken_ = 0;
};

}  // namespace tracso::os
