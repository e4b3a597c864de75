// In glibc's loader the system directories stand as one run of texts, each ending in '/' and NUL:
// "/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib/", "/usr/lib/". $LIB is the rest
// behind /usr/ of the first that starts so. The version is in "stable release version 2.36".

#include "loader/loader_traits.hpp"

#include "base/text.hpp"
#include "loader/environment.hpp"

#include <elf.h>

#include <algorithm>
#include <climits>

namespace tracso::loader {
namespace {

constexpr std::size_t loader_limit = std::size_t{16} << 20;
constexpr std::size_t shortest_directory = 4;  // "/lib"
constexpr std::size_t most_directories = 8;
constexpr std::string_view version_mark = "stable release version 2.";
constexpr std::string_view musl_mark = "/etc/ld-musl-";
constexpr std::string_view musl_default_path = "/lib:/usr/local/lib:/usr/lib";
constexpr std::uint32_t arm_hard_float = 0x400;
constexpr unsigned first_with_isa_levels = 33;
constexpr unsigned last_with_abi_notes = 35;

// The run of directory texts that starts at `at`.
std::vector<std::string> directory_run(std::string_view bytes, std::size_t at) {
  std::vector<std::string> run;
  while (at < bytes.size() && bytes[at] == '/' && run.size() <= most_directories) {
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string_view::npos || end - at < shortest_directory || end - at > PATH_MAX ||
        bytes[end - 1] != '/') {
      break;
    }
    run.emplace_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return run;
}

std::vector<std::string> longest_directory_run(std::string_view bytes) {
  std::vector<std::string> best;
  constexpr std::string_view start("\0/", 2);
  for (auto at = bytes.find(start); at != std::string_view::npos;) {
    auto run = directory_run(bytes, at + 1);
    std::size_t length = 1;
    for (const auto& directory : run) {
      length += directory.size() + 1;
    }
    if (run.size() > best.size() && run.size() <= most_directories) {
      best = std::move(run);
    }
    // The NUL behind a run may start the next one.
    at = bytes.find(start, at + std::max<std::size_t>(length - 1, 1));
  }
  return best;
}

std::string lib_of(const std::vector<std::string>& directories) {
  for (const std::string_view directory : directories) {
    if (directory.starts_with("/usr/") && directory.size() > 6) {
      return std::string(directory.substr(5, directory.size() - 6));
    }
  }
  return "lib";
}

std::string_view glibc_interpreter(const ProgramKind& kind) {
  const bool wide = kind.elf_class == ElfClass::elf64;
  const bool big = kind.byte_order == ByteOrder::big;
  switch (kind.machine) {
    case EM_X86_64:
      return wide ? "/lib64/ld-linux-x86-64.so.2" : "/libx32/ld-linux-x32.so.2";
    case EM_386:
      return "/lib/ld-linux.so.2";
    case EM_AARCH64:
      return big ? "/lib/ld-linux-aarch64_be.so.1" : "/lib/ld-linux-aarch64.so.1";
    case EM_ARM:
      return (kind.flags & arm_hard_float) != 0 ? "/lib/ld-linux-armhf.so.3" : "/lib/ld-linux.so.3";
    case EM_PPC64:
      return big ? "/lib64/ld64.so.1" : "/lib64/ld64.so.2";
    case EM_S390:
      return wide ? "/lib/ld64.so.1" : "/lib/ld.so.1";
    case EM_RISCV:
      return wide ? "/lib/ld-linux-riscv64-lp64d.so.1" : "/lib/ld-linux-riscv32-ilp32d.so.1";
    case loongarch:
      return "/lib64/ld-linux-loongarch-lp64d.so.1";
    case EM_MIPS:
      return wide ? "/lib64/ld.so.1" : "/lib/ld.so.1";
    case EM_PPC:
      return "/lib/ld.so.1";
    default:
      return {};
  }
}

// The name of the machine in musl's file names, for a library that needs "libc.so".
std::string_view musl_machine(const ProgramKind& kind) {
  const bool wide = kind.elf_class == ElfClass::elf64;
  switch (kind.machine) {
    case EM_X86_64:
      return wide ? "x86_64" : "x32";
    case EM_386:
      return "i386";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return (kind.flags & arm_hard_float) != 0 ? "armhf" : "arm";
    case EM_PPC64:
      return "powerpc64le";
    case EM_S390:
      return "s390x";
    case EM_RISCV:
      return "riscv64";
    default:
      return {};
  }
}

std::string musl_interpreter(std::string_view machine) {
  return machine.empty() ? std::string() : "/lib/ld-musl-" + std::string(machine) + ".so.1";
}

std::vector<std::string> usual_directories(const ProgramKind& kind) {
  if (kind.elf_class == ElfClass::elf64) {
    return {"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"};
  }
  return {"/lib/", "/usr/lib/"};
}

// "/opt/musl/lib/ld-musl-x86_64.so.1" -> "/opt/musl": musl looks for its path file there.
std::string_view grandparent(std::string_view path) {
  const std::string_view parent = directory_of(path);
  return parent == "/" ? "" : directory_of(parent) == "/" ? "" : directory_of(parent);
}

// What comes behind "ld-musl-", up to a dot.
std::string_view machine_in(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = text.substr(at + mark.size());
  return rest.substr(0, rest.find('.'));
}

void read_musl(const FileSystem& files, std::string_view bytes, LoaderTraits& traits) {
  traits.family = LoaderFamily::musl;
  std::string_view machine = machine_in(bytes, musl_mark);
  if (machine.empty() || machine.size() > NAME_MAX) {
    machine = machine_in(base_name(traits.path.text), "ld-musl-");
  }
  const TargetPath list{std::string(grandparent(traits.path.text)) + std::string(musl_mark) +
                        std::string(machine) + ".path"};
  const auto text = read_whole_file(files, list, loader_limit);
  // Without the file the built-in path counts; a file that cannot be read leaves none.
  std::string path;
  if (text) {
    path = text->substr(0, text->find('\0'));
  } else if (text.error().kind == ErrorKind::not_found) {
    path = musl_default_path;
  }
  for (const auto directory : split_words(path, ":\n")) {
    traits.system_directories.push_back(std::string(directory) + "/");
  }
}

// "ld-2.31.so": up to 2.33 the file is called after its version, which stands nowhere else in it.
std::optional<unsigned> minor_of_name(std::string_view name) {
  constexpr std::string_view start = "ld-2.";
  if (!name.starts_with(start) || !name.ends_with(".so")) {
    return std::nullopt;
  }
  const auto digits = parse_unsigned(name.substr(start.size(), name.size() - start.size() - 3));
  return digits && *digits < 1000 ? std::optional(static_cast<unsigned>(*digits)) : std::nullopt;
}

}  // namespace

ProgramKind kind_of(const ElfFile& file) {
  return {file.elf_class, file.byte_order, file.machine, file.flags};
}

std::string default_interpreter(const ElfFile& file) {
  constexpr std::string_view prefix = "libc.musl-";
  for (const auto& entry : file.dynamic.needed) {
    const std::string_view name = entry.name;
    if (name.starts_with(prefix)) {
      return musl_interpreter(name.substr(prefix.size(), name.find(".so") - prefix.size()));
    }
    // glibc's is called libc.so.6; plain libc.so is a text for the linker there.
    if (name == "libc.so") {
      return musl_interpreter(musl_machine(kind_of(file)));
    }
  }
  return std::string(glibc_interpreter(kind_of(file)));
}

void read_glibc_strings(std::string_view bytes, LoaderTraits& traits) {
  if (auto run = longest_directory_run(bytes); !run.empty()) {
    traits.system_directories = std::move(run);
  }
  traits.lib = lib_of(traits.system_directories);
  const auto version = bytes.find(version_mark);
  if (version != std::string_view::npos) {
    const std::string_view rest = bytes.substr(version + version_mark.size(), 4);
    const auto digits = parse_unsigned(rest.substr(0, rest.find_first_not_of("0123456789")));
    traits.minor = digits ? std::optional(static_cast<unsigned>(*digits)) : std::nullopt;
  }
}

LoaderTraits read_loader_traits(const FileSystem& files,
                                const TargetPath& path,
                                const ProgramKind& kind,
                                const CpuFacts& cpu) {
  LoaderTraits traits;
  traits.path = path;
  const auto bytes = read_whole_file(files, path, loader_limit);
  traits.known = static_cast<bool>(bytes);
  const std::string_view text = bytes ? std::string_view(*bytes) : std::string_view{};
  if (base_name(path.text).starts_with("ld-musl-") ||
      text.find(musl_mark) != std::string_view::npos) {
    read_musl(files, text, traits);
    return traits;
  }
  traits.system_directories = usual_directories(kind);
  read_glibc_strings(text, traits);
  if (!traits.minor) {
    const auto real = files.resolve(path);
    traits.minor = minor_of_name(base_name(real ? std::string_view(real->text) : path.text));
  }
  traits.hwcaps = plan_hwcaps(kind.elf_class, kind.machine, traits.minor, cpu);
  const unsigned minor = traits.minor.value_or(last_with_abi_notes + 1);
  const bool is_x86 = kind.machine == EM_X86_64 || kind.machine == EM_386;
  if (is_x86 && cpu.machine == EM_X86_64 && cpu.x86_level > 0 && minor >= first_with_isa_levels) {
    traits.isa = (1U << cpu.x86_level) - 1;
  }
  traits.reads_abi_notes = minor <= last_with_abi_notes;
  traits.kernel = cpu.kernel;
  return traits;
}

}  // namespace tracso::loader
