#include "os/recording.hpp"
#include "os/recording_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tracso::os {
namespace {

Error not_recorded(std::string_view action, std::string_view subject) {
  return {ErrorKind::failed,
          std::string(action),
          std::string(subject),
          "it is not in this recording",
          ""};
}

template <class T>
Result<T> recorded(const std::map<std::string, Result<T>>& from,
                   std::string_view key,
                   std::string_view action) {
  const auto found = from.find(std::string(key));
  return found == from.end() ? Result<T>(not_recorded(action, key)) : found->second;
}

// Copies [offset, offset+count) out of recorded pieces; the number of bytes that stand there
// without a gap.
std::size_t copy_pieces(const std::map<std::uint64_t, std::string>& pieces,
                        std::uint64_t offset,
                        std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t at = offset + done;
    std::size_t best = 0;
    auto piece = pieces.upper_bound(at);
    // Pieces overlap; a longer one may begin earlier than the nearest.
    for (int looked = 0; piece != pieces.begin() && looked < 64 && best == 0; ++looked) {
      --piece;
      if (piece->first + piece->second.size() > at) {
        best = std::min<std::size_t>(
            into.size() - done, piece->second.size() - static_cast<std::size_t>(at - piece->first));
        std::memcpy(into.data() + done, piece->second.data() + (at - piece->first), best);
      }
    }
    if (best == 0) {
      break;
    }
    done += best;
  }
  return done;
}

class ReplayedFile final : public File {
 public:
  ReplayedFile(const RecordedFile& recorded_file, std::string name)
      : file_(recorded_file), name_(std::move(name)) {}

  Result<FileStatus> status() const override { return file_.status; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= file_.status.bytes) {
      return std::size_t{0};
    }
    const auto want =
        static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), file_.status.bytes - offset));
    const std::size_t got = copy_pieces(file_.pieces, offset, into.subspan(0, want));
    if (got < want) {
      return not_recorded("read", fmt::format("{} at {:#x}", name_, offset + got));
    }
    return got;
  }

 private:
  const RecordedFile& file_;
  std::string name_;
};

Result<std::unique_ptr<File>> replay_file(const Recording& recording, const std::string& key) {
  const auto found = recording.opened.find(key);
  if (found == recording.opened.end()) {
    return not_recorded("open", key);
  }
  if (!found->second) {
    return found->second.error();
  }
  return std::unique_ptr<File>(
      std::make_unique<ReplayedFile>(recording.files.at(*found->second), key));
}

class ReplayedProcess final : public ProcessSource {
 public:
  explicit ReplayedProcess(const Recording& recording) : recording_(recording) {}

  std::int32_t pid() const override { return recording_.pid; }

  Result<std::string> read(std::string_view name) const override {
    return recorded(recording_.texts, name, "read");
  }

  Result<std::size_t> read_at(std::string_view name,
                              std::uint64_t offset,
                              std::span<std::byte> into) const override {
    const auto bytes = recorded(recording_.texts, piece_key(name, offset, into.size()), "read");
    if (!bytes) {
      return bytes.error();
    }
    const std::size_t count = std::min(bytes->size(), into.size());
    std::memcpy(into.data(), bytes->data(), count);
    return count;
  }

  Result<std::string> read_link(std::string_view name) const override {
    return recorded(recording_.links, name, "follow");
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    return recorded(recording_.lists, name, "list");
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override {
    if (copy_pieces(recording_.memory, address, into) < into.size()) {
      return not_recorded("read memory", fmt::format("{:#x}", address));
    }
    return Done{};
  }

  bool may_read_ahead() const override { return false; }

  void read_memory(std::span<MemoryRead> pieces) const override {
    for (auto& piece : pieces) {
      piece.got = copy_pieces(recording_.memory, piece.address, piece.into) == piece.into.size();
    }
  }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return replay_file(recording_, range_key(range));
  }

 private:
  const Recording& recording_;
};

class ReplayedFiles final : public FileSystem {
 public:
  explicit ReplayedFiles(const Recording& recording) : recording_(recording) {}

  Result<FileStatus> status(const TargetPath& path) const override {
    return recorded(recording_.statuses, path.text, "look at");
  }

  Result<std::unique_ptr<File>> open(const TargetPath& path) const override {
    return replay_file(recording_, path.text);
  }

  Result<TargetPath> resolve(const TargetPath& path) const override {
    auto real = recorded(recording_.resolved, path.text, "resolve");
    if (!real) {
      return real.error();
    }
    return TargetPath{*real};
  }

  Result<std::vector<std::string>> list(const TargetPath& directory) const override {
    return recorded(recording_.directories, directory.text, "list");
  }

  std::string host_path(const TargetPath& path) const override { return path.text; }

 private:
  const Recording& recording_;
};

class ReplayedCommands final : public CommandRunner {
 public:
  explicit ReplayedCommands(const Recording& recording) : recording_(recording) {}

  Result<CommandOutput> run(const Command& command) const override {
    return recorded(recording_.commands, command_key(command), "run");
  }

 private:
  const Recording& recording_;
};

}  // namespace

RecordingDoors replay(const Recording& recording) {
  return {std::make_unique<ReplayedProcess>(recording),
          std::make_unique<ReplayedFiles>(recording),
          std::make_unique<ReplayedCommands>(recording)};
}

}  // namespace tracso::os
