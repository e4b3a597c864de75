#include "cli/guide.hpp"

#include "generated/guide_texts.hpp"

#include <array>

namespace tracso {

std::span<const GuideTopic> guide_topics() {
  static constexpr std::array topics{
      GuideTopic{"recipes", "the jobs people come with, and what answers them", guide_recipes},
      GuideTopic{"attribution", "to whom a library belongs, with examples", guide_attribution},
      GuideTopic{"findings", "what is looked for, and what it means", guide_findings},
      GuideTopic{"exit-status", "what the exit status says", guide_exit_status},
      GuideTopic{"loader-rules", "how ld.so finds a file", guide_loader_rules},
      GuideTopic{"python-probes", "how the modules of a Python are found", guide_python_probes},
      GuideTopic{"json", "the document that --json prints", guide_json},
      GuideTopic{"recordings", "what 'tracso record' writes down", guide_recordings},
      GuideTopic{"completions", "words that the shell completes", guide_completions},
      GuideTopic{"costs", "what stat, fds, watch and diff measure, and how", guide_costs},
      GuideTopic{"calls", "how calls between libraries are counted and timed", guide_calls},
      GuideTopic{"dump", "what every thread is doing, and how that is read", guide_dump},
      GuideTopic{"glossary", "the words that are used here", guide_glossary}};
  return topics;
}

}  // namespace tracso
