#include "python/gdb_probe_target.hpp"

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "proc/status.hpp"
#include "python/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tracso::python {
namespace {

using elf::MemoryImage;

constexpr std::string_view asking_gdb = "ask gdb for the Python modules of";

Error refusal(const ProcessSource& process, ErrorKind kind, std::string reason, std::string hint) {
  return {kind,
          std::string(asking_gdb),
          fmt::format("process {}", process.pid()),
          std::move(reason),
          std::move(hint)};
}

// The state letter, or why this process is left alone.
Result<char> examine_state(const ProcessSource& process) {
  const auto status = process.read("status");
  if (!status) {
    return status.error();
  }
  const auto tracer = parse_unsigned(proc::status_value(*status, "TracerPid").value_or("0"));
  if (tracer.value_or(0) != 0) {
    return refusal(process,
                   ErrorKind::denied,
                   fmt::format("process {} traces it already, and only one can", *tracer),
                   "--probe memory works beside it");
  }
  const auto state = proc::status_value(*status, "State").value_or("?");
  const char letter = state.empty() ? '?' : state.front();
  if (letter == 'Z' || letter == 'X') {
    return refusal(process, ErrorKind::interrupted, "it has ended", "");
  }
  return letter;
}

// Where the ELF header of the object that is the interpreter lies.
std::optional<std::uint64_t> header_of(const Interpreter& found,
                                       const std::vector<Mapping>& mappings) {
  if (!found.runtimes.empty()) {
    const auto header = found.runtimes.front().header;
    return header == 0 ? std::nullopt : std::optional(header);
  }
  const auto first = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return mapping.offset == 0 && mapping.has_file() && mapping.name == found.object;
  });
  return first == mappings.end() ? std::nullopt : std::optional(first->start);
}

bool is_x86_64(const ProcessSource& process, std::uint64_t header) {
#if defined(__x86_64__)
  constexpr std::uint64_t offset_of_machine = 18;  // e_machine
  constexpr std::uint16_t em_x86_64 = 62;
  std::uint16_t machine = 0;
  return process.read_memory(header + offset_of_machine,
                             std::as_writable_bytes(std::span(&machine, 1))) &&
         machine == em_x86_64;
#else
  return process.pid() < 0 && header == 0;  // gdb and its registers are of another machine
#endif
}

// Until 3.11 the state of the thread that holds the lock is one variable for the whole process.
LockKnowledge lock_knowledge(const ProcessSource& process,
                             const MemoryImage& image,
                             const Interpreter& found) {
  if (image.symbol(process, "_Py_MergeZeroLocalRefcount")) {
    return LockKnowledge::no_lock;  // exported by free-threaded builds only
  }
  if (!image.symbol(process, "Py_Version")) {
    return LockKnowledge::current_state;  // the variable came with 3.11
  }
  const auto minor = found.runtimes.empty() ? 0 : found.runtimes.front().minor;
  return minor == 11 ? LockKnowledge::current_state : LockKnowledge::each_thread;
}

Result<GdbScriptInput> look_up(const ProcessSource& process,
                               const MemoryImage& image,
                               const Interpreter& found) {
  GdbScriptInput script;
  script.pid = process.pid();
  for (std::size_t i = 0; i < gdb_functions.size(); ++i) {
    const auto symbol = image.symbol(process, gdb_functions[i]);
    if (!symbol) {
      return refusal(process,
                     ErrorKind::unsupported,
                     fmt::format("'{}' does not export {}", found.object, gdb_functions[i]),
                     "");
    }
    script.functions[i] = symbol->address;
  }
  constexpr std::uint32_t pt_load = 1;
  for (const auto& header : image.program_headers()) {
    if (header.type == pt_load) {
      const std::uint64_t start = image.bias() + header.address;
      script.own = script.own == 0 ? start : std::min(script.own, start);
      script.own_end = std::max(script.own_end, start + header.memory_bytes);
    }
  }
  script.lock = lock_knowledge(process, image, found);
  if (const auto state = image.symbol(process, "_PyThreadState_UncheckedGet")) {
    script.current_state = state->address;
  }
  if (const auto eval = image.symbol(process, "_PyEval_EvalFrameDefault")) {
    script.eval = eval->address;
    script.eval_bytes = eval->size;
  }
  return script;
}

Result<GdbScriptInput> examine_interpreter(const ProbeInput& input, const Interpreter& found) {
  const auto& process = *input.target.process;
  if (found.implementation != Implementation::cpython) {
    return refusal(process,
                   ErrorKind::unsupported,
                   found.implementation == Implementation::pypy ? "it runs PyPy, not CPython"
                                                                : "no CPython runs in it",
                   "");
  }
  const auto header = header_of(found, input.mappings);
  if (!header) {
    return refusal(
        process, ErrorKind::unsupported, "its interpreter does not export any functions", "");
  }
  const auto image = MemoryImage::at_header(process, *header);
  if (!image) {
    return image.error();
  }
  if (image->elf_class() != ElfClass::elf64) {
    return refusal(process, ErrorKind::unsupported, "it is a 32-bit program", "");
  }
  if (!is_x86_64(process, *header)) {
    return refusal(process, ErrorKind::unsupported, "the gdb probe knows x86-64 programs only", "");
  }
  return look_up(process, *image, found);
}

}  // namespace

Error not_permitted(const Target& target, std::string reason) {
  const auto& process = *target.process;
  std::string hint = "it takes the user of the process, or CAP_SYS_PTRACE";
  const auto status = process.read("status");
  if (status) {
    const auto users = split_words(proc::status_value(*status, "Uid").value_or(""), " \t");
    if (!users.empty()) {
      hint = fmt::format("the process belongs to uid {}; run as that user or with CAP_SYS_PTRACE",
                         users.front());
    }
  }
  constexpr std::string_view yama = "/proc/sys/kernel/yama/ptrace_scope";
  std::array<std::byte, 1> scope{std::byte{'0'}};
  if (target.files != nullptr) {
    const auto file = target.files->open(TargetPath{std::string(yama)});
    if (file && (*file)->read_at(0, scope) && scope[0] > std::byte{'0'}) {
      hint = fmt::format("{} is {}: only CAP_SYS_PTRACE or a parent process may look",
                         yama,
                         static_cast<char>(scope[0]));
    }
  }
  return refusal(process, ErrorKind::denied, std::move(reason), std::move(hint));
}

Result<GdbTarget> examine_gdb_target(const ProbeInput& input) {
  if (input.target.process == nullptr) {
    return Error{
        ErrorKind::unsupported, std::string(asking_gdb), input.executable, "nothing runs", ""};
  }
  const auto state = examine_state(*input.target.process);
  if (!state) {
    return state.error();
  }
  const auto found = find_interpreter(input);
  if (!found) {
    return found.error().kind == ErrorKind::denied
               ? not_permitted(input.target, found.error().reason)
               : found.error();
  }
  auto script = examine_interpreter(input, *found);
  if (!script) {
    return script.error();
  }
  return GdbTarget{std::move(*script), found->version, *state == 'T'};
}

}  // namespace tracso::python
