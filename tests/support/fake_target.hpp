#pragma once
// A target made of three maps in memory. Counts what is read and can deny anything.

#include "tracso/target.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tracso::test {

class FakeFiles final : public FileSystem {
 public:
  std::map<std::string, std::string> files;  // path -> content
  std::map<std::string, std::string> links;  // path -> where it points
  std::set<std::string> denied, directories;
  mutable std::map<std::string, int> opened;

  Result<FileStatus> status(const TargetPath& path) const override;
  Result<std::unique_ptr<File>> open(const TargetPath& path) const override;
  Result<TargetPath> resolve(const TargetPath& path) const override;
  Result<std::vector<std::string>> list(const TargetPath& directory) const override;

  std::string host_path(const TargetPath& path) const override { return path.text; }

 private:
  std::string follow(std::string path) const;
};

class FakeProcess final : public ProcessSource {
 public:
  std::int32_t number = 4711;
  std::map<std::string, std::string> texts;  // "maps" -> text
  // name -> what one read after the other gives; the last one stays.
  mutable std::map<std::string, std::vector<std::string>> changing;
  std::map<std::string, std::string> parts;  // "pagemap@OFFSET+COUNT" -> bytes
  std::map<std::string, std::string> links;  // "exe" -> path
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::uint64_t, std::string> memory;  // start -> bytes
  std::map<std::uint64_t, std::string> mapped;  // start of a mapping -> content of its file
  std::set<std::string> denied;                 // names; "memory" denies all memory
  mutable int memory_reads = 0;
  bool read_ahead = false;  // its memory need not fill pages

  std::int32_t pid() const override { return number; }

  Result<std::string> read(std::string_view name) const override;
  Result<std::size_t> read_at(std::string_view name,
                              std::uint64_t offset,
                              std::span<std::byte> into) const override;
  Result<std::string> read_link(std::string_view name) const override;
  Result<std::vector<std::string>> list(std::string_view name) const override;
  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override;
  void read_memory(std::span<MemoryRead> pieces) const override;

  bool may_read_ahead() const override { return read_ahead; }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override;
};

class FakeCommands final : public CommandRunner {
 public:
  std::map<std::string, CommandOutput> outputs;  // argv joined by spaces; or argv[0] alone
  mutable std::vector<std::vector<std::string>> ran;
  Result<CommandOutput> run(const Command& command) const override;
};

/// A File over bytes.
std::unique_ptr<File> memory_file(std::string content, FileStatus status = {});

struct FakeTarget {
  FakeProcess process;
  FakeFiles files;
  FakeCommands commands;

  Target target() const { return {&process, &files, &commands}; }
};

}  // namespace tracso::test
