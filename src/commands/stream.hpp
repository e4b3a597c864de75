#pragma once
// Samples of a process as JSON Lines to --stream.

#include "tracso/result.hpp"

#include "os/sampler.hpp"
#include "os/stream_sink.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tracso {

class Stream {
 public:
  static Result<std::unique_ptr<Stream>> open(const std::string& destination);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// One quick look at the process, sent off.
  void sample(std::int32_t pid);
  /// A line that is there already. false: nobody reads any more.
  bool send(const std::string& line);

  /// As os::StreamSink::broken().
  int broken() const { return sink_->broken(); }

  std::uint64_t dropped() const { return sink_->dropped(); }

  /// Gives the reader a last moment; how many lines it has missed in all.
  std::uint64_t finish();

 private:
  explicit Stream(std::unique_ptr<os::StreamSink> sink) : sink_(std::move(sink)) {}

  std::unique_ptr<os::StreamSink> sink_;
  std::optional<os::Sampler> sampler_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// {"schema":...,"kind":"sample","time_ns":..,"pid":..,"rss":..} without a newline.
std::string sample_line(std::int32_t pid,
                        const os::QuickLook& look,
                        std::chrono::nanoseconds since_begin,
                        std::uint64_t dropped);

/// Says it where the reader of --stream was too slow for some lines.
void say_dropped(std::uint64_t lines);

}  // namespace tracso
