#pragma once
// `tracso fds` for people and as CSV.

#include "tracso/descriptor_rate.hpp"
#include "tracso/renderer.hpp"
#include "tracso/resources.hpp"
#include "tracso/stat.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso {

/// `rates` has one for each descriptor, or none: they were not asked for.
std::string descriptors_text(const RenderOptions& options,
                             std::int32_t pid,
                             const std::vector<Descriptor>& descriptors,
                             const std::vector<DescriptorRate>& rates,
                             const std::vector<Notice>& notices);

/// `tracso diff` of two lists: what was opened and what was closed.
std::string descriptor_diff_text(const RenderOptions& options,
                                 const std::string& before,
                                 const std::string& after,
                                 const DescriptorChange& change);

/// RFC 4180: fd,kind,target,detail,deleted,bytes_waiting,bytes_unsent,peers, and where rates were
/// measured received_per_second,sent_per_second,position_per_second,queue_per_second.
std::string descriptors_csv(const std::vector<Descriptor>& descriptors,
                            const std::vector<DescriptorRate>& rates);

}  // namespace tracso
