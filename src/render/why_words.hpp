#pragma once
// The sentences of --why: which edge decided, and how each step is said.

#include "tracso/answers.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tracso {

/// The edge that brought the library in: the one marked first, else the last of the shortest chain,
/// else any; nullopt: nothing is known to have caused it.
std::optional<EdgeId> deciding_edge(const Trace& trace, const WhyMatch& match);

/// The whole answer in one sentence: "libdnn.so.9 came in with py:gpu._core: _core.so needs it,
/// found through LD_LIBRARY_PATH entry 2".
std::string why_headline(const Trace& trace, const WhyMatch& match);

/// "needed, found through RUNPATH of /x/a.so"; what one step of a chain says behind the name.
std::string hop_phrase(const Graph& graph, const Edge& edge);

/// "not found", "found", "lost".
std::string_view outcome_phrase(SearchStep::Outcome outcome);

/// The setting that named the place, else the rule's name.
std::string step_setting(const SearchStep& step);

/// What happened to the file since it was loaded; empty: nothing.
std::string_view state_sentence(ObjectFile::State state);

}  // namespace tracso
