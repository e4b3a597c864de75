#include "os/privileges.hpp"

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "os/disk.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace tracso::os {
namespace {

constexpr unsigned cap_sys_ptrace = 19;  // linux/capability.h

std::string proc_text(const std::string& name) {
  auto text = read_disk_file("/proc/" + name);
  return text ? *text : "";
}

std::string first_word(std::string_view line) {
  const auto words = split_words(line, " \t");
  return words.empty() ? "" : std::string(words.front());
}

std::string status_word(const std::string& status, std::string_view name) {
  const auto value = proc::status_value(status, name);
  return value ? first_word(*value) : "";
}

std::string command_line(std::int32_t pid) {
  const auto words = proc::parse_nul_list(proc_text(fmt::format("{}/cmdline", pid)));
  return join(words, " ").substr(0, 100);
}

bool container_marks() {
  return ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0 ||
         proc_text("1/cgroup").find("/docker") != std::string::npos ||
         proc_text("1/cgroup").find("/kubepods") != std::string::npos ||
         proc_text("1/environ").find("container=") != std::string::npos;
}

std::string hint_for(const VisibleProcess& visible, const Obstacle& obstacle) {
  if (obstacle.our_uid == 0 && obstacle.have_ptrace_capability) {
    return "a security module (AppArmor, SELinux) refuses, or the process belongs to another user "
           "namespace: look from there";
  }
  if (obstacle.our_uid == 0 && obstacle.in_container) {
    return "root in a container needs the capability SYS_PTRACE: docker run --cap-add=SYS_PTRACE, "
           "or securityContext.capabilities in Kubernetes";
  }
  if (obstacle.our_uid == 0) {
    return "this root lacks the capability CAP_SYS_PTRACE";
  }
  if (obstacle.our_uid == visible.uid && obstacle.yama_scope > 0) {
    return fmt::format(
        "kernel.yama.ptrace_scope is {}: run as root, or start the program with 'tracso --run'",
        obstacle.yama_scope);
  }
  if (obstacle.our_uid == visible.uid) {
    return "the process is yours but protected (set-user-ID, capabilities, or "
           "prctl(PR_SET_DUMPABLE, 0)): run tracso as root";
  }
  return fmt::format("it belongs to {}: run tracso as that user or as root", visible.user);
}

}  // namespace

VisibleProcess look_from_outside(std::int32_t pid) {
  VisibleProcess visible;
  const std::string status = proc_text(fmt::format("{}/status", pid));
  visible.name = std::string(proc::status_value(status, "Name").value_or(""));
  visible.uid = static_cast<std::uint32_t>(parse_unsigned(status_word(status, "Uid")).value_or(0));
  visible.user = user_name(visible.uid);
  visible.state = std::string(proc::status_value(status, "State").value_or(""));
  if (const auto kilobytes = parse_unsigned(status_word(status, "VmRSS"))) {
    visible.resident = size_text(*kilobytes * 1024);
  }
  visible.command = command_line(pid);
  visible.traced = parse_unsigned(status_word(status, "TracerPid")).value_or(0) != 0;
  return visible;
}

Obstacle look_at_obstacle() {
  Obstacle obstacle;
  obstacle.our_uid = ::geteuid();
  const auto effective = parse_unsigned(status_word(proc_text("self/status"), "CapEff"), 16);
  obstacle.have_ptrace_capability = effective && ((*effective >> cap_sys_ptrace) & 1U) != 0;
  obstacle.in_container = container_marks();
  const auto scope = parse_unsigned(trim(proc_text("sys/kernel/yama/ptrace_scope")));
  obstacle.yama_scope = scope ? static_cast<int>(*scope) : -1;
  return obstacle;
}

Error explain_denial(Error error, const VisibleProcess& visible, const Obstacle& obstacle) {
  if (visible.name.empty() || error.reason.find("kernel thread") != std::string::npos) {
    return error;
  }
  error.detail = fmt::format("still visible: '{}' of user {}, {}{}; its libraries are not",
                             printable(visible.command.empty() ? visible.name : visible.command),
                             visible.user,
                             visible.state.empty() ? "state unknown" : "state " + visible.state,
                             visible.resident.empty() ? "" : ", " + visible.resident + " resident");
  error.hint = hint_for(visible, obstacle);
  return error;
}

std::string user_name(std::uint32_t uid) {
  // getpwuid gives nothing in a static program without NSS; the file is the same on every Unix.
  const auto file = read_disk_file("/etc/passwd");
  const std::string text = file ? *file : "";
  for (const std::string_view line : split(text, '\n')) {
    const auto fields = split(line, ':');
    if (fields.size() > 2 && parse_unsigned(fields[2]) == uid) {
      return fmt::format("{} (uid {})", printable(fields[0]), uid);
    }
  }
  return fmt::format("uid {}", uid);
}

}  // namespace tracso::os
