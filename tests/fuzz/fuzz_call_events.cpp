// Events of `tracso calls`: bytes that a traced process wrote, and could have forged.
//
// Input: position in the ring (8 bytes), then what stood there.

#include "calls/call_lines.hpp"
#include "calls/events.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracso::calls;
  constexpr std::array names{"open",
                             "printf",
                             "read",
                             "snprintf",
                             "memcmp",
                             "pow",
                             "fwrite",
                             "_Z3fooi",
                             "exit",
                             "no_such"};
  std::uint64_t position = 0;
  if (size < sizeof position) {
    return 0;
  }
  std::memcpy(&position, data, sizeof position);
  const std::span bytes(data + sizeof position, size - sizeof position);
  std::vector<CallEvent> events;
  parse_events(std::as_bytes(bytes), position, events);
  if (events.size() > bytes.size() / sizeof(tracso_event)) {
    std::abort();  // more than fit
  }
  LineOptions options;
  options.demangle = true;
  options.took = true;
  options.indent = 1;
  CallLines lines(options);
  for (const auto& event : events) {
    const auto* name = names[event.slot % names.size()];
    lines.add(0, event, {name, "prog\x1b[m", true, Prototypes::built_in().find(name)}, "");
  }
  lines.end("end");
  for (const char character : lines.take()) {
    if (static_cast<unsigned char>(character) < ' ' && character != '\n') {
      std::abort();  // a terminal would obey it
    }
  }
  return 0;
}
