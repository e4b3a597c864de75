#pragma once
// --baseline and --save-baseline of a trace: the figures that it has in common with `tracso stat`.

#include "tracso/answers.hpp"
#include "tracso/result.hpp"
#include "tracso/stat.hpp"

#include "commands/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// The baseline to compare with, read before anything runs for it; nullopt: none was asked for.
Result<std::optional<Baseline>> read_asked_baseline(const BaselineRequest& request);

/// One line per figure that has grown too much, or is not known any more.
std::vector<std::string> failed_baseline(const Trace& trace,
                                         const Summary& summary,
                                         const Baseline& baseline,
                                         const Tolerances& tolerances);

/// Of a target that ended meanwhile nothing is written: it would be held against later ones.
Result<Done> save_asked_baseline(const Trace& trace,
                                 const Summary& summary,
                                 const BaselineRequest& request);

}  // namespace tracso
