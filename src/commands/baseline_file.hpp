#pragma once
// Baselines as files: figures of one machine, to be compared on one like it.

#include "tracso/result.hpp"
#include "tracso/stat.hpp"

#include <string>
#include <vector>

namespace tracso {

/// Errors: it cannot be read, is none, or was made with pages of another size.
Result<Baseline> read_baseline(const std::string& path);

/// `libraries` are paths; their base names are kept.
Result<Done> write_baseline(const std::string& path,
                            const std::string& target,
                            const StatFigures& figures,
                            const std::vector<std::string>& libraries);

/// Says where kernel or huge pages differ from what the baseline was made with.
void add_baseline_notices(const Baseline& baseline, std::vector<Notice>& notices);

}  // namespace tracso
