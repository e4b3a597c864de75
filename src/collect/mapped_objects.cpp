#include "collect/mapped_objects.hpp"

#include "base/text.hpp"
#include "collect/mapped_file.hpp"
#include "elf/memory_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tracso {
namespace {

struct Group {
  std::vector<std::size_t> mappings;
  bool executable = false, known = false, header = false, shared_only = true;
};

using Groups = std::map<std::pair<std::uint64_t, std::uint64_t>, Group>;

// Opening a device would do things to it; the kernel's own shared memory stands under /dev too.
bool is_device(const Mapping& mapping) {
  return mapping.name.starts_with("/dev/") && !mapping.name.starts_with("/dev/shm/") &&
         !mapping.name.starts_with("/dev/zero");
}

Groups group_by_file(const std::vector<Mapping>& mappings, const std::vector<bool>& known) {
  Groups groups;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Mapping& mapping = mappings[i];
    if (!mapping.has_file() || is_device(mapping)) {
      continue;
    }
    Group& group = groups[{mapping.device, mapping.inode}];
    group.mappings.push_back(i);
    group.executable = group.executable || mapping.executable;
    group.known = group.known || known[i];
    group.header = group.header || mapping.offset == 0;
    group.shared_only = group.shared_only && mapping.shared;
  }
  return groups;
}

// A data file is not opened: fonts and weights are mapped shared or without code, and the loader
// knows nothing of them.
bool may_be_object(const Group& group, bool loader_known) {
  return group.known || group.executable || (!loader_known && group.header && !group.shared_only);
}

const Mapping& header_mapping(const std::vector<Mapping>& mappings, const Group& group) {
  const auto first = std::find_if(group.mappings.begin(), group.mappings.end(), [&](std::size_t i) {
    return mappings[i].offset == 0;
  });
  return mappings[first == group.mappings.end() ? group.mappings.front() : *first];
}

// nullopt: another file stands there, or none.
std::optional<FileStatus> same_file(const Target& target,
                                    const std::string& path,
                                    std::uint64_t inode) {
  const auto status = target.files->status({path});
  return status && status->inode == inode ? std::optional(*status) : std::nullopt;
}

// The text of maps is ambiguous: a file may really be called "x (deleted)", or hold "\012" as four
// characters.
void settle_name(const Target& target, const Mapping& mapping, MappedObject& object) {
  object.path.text = mapping.name;
  if (mapping.deleted) {
    object.at_path = same_file(target, mapping.name + " (deleted)", mapping.inode);
  }
  if (object.at_path) {
    object.path.text += " (deleted)";
    return;
  }
  if (mapping.name.find('\n') != std::string::npos &&
      !same_file(target, mapping.name, mapping.inode)) {
    std::string literal;
    for (const char c : mapping.name) {
      literal += c == '\n' ? std::string("\\012") : std::string(1, c);
    }
    if (same_file(target, literal, mapping.inode)) {
      object.path.text = literal;
    }
  }
  // A memfd never had a path: nothing stands there and nothing is missing.
  if (mapping.name.starts_with("/memfd:") || !mapping.name.starts_with('/')) {
    object.state = mapping.deleted ? ObjectFile::State::deleted : ObjectFile::State::current;
    return;
  }
  if (const auto status = target.files->status(object.path)) {
    object.at_path = *status;
  }
  if (object.at_path && object.at_path->inode != mapping.inode) {
    object.state = ObjectFile::State::replaced;
  } else if (!object.at_path && mapping.deleted) {
    object.state = ObjectFile::State::deleted;
  }
}

// A file of which is kept what somebody reads.
class ReadAndKept final : public File {
 public:
  ReadAndKept(std::unique_ptr<File> file, std::map<std::uint64_t, std::string>& pieces)
      : file_(std::move(file)), pieces_(pieces) {}

  Result<FileStatus> status() const override { return file_->status(); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    auto count = file_->read_at(offset, into);
    std::string* piece = count && pieces_.size() < most_pieces ? &pieces_[offset] : nullptr;
    if (piece != nullptr && *count > piece->size()) {
      piece->assign(reinterpret_cast<const char*>(into.data()), *count);
    }
    return count;
  }

 private:
  static constexpr std::size_t most_pieces = 8;  // header, dynamic section, strings, notes

  std::unique_ptr<File> file_;
  std::map<std::uint64_t, std::string>& pieces_;
};

// What else is asked of the file later is noted while it is open, so that no file is opened twice.
ElfInput make_input(const Target& target, MappedObject& object, const Mapping& mapping) {
  const MappedRange range{mapping.start, mapping.end, mapping.device, mapping.inode};
  const bool by_path =
      object.state == ObjectFile::State::current && object.path.text.starts_with('/');
  const std::string mapped =
      fmt::format("/proc/{}/map_files/{:x}-{:x}", target.process->pid(), range.start, range.end);
  auto open = [&target, &object, range]() -> Result<std::unique_ptr<File>> {
    auto file = open_mapped_object(target, range, object.path);
    if (!file) {
      return file;
    }
    const auto status = (*file)->status();
    object.status = status ? std::optional(*status) : std::nullopt;
    return std::unique_ptr<File>(std::make_unique<ReadAndKept>(std::move(*file), object.pieces));
  };
  return {
      object.path.text, by_path ? target.files->host_path(object.path) : mapped, std::move(open)};
}

bool not_elf(const Error& error) {
  return error.kind == ErrorKind::malformed || error.kind == ErrorKind::unsupported;
}

// The file cannot be had any more: its dynamic section still lies in memory.
bool read_from_memory(const Target& target, const Mapping& mapping, MappedObject& object) {
  const auto image = elf::MemoryImage::at_header(*target.process, mapping.start);
  if (!image) {
    return false;
  }
  object.elf.elf_class = image->elf_class();
  object.elf.type = 3;
  auto section = image->dynamic_section(*target.process);
  if (section) {
    object.elf.dynamic = std::move(*section);
  }
  return true;
}

struct Candidate {
  MappedObject object;
  std::size_t header = 0;
};

std::vector<Candidate> make_candidates(const Target& target,
                                       const std::vector<Mapping>& mappings,
                                       const Groups& groups,
                                       bool loader_known) {
  std::vector<Candidate> candidates;
  for (const auto& [id, group] : groups) {
    if (!may_be_object(group, loader_known)) {
      continue;
    }
    const Mapping& mapping = header_mapping(mappings, group);
    Candidate candidate;
    candidate.header = static_cast<std::size_t>(&mapping - mappings.data());
    candidate.object.device = id.first;
    candidate.object.inode = id.second;
    candidate.object.mappings = group.mappings;
    candidate.object.base = mapping.start;
    settle_name(target, mapping, candidate.object);
    candidates.push_back(std::move(candidate));
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.object.base < b.object.base;
  });
  return candidates;
}

Notice unreadable_files(std::size_t count) {
  return {"files-unreadable",
          counted(count, "mapped file") + " could not be opened",
          "their sizes are not counted",
          "run as root, or with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE"};
}

}  // namespace

Result<std::unique_ptr<File>> open_mapped_object(const Target& target,
                                                 const MappedRange& range,
                                                 const TargetPath& path) {
  auto file = target.process->open_mapped(range);
  if (file) {
    return file;
  }
  auto by_path = target.files->open(path);
  if (!by_path) {
    return by_path;
  }
  const auto status = (*by_path)->status();
  if (!status || status->inode != range.inode) {
    return Error{
        ErrorKind::not_found, "open", path.text, "another file stands at that path now", ""};
  }
  return by_path;
}

MappedObjects collect_mapped_objects(const Target& target,
                                     const std::vector<Mapping>& mappings,
                                     const ElfReader& reader,
                                     const std::vector<bool>& known,
                                     bool loader_known,
                                     std::vector<Notice>& notices) {
  auto candidates = make_candidates(target, mappings, group_by_file(mappings, known), loader_known);
  std::vector<ElfInput> inputs;
  inputs.reserve(candidates.size());
  for (auto& candidate : candidates) {
    inputs.push_back(make_input(target, candidate.object, mappings[candidate.header]));
  }
  auto files = reader.read(inputs);
  MappedObjects result;
  result.of_mapping.resize(mappings.size());
  std::size_t unreadable = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    MappedObject& object = candidates[i].object;
    if (!files[i] && files[i].error().kind == ErrorKind::missing_tool) {
      result.reader_error = files[i].error();
      return result;
    }
    if (files[i]) {
      object.elf = std::move(*files[i]);
    } else if (not_elf(files[i].error()) ||
               !read_from_memory(target, mappings[candidates[i].header], object)) {
      continue;
    }
    unreadable += object.status ? 0 : 1;
    for (const std::size_t mapping : object.mappings) {
      result.of_mapping[mapping] = result.objects.size();
    }
    result.objects.push_back(std::move(object));
  }
  if (unreadable > 0) {
    notices.push_back(unreadable_files(unreadable));
  }
  return result;
}

}  // namespace tracso
