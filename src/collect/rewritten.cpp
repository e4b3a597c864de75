// "cat new.so > libfoo.so" keeps the inode: no "(deleted)" mark, and the pages of the process show
// the new bytes, since they are the file's own. What betrays it is the dynamic section, into which
// the loader of glibc wrote addresses. Cutting a file off throws away such pages too; they come
// back as the file has them, without the addresses: the object's relocations are lost, and the next
// call through its GOT jumps into nowhere. Where the file was overwritten without being cut off,
// the written pages stay, and differ from what the file says now.
//
// Only files that changed after the process began are opened for that: none, as a rule.

#include "collect/rewritten.hpp"

#include "base/text.hpp"
#include "collect/mapped_file.hpp"
#include "elf/file_image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

namespace tracso {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::uint64_t ticks_per_second = 100;  // USER_HZ, the same on all processors today

// Seconds since the epoch at which the system started; nullopt: not to be had (a recording, no
// /proc in the root of the process).
std::optional<std::int64_t> boot_time(const FileSystem& files) {
  const auto file = files.open({"/proc/stat"});
  if (!file) {
    return std::nullopt;
  }
  constexpr std::size_t most = std::size_t{1} << 20U;
  std::string text;
  std::string piece(65536, '\0');
  while (text.size() < most) {
    const auto got = (*file)->read_at(text.size(), std::as_writable_bytes(std::span(piece)));
    if (!got || *got == 0) {
      break;
    }
    text.append(piece, 0, *got);
  }
  constexpr std::string_view title = "\nbtime ";
  const auto at = text.find(title);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view rest = std::string_view(text).substr(at + title.size());
  const auto seconds = parse_unsigned(rest.substr(0, rest.find('\n')));
  return seconds ? std::optional(static_cast<std::int64_t>(*seconds)) : std::nullopt;
}

// Those whose value the loader replaces by an address.
bool is_pointer(std::uint64_t tag) {
  return tag == DT_STRTAB || tag == DT_SYMTAB || tag == DT_HASH || tag == DT_GNU_HASH ||
         tag == DT_RELA || tag == DT_REL || tag == DT_JMPREL || tag == DT_VERSYM ||
         tag == DT_PLTGOT;
}

void add(const elf::DynamicEntry& file,
         std::uint64_t tag,
         std::uint64_t value,
         std::uint64_t bias,
         RewriteCheck::Comparison& result) {
  const bool moved = value == file.value + bias && bias != 0;
  result.adjusted = result.adjusted || (is_pointer(tag) && moved);
  result.differs =
      result.differs || tag != file.tag || (value != file.value && !moved && tag != DT_DEBUG);
}

ObjectInMemory in_memory(const Workspace& work, std::size_t entry) {
  const loader::LinkMapEntry& record = work.link_maps->entries[entry];
  const MappedObject& object = work.mapped.objects[*work.object_of_entry[entry]];
  const Mapping& mapping = work.facts.mappings[object.mappings.front()];
  return {{mapping.start, mapping.end, mapping.device, mapping.inode},
          object.path,
          record.bias,
          record.dynamic};
}

// The file of an object, out of what was read of it when the object was found: of that moment, and
// opened again only for more.
class FileAsRead final : public File {
 public:
  FileAsRead(const Workspace& work, const MappedObject& object) : work_(work), object_(object) {}

  Result<FileStatus> status() const override { return *object_.status; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::uint64_t bytes = object_.status->bytes;
    const std::uint64_t wanted =
        offset >= bytes ? 0 : std::min<std::uint64_t>(into.size(), bytes - offset);
    const auto behind = object_.pieces.upper_bound(offset);
    const auto piece = behind == object_.pieces.begin() ? behind : std::prev(behind);
    const std::uint64_t skipped = piece == behind ? 0 : offset - piece->first;
    if (piece == behind || skipped > piece->second.size() ||
        piece->second.size() - skipped < wanted) {
      return read_from_file(offset, into);
    }
    std::memcpy(into.data(), piece->second.data() + skipped, static_cast<std::size_t>(wanted));
    return static_cast<std::size_t>(wanted);
  }

 private:
  Result<std::size_t> read_from_file(std::uint64_t offset, std::span<std::byte> into) const {
    if (file_ == nullptr) {
      const Mapping& mapping = work_.facts.mappings[object_.mappings.front()];
      auto file = open_mapped_object(
          work_.target, {mapping.start, mapping.end, mapping.device, mapping.inode}, object_.path);
      if (!file) {
        return file.error();
      }
      file_ = std::move(*file);
    }
    return file_->read_at(offset, into);
  }

  const Workspace& work_;
  const MappedObject& object_;
  mutable std::unique_ptr<File> file_;
};

std::optional<RewriteCheck::Comparison> compare(const RewriteCheck& check,
                                                const Workspace& work,
                                                std::size_t entry) {
  const MappedObject& object = work.mapped.objects[*work.object_of_entry[entry]];
  return object.status ? check.compare(in_memory(work, entry), FileAsRead(work, object))
                       : check.compare(in_memory(work, entry));
}

}  // namespace

RewriteCheck::RewriteCheck(const Target& target, const proc::ProcessStat& stat) : target_(target) {
  if (const auto boot = boot_time(*target.files)) {
    // Both times are rounded to seconds; one too many is only looked at in vain.
    started_ns_ =
        (*boot + static_cast<std::int64_t>(stat.start_time / ticks_per_second) - 2) * second_ns;
  }
}

bool RewriteCheck::is_suspect(const FileStatus& file) const {
  return started_ns_ && std::max(file.modified_ns, file.changed_ns) > *started_ns_;
}

std::optional<RewriteCheck::Comparison> RewriteCheck::compare(const ObjectInMemory& object) const {
  const auto file = open_mapped_object(target_, object.range, object.path);
  return file ? compare(object, **file) : std::nullopt;
}

std::optional<RewriteCheck::Comparison> RewriteCheck::compare(const ObjectInMemory& object,
                                                              const File& file) const {
  auto image = elf::FileImage::open(file, object.path.text);
  const auto entries =
      image ? image->dynamic_entries() : Result<std::vector<elf::DynamicEntry>>(image.error());
  if (!entries || entries->empty()) {
    return std::nullopt;
  }
  const elf::Encoding encoding = image->encoding();
  const std::uint64_t word = encoding.word();
  const std::uint64_t at =
      object.dynamic != 0 ? object.dynamic : image->dynamic_segment()->address + object.bias;
  std::vector<std::byte> memory(static_cast<std::size_t>(entries->size() * 2 * word));
  if (!target_.process->read_memory(at, memory)) {
    return std::nullopt;
  }
  const ByteView view = encoding.view(memory);
  Comparison result;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::uint64_t tag = encoding.address(view, 2 * i * word);
    const std::uint64_t value = encoding.address(view, (2 * i + 1) * word);
    add((*entries)[i], tag, value, object.bias, result);
  }
  return result;
}

void mark_rewritten(Workspace& work) {
  if (!work.link_maps) {
    return;
  }
  const RewriteCheck check(work.target, work.facts.stat);
  std::vector<std::size_t> suspects;
  std::optional<std::size_t> untouched;
  const auto& entries = work.link_maps->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool usable = work.object_of_entry[i] && entries[i].dynamic != 0 && entries[i].bias != 0;
    if (!usable || i == work.link_maps->loader) {
      continue;  // ld.so relocates itself, and differently
    }
    const MappedObject& object = work.mapped.objects[*work.object_of_entry[i]];
    const bool is_current = object.state == ObjectFile::State::current && object.at_path;
    if (is_current && check.is_suspect(*object.at_path)) {
      suspects.push_back(i);
    } else if (is_current) {
      untouched = i;
    }
  }
  // That addresses are missing says something only where this loader writes them.
  const auto usual =
      !suspects.empty() && untouched ? compare(check, work, *untouched) : std::nullopt;
  for (const std::size_t i : suspects) {
    const auto found = compare(check, work, i);
    const bool lost = found && usual && usual->adjusted && !found->adjusted;
    if (found && (found->differs || lost)) {
      work.mapped.objects[*work.object_of_entry[i]].state = ObjectFile::State::rewritten;
    }
  }
}

}  // namespace tracso
