#pragma once
// A process whose memory is read page by page: many small reads of one place cost one system call.

#include "tracso/target.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::proc {

/// For a short look: what was read once is believed as long as this lives. All but small reads of
/// memory go straight to the process, which must outlive this.
class PagedProcess final : public ProcessSource {
 public:
  explicit PagedProcess(const ProcessSource& process) : process_(process) {}

  std::int32_t pid() const override { return process_.pid(); }

  Result<std::string> read(std::string_view name) const override { return process_.read(name); }

  Result<std::size_t> read_at(std::string_view name,
                              std::uint64_t offset,
                              std::span<std::byte> into) const override {
    return process_.read_at(name, offset, into);
  }

  Result<std::string> read_link(std::string_view name) const override {
    return process_.read_link(name);
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    return process_.list(name);
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override;

  void read_memory(std::span<MemoryRead> pieces) const override { process_.read_memory(pieces); }

  bool may_read_ahead() const override { return process_.may_read_ahead(); }

  /// Reads the pages at these addresses in one go, where reading ahead is allowed.
  void fetch(std::span<const std::uint64_t> addresses) const;

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return process_.open_mapped(range);
  }

 private:
  static constexpr std::uint64_t page_bytes = 4096;
  static constexpr std::size_t most_pages = 1024;
  using Page = std::array<std::byte, page_bytes>;

  const Page* page_at(std::uint64_t address) const;

  const ProcessSource& process_;
  mutable std::map<std::uint64_t, std::unique_ptr<Page>> pages_;  // by address
};

}  // namespace tracso::proc
