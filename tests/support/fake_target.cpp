#include "support/fake_target.hpp"

#include "base/result.hpp"
#include "base/text.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

namespace tracso::test {
namespace {

class MemoryFile final : public File {
 public:
  MemoryFile(std::string content, FileStatus status)
      : content_(std::move(content)), status_(status) {
    status_.bytes = content_.size();
  }

  Result<FileStatus> status() const override { return status_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= content_.size()) {
      return std::size_t{0};
    }
    const std::size_t count =
        std::min<std::size_t>(into.size(), content_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into.data(), content_.data() + offset, count);
    return count;
  }

 private:
  std::string content_;
  FileStatus status_;
};

}  // namespace

std::unique_ptr<File> memory_file(std::string content, FileStatus status) {
  return std::make_unique<MemoryFile>(std::move(content), status);
}

// Follows links of every component, as the kernel does.
std::string FakeFiles::follow(std::string path) const {
  for (int hops = 0; hops < 40; ++hops) {
    bool changed = false;
    for (const auto& [from, to] : links) {
      if (path == from || path.rfind(from + "/", 0) == 0) {
        const std::string base =
            to.rfind('/', 0) == 0 ? to : std::string(directory_of(from)) + "/" + to;
        path = base + path.substr(from.size());
        changed = true;
        break;
      }
    }
    if (!changed) {
      return path;
    }
  }
  return path;
}

Result<FileStatus> FakeFiles::status(const TargetPath& path) const {
  const std::string real = follow(path.text);
  if (denied.count(real) != 0) {
    return errno_error(EACCES, "look at", path.text);
  }
  FileStatus status;
  status.device = 1;
  status.inode = std::hash<std::string>{}(real) | 1U;
  if (const auto found = files.find(real); found != files.end()) {
    status.bytes = found->second.size();
    status.mode = S_IFREG | 0755U;
    return status;
  }
  const auto below = files.lower_bound(real + "/");
  const bool has_content = below != files.end() && below->first.rfind(real + "/", 0) == 0;
  if (directories.count(real) != 0 || has_content) {
    status.mode = S_IFDIR | 0755U;
    return status;
  }
  return errno_error(ENOENT, "look at", path.text);
}

Result<std::unique_ptr<File>> FakeFiles::open(const TargetPath& path) const {
  auto found = status(path);
  if (!found) {
    return found.error();
  }
  const std::string real = follow(path.text);
  if (files.count(real) == 0) {
    return Error{ErrorKind::unsupported, "open", path.text, "not a regular file", ""};
  }
  ++opened[real];
  return memory_file(files.at(real), *found);
}

Result<TargetPath> FakeFiles::resolve(const TargetPath& path) const {
  if (const auto found = status(path); !found) {
    return found.error();
  }
  return TargetPath{follow(path.text)};
}

Result<std::vector<std::string>> FakeFiles::list(const TargetPath& directory) const {
  std::set<std::string> names;
  const std::string prefix = follow(directory.text) + "/";
  for (const auto& [path, content] : files) {
    if (path.rfind(prefix, 0) == 0) {
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
    }
  }
  if (names.empty()) {
    return errno_error(ENOENT, "list", directory.text);
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::string> FakeProcess::read(std::string_view name) const {
  if (const auto found = changing.find(std::string(name)); found != changing.end()) {
    const std::string text = found->second.front();
    if (found->second.size() > 1) {
      found->second.erase(found->second.begin());
    }
    return text;
  }
  if (denied.count(std::string(name)) != 0) {
    return errno_error(EACCES, "read", name);
  }
  const auto found = texts.find(std::string(name));
  return found == texts.end() ? Result<std::string>(errno_error(ENOENT, "read", name))
                              : found->second;
}

Result<std::size_t> FakeProcess::read_at(std::string_view name,
                                         std::uint64_t offset,
                                         std::span<std::byte> into) const {
  const std::string key =
      std::string(name) + "@" + std::to_string(offset) + "+" + std::to_string(into.size());
  const auto found = parts.find(key);
  if (found == parts.end()) {
    return errno_error(EACCES, "read", name);
  }
  const std::size_t count = std::min(into.size(), found->second.size());
  std::memcpy(into.data(), found->second.data(), count);
  return count;
}

Result<std::string> FakeProcess::read_link(std::string_view name) const {
  if (denied.count(std::string(name)) != 0) {
    return errno_error(EACCES, "read link", name);
  }
  const auto found = links.find(std::string(name));
  return found == links.end() ? Result<std::string>(errno_error(ENOENT, "read link", name))
                              : found->second;
}

Result<std::vector<std::string>> FakeProcess::list(std::string_view name) const {
  const auto found = lists.find(std::string(name));
  if (found == lists.end()) {
    return errno_error(ENOENT, "list", name);
  }
  return found->second;
}

Result<Done> FakeProcess::read_memory(std::uint64_t address, std::span<std::byte> into) const {
  ++memory_reads;
  if (denied.count("memory") != 0) {
    return errno_error(EPERM, "read memory of", std::to_string(number));
  }
  auto block = memory.upper_bound(address);
  if (block == memory.begin()) {
    return errno_error(EFAULT, "read memory of", std::to_string(number));
  }
  --block;
  const std::uint64_t offset = address - block->first;
  if (offset > block->second.size() || block->second.size() - offset < into.size()) {
    return errno_error(EFAULT, "read memory of", std::to_string(number));
  }
  std::memcpy(into.data(), block->second.data() + offset, into.size());
  return Done{};
}

void FakeProcess::read_memory(std::span<MemoryRead> pieces) const {
  for (auto& piece : pieces) {
    piece.got = static_cast<bool>(read_memory(piece.address, piece.into));
  }
}

Result<std::unique_ptr<File>> FakeProcess::open_mapped(const MappedRange& range) const {
  const auto found = mapped.find(range.start);
  if (denied.count("map_files") != 0 || found == mapped.end()) {
    return errno_error(EPERM, "open", "map_files");
  }
  FileStatus status;
  status.device = range.device;
  status.inode = range.inode;
  return memory_file(found->second, status);
}

Result<CommandOutput> FakeCommands::run(const Command& command) const {
  ran.push_back(command.argv);
  auto found = outputs.find(join(command.argv, " "));
  if (found == outputs.end()) {
    found = outputs.find(command.argv.front());
  }
  if (found == outputs.end()) {
    return Error{ErrorKind::missing_tool, "run", command.argv.front(), "not found", ""};
  }
  return found->second;
}

}  // namespace tracso::test
