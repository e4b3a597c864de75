#pragma once
// A running process: /proc/PID and its memory.

#include "tracso/target.hpp"

#include "base/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace tracso::os {

/// Holds /proc/PID open, so that a recycled number is never mistaken for the process.
class LiveProcess final : public ProcessSource {
 public:
  /// not_found: no such process.
  static Result<std::unique_ptr<LiveProcess>> open(std::int32_t pid);

  std::int32_t pid() const override { return pid_; }

  Result<std::string> read(std::string_view name) const override;
  Result<std::size_t> read_at(std::string_view name,
                              std::uint64_t offset,
                              std::span<std::byte> into) const override;
  Result<std::string> read_link(std::string_view name) const override;
  Result<std::vector<std::string>> list(std::string_view name) const override;
  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override;
  void read_memory(std::span<MemoryRead> pieces) const override;
  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override;

 private:
  LiveProcess(std::int32_t pid, std::int32_t thread, UniqueFd directory)
      : pid_(pid), thread_(thread), directory_(std::move(directory)) {}

  Error failure(int number, std::string_view action, std::string_view name) const;
  bool read_piece(MemoryRead& piece) const;

  std::int32_t pid_;
  std::int32_t thread_;  // pid_, or a thread that lives where the first does not
  UniqueFd directory_;
  mutable UniqueFd memory_;  // /proc/PID/mem, where process_vm_readv is not to be had
};

}  // namespace tracso::os
