#include "commands/stream.hpp"

#include "base/text.hpp"
#include "commands/output.hpp"

#include <fmt/format.h>

namespace tracso {

Result<std::unique_ptr<Stream>> Stream::open(const std::string& destination) {
  auto sink = os::StreamSink::open(destination);
  if (!sink) {
    return sink.error();
  }
  return std::unique_ptr<Stream>(new Stream(std::move(*sink)));
}

Stream::~Stream() {
  sink_->finish();
}

std::uint64_t Stream::finish() {
  sink_->finish();
  return sink_->dropped();
}

bool Stream::send(const std::string& line) {
  return sink_->push(line);
}

void Stream::sample(std::int32_t pid) {
  if (!sampler_ || sampler_->pid() != pid) {
    auto opened = os::Sampler::open(pid);
    if (!opened) {
      return;
    }
    sampler_ = std::move(*opened);
  }
  if (const auto look = sampler_->look()) {
    send(sample_line(pid, *look, look->at - begin_, dropped()));
  }
}

void say_dropped(std::uint64_t lines) {
  if (lines > 0) {
    say(fmt::format("{} dropped: its reader was too slow",
                    counted(lines, "line of --stream was", "lines of --stream were")));
  }
}

std::string sample_line(std::int32_t pid,
                        const os::QuickLook& look,
                        std::chrono::nanoseconds since_begin,
                        std::uint64_t dropped) {
  return fmt::format(
      "{{\"schema\":\"tracso/1\",\"kind\":\"sample\",\"time_ns\":{},\"pid\":{},"
      "\"rss\":{},\"virtual\":{},\"fds\":{},\"threads\":{},\"cpu_ns\":{},"
      "\"dropped\":{}}}",
      since_begin.count(),
      pid,
      look.resident,
      look.virtual_,
      look.descriptors,
      look.threads,
      look.cpu.count(),
      dropped);
}

}  // namespace tracso
