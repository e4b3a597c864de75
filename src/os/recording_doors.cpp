#include "base/text.hpp"
#include "os/recording.hpp"
#include "os/recording_keys.hpp"
#include "proc/loader_command.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tracso::os {
namespace {

bool kept_variable(std::string_view entry) {
  // The loader itself cuts GLIBC_TUNABLES into entries: "glibc.cpu.hwcaps=-AVX2".
  constexpr std::array<std::string_view, 6> prefixes{
      "LD_", "PYTHON", "VIRTUAL_ENV=", "CONDA_PREFIX=", "GLIBC_TUNABLES=", "glibc."};
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return entry.starts_with(prefix);
  });
}

// The first word; of a loader that was started by name also its own options and the program.
std::string kept_command(const std::string& text, bool is_loader) {
  const auto words = proc::parse_nul_list(text);
  std::size_t count = 1;
  if (is_loader && !words.empty()) {
    const auto syntax = base_name(words.front()).starts_with("ld-musl") ? proc::LoaderSyntax::musl
                                                                        : proc::LoaderSyntax::glibc;
    count = std::max<std::size_t>(proc::parse_loader_command(words, syntax).words, 1);
  }
  std::string kept;
  for (std::size_t i = 0; i < std::min(count, words.size()); ++i) {
    kept += words[i];
    kept += '\0';
  }
  return kept;
}

// What may hold secrets is cut before anybody sees it.
std::string without_secrets(std::string_view name, std::string text, bool is_loader) {
  if (name == "cmdline") {
    return kept_command(text, is_loader);
  }
  if (name != "environ") {
    return text;
  }
  if (!proc::is_environment_intact(text)) {
    return std::string(1, '\0');  // it says no more than that it was written over
  }
  std::string kept;
  for (const std::string_view entry : split(text, '\0')) {
    if (kept_variable(entry)) {
      kept += entry;
      kept += '\0';
    }
  }
  return kept;
}

class RecordingFile final : public File {
 public:
  RecordingFile(std::unique_ptr<File> live, Recording& recording, std::size_t index)
      : live_(std::move(live)), recording_(recording), index_(index) {}

  Result<FileStatus> status() const override { return live_->status(); }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    auto count = live_->read_at(offset, into);
    if (count && *count > 0) {
      auto& piece = recording_.files[index_].pieces[offset];
      if (piece.size() < *count) {
        piece.assign(reinterpret_cast<const char*>(into.data()), *count);
      }
    }
    return count;
  }

 private:
  std::unique_ptr<File> live_;
  Recording& recording_;
  std::size_t index_;
};

Result<std::unique_ptr<File>> record_file(Result<std::unique_ptr<File>> live,
                                          Recording& recording,
                                          const std::string& key) {
  if (!live) {
    recording.opened.insert_or_assign(key, live.error());
    return live.error();
  }
  const auto known = recording.opened.find(key);
  std::size_t index = recording.files.size();
  if (known != recording.opened.end() && known->second) {
    index = *known->second;
  } else {
    const auto status = (*live)->status();
    recording.files.push_back({status ? *status : FileStatus{}, {}});
    recording.opened.insert_or_assign(key, index);
  }
  return std::unique_ptr<File>(std::make_unique<RecordingFile>(std::move(*live), recording, index));
}

class RecordingProcess final : public ProcessSource {
 public:
  RecordingProcess(const ProcessSource& live, Recording& recording)
      : live_(live), recording_(recording) {}

  std::int32_t pid() const override { return live_.pid(); }

  Result<std::string> read(std::string_view name) const override {
    auto text = live_.read(name);
    if (text) {
      const auto program = live_.read_link("exe");
      text = without_secrets(name, std::move(*text), program && proc::is_loader_name(*program));
    }
    recording_.texts.insert_or_assign(std::string(name), text);
    return text;
  }

  Result<std::size_t> read_at(std::string_view name,
                              std::uint64_t offset,
                              std::span<std::byte> into) const override {
    const auto count = live_.read_at(name, offset, into);
    recording_.texts.insert_or_assign(
        piece_key(name, offset, into.size()),
        count ? Result<std::string>(std::string(reinterpret_cast<const char*>(into.data()), *count))
              : Result<std::string>(count.error()));
    return count;
  }

  Result<std::string> read_link(std::string_view name) const override {
    auto text = live_.read_link(name);
    recording_.links.insert_or_assign(std::string(name), text);
    return text;
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    auto names = live_.list(name);
    recording_.lists.insert_or_assign(std::string(name), names);
    return names;
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override {
    auto done = live_.read_memory(address, into);
    if (done) {
      keep(address, into);
    }
    return done;
  }

  bool may_read_ahead() const override { return false; }

  void read_memory(std::span<MemoryRead> pieces) const override {
    live_.read_memory(pieces);
    for (const auto& piece : pieces) {
      if (piece.got) {
        keep(piece.address, piece.into);
      }
    }
  }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return record_file(live_.open_mapped(range), recording_, range_key(range));
  }

 private:
  void keep(std::uint64_t address, std::span<const std::byte> bytes) const {
    auto& known = recording_.memory[address];
    if (known.size() < bytes.size()) {
      known.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }

  const ProcessSource& live_;
  Recording& recording_;
};

class RecordingFiles final : public FileSystem {
 public:
  RecordingFiles(const FileSystem& live, Recording& recording)
      : live_(live), recording_(recording) {}

  Result<FileStatus> status(const TargetPath& path) const override {
    auto status = live_.status(path);
    recording_.statuses.insert_or_assign(path.text, status);
    return status;
  }

  Result<std::unique_ptr<File>> open(const TargetPath& path) const override {
    return record_file(live_.open(path), recording_, path.text);
  }

  Result<TargetPath> resolve(const TargetPath& path) const override {
    auto real = live_.resolve(path);
    recording_.resolved.insert_or_assign(
        path.text, real ? Result<std::string>(real->text) : Result<std::string>(real.error()));
    return real;
  }

  Result<std::vector<std::string>> list(const TargetPath& directory) const override {
    auto names = live_.list(directory);
    recording_.directories.insert_or_assign(directory.text, names);
    return names;
  }

  std::string host_path(const TargetPath& path) const override { return live_.host_path(path); }

 private:
  const FileSystem& live_;
  Recording& recording_;
};

class RecordingCommands final : public CommandRunner {
 public:
  RecordingCommands(const CommandRunner& live, Recording& recording)
      : live_(live), recording_(recording) {}

  Result<CommandOutput> run(const Command& command) const override {
    auto output = live_.run(command);
    recording_.commands.insert_or_assign(command_key(command), output);
    return output;
  }

 private:
  const CommandRunner& live_;
  Recording& recording_;
};

}  // namespace

RecordingDoors record_through(const Target& live, Recording& recording) {
  recording.pid = live.process->pid();
  return {std::make_unique<RecordingProcess>(*live.process, recording),
          std::make_unique<RecordingFiles>(*live.files, recording),
          std::make_unique<RecordingCommands>(*live.commands, recording)};
}

}  // namespace tracso::os
