#include "loader/file_probe.hpp"

#include "base/byte_view.hpp"
#include "loader/abi_note.hpp"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>

namespace tracso::loader {
namespace {

// No more than a recording of any version has.
constexpr std::size_t longest_header = sizeof(Elf64_Ehdr);
constexpr std::uint64_t machine_at = 18;
constexpr std::uint64_t type_at = 16;
constexpr std::uint64_t version_at = 20;

void set_fatal(FileProbe& probe, std::string_view words) {
  probe.verdict = FileProbe::Verdict::fatal;
  probe.words = words;
}

std::string_view class_words(std::uint8_t elf_class) {
  return elf_class == ELFCLASS32   ? "wrong ELF class: ELFCLASS32"
         : elf_class == ELFCLASS64 ? "wrong ELF class: ELFCLASS64"
                                   : "wrong ELF class";
}

// The words for a bad e_ident whose magic and class are right; empty: it is good.
std::string_view ident_words(const ByteView& header, const ProgramKind& wanted) {
  const auto at = [&](std::uint64_t offset) {
    return header.get<std::uint8_t>(offset).value_or(0);
  };
  const bool little = wanted.byte_order == ByteOrder::little;
  if (at(EI_DATA) != (little ? ELFDATA2LSB : ELFDATA2MSB)) {
    return little ? "ELF file data encoding not little-endian"
                  : "ELF file data encoding not big-endian";
  }
  if (at(EI_VERSION) != EV_CURRENT) {
    return "ELF file version ident does not match current one";
  }
  if (at(EI_OSABI) != ELFOSABI_SYSV && at(EI_OSABI) != ELFOSABI_GNU) {
    return "ELF file OS ABI invalid";
  }
  // GNU has had a few versions, System V none.
  if (at(EI_OSABI) == ELFOSABI_SYSV && at(EI_ABIVERSION) != 0) {
    return "ELF file ABI version invalid";
  }
  for (std::uint64_t i = EI_PAD; i < EI_NIDENT; ++i) {
    if (at(i) != 0) {
      return "nonzero padding in e_ident";
    }
  }
  return {};
}

bool is_other_machine(const ByteView& header, const ProgramKind& wanted) {
  if (header.get<std::uint16_t>(machine_at).value_or(0) != wanted.machine) {
    return true;
  }
  const std::uint64_t flags_at = wanted.elf_class == ElfClass::elf64
                                     ? offsetof(Elf64_Ehdr, e_flags)
                                     : offsetof(Elf32_Ehdr, e_flags);
  const auto flags = header.get<std::uint32_t>(flags_at).value_or(0);
  return wanted.machine == EM_RISCV &&
         (flags & riscv_float_abi) != (wanted.flags & riscv_float_abi);
}

// What follows e_ident; empty: good.
std::string_view body_words(const ByteView& header, ElfClass elf_class) {
  if (header.get<std::uint32_t>(version_at) != EV_CURRENT) {
    return "ELF file version does not match current one";
  }
  const auto type = header.get<std::uint16_t>(type_at);
  if (type != ET_DYN && type != ET_EXEC) {
    return "only ET_DYN and ET_EXEC can be loaded";
  }
  const bool wide = elf_class == ElfClass::elf64;
  const auto entry_bytes = header.get<std::uint16_t>(wide ? offsetof(Elf64_Ehdr, e_phentsize)
                                                          : offsetof(Elf32_Ehdr, e_phentsize));
  if (entry_bytes != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) {
    return "ELF file's phentsize not the expected size";
  }
  return {};
}

// The first bytes of a file, for who would read the file. `is_enough` tells afterwards whether they
// were.
class FirstBytes final : public File {
 public:
  explicit FirstBytes(const SeenFile& seen) : seen_(seen) {}

  Result<FileStatus> status() const override { return seen_.status; }

  Result<std::size_t> read_at(std::uint64_t, std::span<std::byte>) const override {
    is_enough_ = false;
    return Error{ErrorKind::failed, "read", seen_.path, "only its first bytes are known", ""};
  }

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(seen_.start)); }

  bool is_enough() const { return is_enough_; }

 private:
  const SeenFile& seen_;
  mutable bool is_enough_ = true;
};

}  // namespace

bool is_same_file(const FileStatus& left, const FileStatus& right) {
  return left.device == right.device && left.inode == right.inode;
}

void check_header(std::span<const std::byte> header, const ProgramKind& wanted, FileProbe& probe) {
  const ByteView bytes(
      header, wanted.byte_order == ByteOrder::little ? std::endian::little : std::endian::big);
  const std::size_t needed =
      wanted.elf_class == ElfClass::elf64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  if (header.size() < needed) {
    return set_fatal(probe, "file too short");
  }
  if (std::memcmp(header.data(), ELFMAG, SELFMAG) != 0) {
    return set_fatal(probe, "invalid ELF header");
  }
  const auto elf_class = bytes.get<std::uint8_t>(EI_CLASS).value_or(0);
  if (elf_class != (wanted.elf_class == ElfClass::elf64 ? ELFCLASS64 : ELFCLASS32)) {
    probe.verdict = FileProbe::Verdict::wrong_class;
    probe.words = class_words(elf_class);
    return;
  }
  if (const auto words = ident_words(bytes, wanted); !words.empty()) {
    return set_fatal(probe, words);
  }
  if (is_other_machine(bytes, wanted)) {
    probe.verdict = FileProbe::Verdict::wrong_class;
    probe.words = "another machine";
    return;
  }
  if (const auto words = body_words(bytes, wanted.elf_class); !words.empty()) {
    return set_fatal(probe, words);
  }
  probe.verdict = FileProbe::Verdict::usable;
}

const FileProbe& FileProbes::at(const std::string& path) {
  const auto [entry, is_new] = known_.try_emplace(path);
  if (is_new) {
    std::unique_ptr<File> file;
    entry->second = look(path, file);
    if (entry->second.verdict == FileProbe::Verdict::usable) {
      last_ = &entry->second;
      last_file_ = std::move(file);
    }
  }
  return entry->second;
}

const FileProbe& FileProbes::peek(const std::string& path) {
  const auto [entry, is_new] = known_.try_emplace(path);
  if (is_new) {
    std::unique_ptr<File> file;
    entry->second = look(path, file);
  }
  return entry->second;
}

Result<std::unique_ptr<File>> FileProbes::open(const FileProbe& probe) {
  if (last_ == &probe && last_file_ != nullptr) {
    return std::move(last_file_);
  }
  return files_.open(probe.path);
}

// The loader opens whatever it is and reads.
void FileProbes::look_at_odd_file(FileProbe& probe, const Error& error) const {
  const auto status = files_.status(probe.path);
  if (!status) {
    probe.verdict = FileProbe::Verdict::broken;
    probe.words = error.reason;
    return;
  }
  probe.status = *status;
  set_fatal(probe,
            S_ISDIR(status->mode) ? "cannot read file data: Error 21"  // EISDIR
                                  : "file too short");
}

void FileProbes::add_seen(SeenFile file) {
  if (file.at_path) {
    at_path_.emplace(file.path, *file.at_path);
  }
  if (file.start.size() >= longest_header) {
    seen_.emplace(std::pair(file.status.device, file.status.inode), std::move(file));
  }
}

void FileProbes::judge(FileProbe& probe, const File& file, std::span<const std::byte> start) const {
  check_header(start.first(std::min(start.size(), longest_header)), wanted_, probe);
  if (probe.verdict == FileProbe::Verdict::usable && reads_abi_notes_) {
    probe.words = abi_note_refusal(file, start, wanted_, kernel_);
    probe.verdict =
        probe.words.empty() ? FileProbe::Verdict::usable : FileProbe::Verdict::wrong_class;
  }
}

// One look at the path tells whether the file there is one that was read already; all of its status
// has to be the same, so that none that was written to since, and no other under its number, is
// taken for it. nullopt: it has to be opened.
std::optional<FileProbe> FileProbes::look_at_seen(const std::string& path) const {
  if (seen_.empty()) {
    return std::nullopt;
  }
  FileProbe probe;
  probe.path.text = path;
  const auto known = at_path_.find(path);
  const auto status =
      known != at_path_.end() ? Result<FileStatus>(known->second) : files_.status(probe.path);
  if (!status) {
    return status.error().kind == ErrorKind::not_found ? std::optional(std::move(probe))
                                                       : std::nullopt;
  }
  const auto seen = seen_.find({status->device, status->inode});
  if (seen == seen_.end() || seen->second.status != *status) {
    return std::nullopt;
  }
  const FirstBytes file(seen->second);
  probe.status = *status;
  judge(probe, file, file.bytes());
  return file.is_enough() ? std::optional(std::move(probe)) : std::nullopt;
}

FileProbe FileProbes::look(const std::string& path, std::unique_ptr<File>& file) const {
  if (auto seen = look_at_seen(path)) {
    return std::move(*seen);
  }
  FileProbe probe;
  probe.path.text = path;
  auto opened = files_.open(probe.path);
  if (!opened) {
    switch (opened.error().kind) {
      case ErrorKind::not_found:
        break;
      case ErrorKind::denied:
        probe.verdict = FileProbe::Verdict::denied;
        break;
      case ErrorKind::unsupported:
        look_at_odd_file(probe, opened.error());
        break;
      default:
        probe.verdict = FileProbe::Verdict::broken;
        probe.words = opened.error().reason;
    }
    return probe;
  }
  file = std::move(*opened);
  std::array<std::byte, longest_header> header{};
  const auto got = file->read_at(0, header);
  const auto status = file->status();
  if (!got || !status) {
    set_fatal(probe, "cannot read file data");
    return probe;
  }
  probe.status = *status;
  judge(probe, *file, std::span<const std::byte>(header).first(std::min(*got, header.size())));
  return probe;
}

}  // namespace tracso::loader
