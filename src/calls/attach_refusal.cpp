#include "calls/attach_refusal.hpp"

#include "base/text.hpp"
#include "calls/refusal.hpp"
#include "calls/target_file.hpp"
#include "proc/maps.hpp"
#include "proc/smaps.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tracso::calls {
namespace {

constexpr std::string_view locks_memory =
    "it locks all that it maps (mlockall with MCL_FUTURE): what the agent reserves there would "
    "fill the machine";

Error refuse(const ProcessSource& process, std::string reason, std::string hint) {
  return {ErrorKind::unsupported,
          "attach to process",
          std::to_string(process.pid()),
          std::move(reason),
          std::move(hint)};
}

std::optional<Error> refused_by_state(const ProcessSource& process) {
  const auto text = process.read("stat");
  const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
  if (!stat) {
    return std::nullopt;
  }
  if (stat->kernel_thread()) {
    return refuse(process, "it is a kernel thread: it has no libraries", "");
  }
  if (stat->state == 'Z' || stat->state == 'X') {
    return refuse(process, "it has ended already; only its parent has not asked yet (zombie)", "");
  }
  const auto status = process.read("status");
  const auto tracer = status ? proc::status_value(*status, "TracerPid") : std::nullopt;
  if (tracer && trim(*tracer) != "0") {
    return refuse(process,
                  fmt::format("process {} traces it, and there can be only one", trim(*tracer)),
                  "end that debugger or tracer first");
  }
  const auto seccomp = status ? proc::status_value(*status, "Seccomp") : std::nullopt;
  if (seccomp && trim(*seccomp) == "1") {
    return refuse(
        process,
        "it may only read, write and end (seccomp, strict mode): what the agent needs would "
        "kill it",
        "");
  }
  if (stat->state == 'T' || stat->state == 't') {
    return refuse(process,
                  "it is stopped, and a stopped process cannot let the agent in",
                  fmt::format("kill -CONT {}", process.pid()));
  }
  return std::nullopt;
}

bool is_sanitizer(std::string_view name) {
  constexpr std::array names{
      "libasan.so", "libtsan.so", "liblsan.so", "libmsan.so", "libhwasan.so"};
  return std::any_of(names.begin(),
                     names.end(),
                     [&](std::string_view one) { return name.starts_with(one); }) ||
         name.starts_with("libclang_rt.");
}

std::optional<Error> refused_by_libraries(const ProcessSource& process,
                                          const std::vector<Mapping>& mappings) {
  bool has_c_library = false;
  for (const auto& mapping : mappings) {
    const auto name = base_name(mapping.name);
    if (is_sanitizer(name)) {
      return refuse(process,
                    fmt::format("{} is in it, a sanitizer, which does not bear an agent beside it",
                                printable(name)),
                    "a build without -fsanitize can be traced");
    }
    if (name.starts_with("ld-musl") || name.starts_with("libc.musl") || name == "libc.so") {
      return refuse(process,
                    "its C library is musl, which gives no thread-local memory to what comes later",
                    "tracso calls CMD starts it with the agent");
    }
    has_c_library = has_c_library || name.starts_with("libc.so") || name.starts_with("libc-2");
  }
  if (!has_c_library) {
    return refuse(process,
                  "there is no glibc in it, whose loader could take the agent in",
                  "tracso PID shows what is in it");
  }
  return std::nullopt;
}

}  // namespace

bool has_locked(const ProcessSource& process, std::uint64_t address) {
  const auto status = process.read("status");
  const auto value = status ? proc::status_value(*status, "VmLck") : std::nullopt;
  if (value && trim(*value) == "0 kB") {
    return false;
  }
  const auto text = process.read("smaps");
  return !text || proc::is_locked(*text, address).value_or(true);
}

Error refusal_of_locked(const ProcessSource& process) {
  return refuse(process, std::string(locks_memory), "tracso calls -S -p needs no agent in it");
}

std::optional<Error> attach_refusal(const Target& target) {
  const ProcessSource& process = *target.process;
  if (process.pid() == ::getpid()) {
    return refuse(process, "that is tracso itself", "");
  }
  if (auto error = refused_by_state(process)) {
    return error;
  }
  const auto text = process.read("maps");
  const auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return mappings.error();
  }
  // The program is what the kernel mapped for its file first.
  const auto path = process.read_link("exe");
  const auto program = std::find_if(mappings->begin(), mappings->end(), [&](const Mapping& one) {
    return one.has_file() && one.offset == 0 && path &&
           (one.name == *path || *path == one.name + " (deleted)");
  });
  if (program != mappings->end()) {
    const auto file = open_file_of(target, *program);
    if (file) {
      if (auto error = refusal_of_file(**file, {program->name})) {
        error->kind = ErrorKind::unsupported;
        error->action = "attach to process";
        error->subject = std::to_string(process.pid());
        if (error->hint.starts_with(
                "-x ")) {  // functions of a running process cannot be stopped at
          error->hint = fmt::format("tracso calls -S -p {} shows its system calls", process.pid());
        }
        return error;
      }
    }
  }
  return refused_by_libraries(process, *mappings);
}

}  // namespace tracso::calls
