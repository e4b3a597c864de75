#pragma once
// In which container a process runs, by its control group (cgroups(7); what container engines call
// their groups).

#include <string>
#include <string_view>

namespace tracso::proc {

/// The container that cgroup names (cgroups(7)), by the forms of Docker, containerd, CRI-O, Podman,
/// LXC and systemd-nspawn; ids cut to 12 characters. Empty: none of them.
std::string container_of(std::string_view cgroup);

}  // namespace tracso::proc
