#include "elf/native_reader.hpp"

#include "base/text.hpp"
#include "elf/dynamic_strings.hpp"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace tracso::elf {
namespace {

constexpr std::uint64_t longest_interp = 4096;  // PATH_MAX, as the kernel
constexpr std::uint64_t longest_build_id = 64;
constexpr std::uint64_t longest_properties = 512;
constexpr int most_notes = 1024;
// Many entries may point at one long string; all together may not fill memory.
constexpr std::size_t most_library_text = std::size_t{1} << 20U;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whether glibc gives a program without PT_GNU_STACK an executable stack (DEFAULT_STACK_PERMS in
/// sysdeps/*/stackinfo.h): yes, but on the machines that never needed one.
bool executable_stack_by_default(const FileHeader& header) {
  // Not in every <elf.h>.
  constexpr std::uint16_t em_arc_compact2 = 195, em_csky = 252, em_loongarch = 258;
  switch (header.machine) {
    case EM_AARCH64:
    case EM_RISCV:
    case EM_PPC64:
    case EM_IA_64:
    case EM_ALTERA_NIOS2:
    case EM_ARC_COMPACT:
    case em_arc_compact2:
    case em_csky:
    case em_loongarch:
      return false;
    default:
      return true;
  }
}

bool executable_stack(const FileImage& image) {
  const ProgramHeader* stack = image.segment(PT_GNU_STACK);
  return stack == nullptr ? executable_stack_by_default(image.header())
                          : (stack->flags & PF_X) != 0;
}

/// Empty where the kernel would find none: it refuses a program with a broken PT_INTERP, and
/// nobody looks at that of a library.
Result<std::string> read_interp(FileImage& image) {
  const ProgramHeader* segment = image.segment(PT_INTERP);
  if (segment == nullptr || segment->file_bytes < 2 || segment->file_bytes > longest_interp) {
    return std::string();
  }
  std::string text;
  while (text.size() < segment->file_bytes) {
    const std::uint64_t left = segment->file_bytes - text.size();
    const auto piece =
        image.at(segment->offset + text.size(),
                 static_cast<std::size_t>(std::min<std::uint64_t>(left, FileImage::window_bytes)));
    if (!piece) {
      return piece.error().kind == ErrorKind::malformed ? Result<std::string>(std::string())
                                                        : piece.error();
    }
    text += as_text(*piece);
  }
  const std::size_t end = text.find('\0');
  return end == std::string::npos ? std::string() : text.substr(0, end);
}

constexpr std::uint64_t padded(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// The content of the first note of that type whose owner is GNU, in one segment of notes, if it is
/// no longer than `most`; empty: none there, or the notes make no sense.
std::string find_note(FileImage& image,
                      const ProgramHeader& segment,
                      std::uint32_t wanted,
                      std::uint64_t most) {
  constexpr std::uint64_t note_header = 12;
  constexpr std::uint64_t owner_bytes_of_gnu = 4;
  std::uint64_t at = 0;
  for (int i = 0; i < most_notes && segment.file_bytes >= note_header &&
                  at <= segment.file_bytes - note_header;
       ++i) {
    const auto bytes = image.at(segment.offset + at, note_header);
    if (!bytes) {
      return {};
    }
    const ByteView view = image.encoding().view(*bytes);
    const std::uint64_t owner_bytes = view.get<std::uint32_t>(0).value_or(0);
    const std::uint64_t content_bytes = view.get<std::uint32_t>(4).value_or(0);
    const std::uint32_t type = view.get<std::uint32_t>(8).value_or(0);
    const std::uint64_t content_at = at + note_header + padded(owner_bytes, 4);
    if (type == wanted && owner_bytes == owner_bytes_of_gnu && content_bytes <= most &&
        content_at + content_bytes <= segment.file_bytes) {
      const auto note = image.at(segment.offset + at + note_header,
                                 static_cast<std::size_t>(owner_bytes + content_bytes));
      if (note && as_text(*note).substr(0, 4) == std::string_view("GNU\0", 4)) {
        return std::string(as_text(*note).substr(4));
      }
    }
    // In segments aligned to 8 all content is a multiple of 8, so 4 walks past it too.
    at = content_at + padded(content_bytes, 4);
  }
  return {};
}

std::string read_build_id(FileImage& image) {
  for (const auto& segment : image.program_headers()) {
    if (segment.type != PT_NOTE) {
      continue;
    }
    if (auto id = find_note(image, segment, NT_GNU_BUILD_ID, longest_build_id); !id.empty()) {
      return hex(id);
    }
  }
  return {};
}

/// The value of GNU_PROPERTY_X86_ISA_1_NEEDED among the properties of a note; 0: none.
std::uint32_t find_isa_needed(const ByteView& properties, std::uint64_t alignment) {
  constexpr std::uint32_t isa_1_needed = 0xc0008002;
  constexpr std::uint64_t property_header = 8;
  std::uint64_t at = 0;
  while (const auto type = properties.get<std::uint32_t>(at)) {
    const std::uint64_t bytes = properties.get<std::uint32_t>(at + 4).value_or(0);
    if (*type == isa_1_needed && bytes == 4) {
      return properties.get<std::uint32_t>(at + property_header).value_or(0);
    }
    at += property_header + padded(bytes, alignment);
  }
  return 0;
}

std::uint32_t read_isa_needed(FileImage& image) {
  constexpr std::uint32_t pt_gnu_property = 0x6474e553;  // not in every <elf.h>
  const auto machine = image.header().machine;
  const ProgramHeader* segment = image.segment(pt_gnu_property);
  if (segment == nullptr || (machine != EM_X86_64 && machine != EM_386)) {
    return 0;
  }
  const std::string properties =
      find_note(image, *segment, NT_GNU_PROPERTY_TYPE_0, longest_properties);
  return find_isa_needed(image.encoding().view(std::as_bytes(std::span(properties))),
                         image.encoding().word());
}

class NativeReader final : public ElfReader {
 public:
  std::string_view name() const override { return "native"; }

  std::vector<Result<ElfFile>> read(std::span<const ElfInput> inputs) const override {
    std::vector<Result<ElfFile>> files;
    files.reserve(inputs.size());
    for (const auto& input : inputs) {
      const auto file = input.open();
      files.push_back(file ? read_elf(**file, input.name) : Result<ElfFile>(file.error()));
    }
    return files;
  }
};

}  // namespace

std::unique_ptr<ElfReader> make_native_reader() {
  return std::make_unique<NativeReader>();
}

Result<ElfFile> read_elf(const File& file, std::string_view name) {
  auto image = FileImage::open(file, name);
  if (!image) {
    return image.error();
  }
  auto elf = read_identity(*image);
  if (!elf || !elf->dynamic.present) {
    return elf;
  }
  auto dynamic = read_dynamic(*image);
  if (!dynamic) {
    return dynamic.error();
  }
  elf->dynamic = std::move(*dynamic);
  return elf;
}

Result<ElfFile> read_identity(FileImage& image) {
  const FileHeader& header = image.header();
  ElfFile elf;
  elf.elf_class = header.encoding.wide ? ElfClass::elf64 : ElfClass::elf32;
  elf.byte_order =
      header.encoding.order == std::endian::little ? ByteOrder::little : ByteOrder::big;
  elf.os_abi = header.os_abi;
  elf.type = header.type;
  elf.machine = header.machine;
  elf.flags = header.flags;
  auto interp = read_interp(image);
  if (!interp) {
    return interp.error();
  }
  elf.interp = std::move(*interp);
  elf.build_id = read_build_id(image);
  elf.isa_needed = read_isa_needed(image);
  elf.executable_stack = executable_stack(image);
  elf.dynamic.present = image.dynamic_segment() != nullptr;
  return elf;
}

Result<DynamicSection> read_dynamic(FileImage& image) {
  DynamicSection section;
  section.present = image.dynamic_segment() != nullptr;
  const auto entries = image.dynamic_entries();
  if (!entries) {
    return entries.error();
  }
  section.flags = find_value(*entries, DT_FLAGS).value_or(0);
  section.flags_1 = find_value(*entries, DT_FLAGS_1).value_or(0);
  std::vector<std::uint64_t> tags, offsets;
  for (const auto& entry : *entries) {
    if (names_string(entry.tag)) {
      tags.push_back(entry.tag);
      offsets.push_back(entry.value);
    }
  }
  const auto table = find_value(*entries, DT_STRTAB);
  if (!tags.empty() && !table) {
    return image.fault("the dynamic section has no string table");
  }
  auto texts = image.texts_at(table.value_or(0), offsets, most_library_text);
  if (!texts) {
    return texts.error();
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    add_string(section, tags[i], std::move((*texts)[i]));
  }
  return section;
}

}  // namespace tracso::elf
