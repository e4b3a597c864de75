// Any bytes as a configuration file of ltrace: nothing crashes, what is planned stays within what
// the agent keeps, and any words of a call can be shown by what came of it.

#include "calls/argument_text.hpp"
#include "calls/capture_rules.hpp"
#include "calls/ltrace_config.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso::calls;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

// A call whose pointers lead to the text itself.
CallEvent made_up(const std::string& text, const Prototype& prototype) {
  CallEvent event;
  std::uint64_t number = text.size();
  for (auto& word : event.call.integer) {
    word = ++number * 4096;
  }
  event.call.stack_words = number % (tracso_stack_words + 1);
  for (std::size_t i = 0; i < prototype.nodes.size(); ++i) {
    const auto bytes = std::min<std::size_t>(prototype.nodes[i].bytes, text.size());
    event.pieces.push_back({static_cast<std::uint8_t>(tracso_piece_node + i),
                            tracso_piece_cut,
                            text.substr(0, bytes)});
  }
  event.result.integer = number;
  return event;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Prototypes prototypes;
  constexpr std::size_t elements = 3;
  LtraceConfig config(prototypes, elements);
  for (const auto& problem : config.add(text)) {
    require(problem.line > 0 && !problem.reason.empty());
    for (const char character : problem.reason) {
      require(static_cast<unsigned char>(character) >= ' ');  // nothing that a terminal obeys
    }
  }
  config.add(text);  // its types are known by now
  for (const auto& [name, prototype] : prototypes.functions()) {
    require(capture_key(name).size() < tracso_capture_name_bytes);
    require(prototype.nodes.size() <= tracso_most_capture_nodes);
    const auto rule = capture_rule(name, prototype);
    require(rule.nodes == prototype.nodes.size());
    const auto event = made_up(text, prototype);
    const ShownLimits limits{8, elements};
    arguments_at_call(event, &prototype, limits);
    arguments_at_return(event, event, &prototype, limits);
    result_text(&event, event, &prototype, limits);
    result_text(nullptr, event, &prototype, limits);
  }
  return 0;
}
