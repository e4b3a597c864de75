#include "proc/auxv.hpp"

#include "base/byte_view.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <optional>

namespace tracso::proc {
namespace {

void set(Auxv& auxv, std::uint64_t type, std::uint64_t value) {
  switch (type) {
    case AT_PHDR:
      auxv.phdr = value;
      break;
    case AT_PHENT:
      auxv.phent = value;
      break;
    case AT_PHNUM:
      auxv.phnum = value;
      break;
    case AT_PAGESZ:
      auxv.page_bytes = value;
      break;
    case AT_BASE:
      auxv.base = value;
      break;
    case AT_ENTRY:
      auxv.entry = value;
      break;
    case AT_UID:
      auxv.uid = value;
      break;
    case AT_EUID:
      auxv.euid = value;
      break;
    case AT_GID:
      auxv.gid = value;
      break;
    case AT_EGID:
      auxv.egid = value;
      break;
    case AT_PLATFORM:
      auxv.platform = value;
      break;
    case AT_HWCAP:
      auxv.hwcap = value;
      break;
    case AT_HWCAP2:
      auxv.hwcap2 = value;
      break;
    case AT_SECURE:
      auxv.secure = value != 0;
      break;
    case AT_EXECFN:
      auxv.execfn = value;
      break;
    case AT_SYSINFO_EHDR:
      auxv.vdso = value;
      break;
    default:
      break;
  }
}

/// Words of type T; nullopt: these are not such words.
template <class T>
std::optional<Auxv> parse_words(std::string_view bytes, ElfClass elf_class, std::uint64_t phent) {
  const ByteView view(bytes);
  Auxv auxv;
  auxv.elf_class = elf_class;
  for (std::uint64_t at = 0; at + 2 * sizeof(T) <= bytes.size(); at += 2 * sizeof(T)) {
    const T type = view.get<T>(at).value_or(0);
    if (type == AT_NULL) {
      break;
    }
    set(auxv, type, view.get<T>(at + sizeof(T)).value_or(0));
  }
  return auxv.phent == phent ? std::optional(auxv) : std::nullopt;
}

}  // namespace

Result<Auxv> parse_auxv(std::string_view bytes) {
  if (auto wide = parse_words<std::uint64_t>(bytes, ElfClass::elf64, sizeof(Elf64_Phdr))) {
    return *wide;
  }
  if (auto narrow = parse_words<std::uint32_t>(bytes, ElfClass::elf32, sizeof(Elf32_Phdr))) {
    return *narrow;
  }
  return Error{ErrorKind::malformed,
               "read",
               "auxv",
               bytes.empty() ? "it is empty: a kernel thread, or the process is ending"
                             : fmt::format("no program headers in its {} bytes", bytes.size()),
               ""};
}

}  // namespace tracso::proc
