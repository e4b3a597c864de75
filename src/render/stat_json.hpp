#pragma once
// The documents of `tracso stat` and `tracso fds` (docs/json.md), baselines, and JUnit's form.

#include "tracso/descriptor_rate.hpp"
#include "tracso/stat.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso {

std::string stat_json(const Stat& stat);
std::string descriptors_json(std::int32_t pid,
                             const std::vector<Descriptor>& descriptors,
                             const std::vector<DescriptorRate>& rates,
                             const std::vector<Notice>& notices);
/// `tracso diff` of two lists of descriptors.
std::string descriptor_diff_json(const std::string& before,
                                 const std::string& after,
                                 const DescriptorChange& change,
                                 const std::vector<Notice>& notices);
/// What --save-baseline writes.
std::string baseline_json(const Baseline& baseline);
/// A test suite with one case per budget, for what shows test results; XML.
std::string budgets_junit(const Stat& stat);

}  // namespace tracso
