#pragma once
// ELF files through readelf, for who trusts binutils more than us; the native reader checks it and
// steps in.

#include "tracso/elf_reader.hpp"
#include "tracso/target.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// Dynamic strings and flags come from `readelf -dW`, a few hundred files per run; what the ELF and
/// program headers say is read natively. Where the output cannot be believed, the native reader
/// reads the file.
class ReadelfReader final : public ElfReader {
 public:
  explicit ReadelfReader(const CommandRunner& commands) : commands_(commands) {}

  std::string_view name() const override { return "readelf"; }

  /// Without readelf on this machine every Result is an Error of kind missing_tool. All runs
  /// together get half a minute; the native reader reads what is left then.
  std::vector<Result<ElfFile>> read(std::span<const ElfInput> inputs) const override;

  /// "NAME: REASON" of each file that read() so far gave to the native reader, in order.
  std::vector<std::string> fallbacks() const { return fallbacks_; }

 private:
  struct Job;

  std::vector<Job> prepare(std::span<const ElfInput> inputs,
                           std::vector<Result<ElfFile>>& files) const;
  Result<Done> run(std::span<const Job> jobs, std::vector<Result<ElfFile>>& files) const;
  void fall_back(const Job& job,
                 std::string_view reason,
                 std::vector<Result<ElfFile>>& files) const;

  const CommandRunner& commands_;
  mutable std::vector<std::string> fallbacks_;
  mutable std::chrono::milliseconds left_{30'000};  // for all runs together
};

/// ElfReader "readelf"; `commands` must outlive it.
std::unique_ptr<ReadelfReader> make_readelf_reader(const CommandRunner& commands);

}  // namespace tracso::elf
