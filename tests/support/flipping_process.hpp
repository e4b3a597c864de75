#pragma once
// A process whose memory has been tampered with.

#include "tracso/target.hpp"

#include <cstdint>

namespace tracso::test {

/// Passes everything on, but flips bits of the memory that is read: about one of `one_in` bytes, 0:
/// none.
class FlippingProcess final : public ProcessSource {
 public:
  enum class Damage {
    lasting,  ///< the same bits at every read
    changing  ///< other bits each time
  };

  FlippingProcess(const ProcessSource& real,
                  std::uint64_t seed,
                  std::uint64_t one_in,
                  Damage damage)
      : real_(real), seed_(seed), one_in_(one_in), damage_(damage) {}

  /// From now on.
  void flip_one_in(std::uint64_t bytes) { one_in_ = bytes; }

  std::int32_t pid() const override { return real_.pid(); }

  Result<std::string> read(std::string_view name) const override { return real_.read(name); }

  Result<std::string> read_link(std::string_view name) const override {
    return real_.read_link(name);
  }

  Result<std::vector<std::string>> list(std::string_view name) const override {
    return real_.list(name);
  }

  Result<Done> read_memory(std::uint64_t address, std::span<std::byte> into) const override {
    auto done = real_.read_memory(address, into);
    flip(address, into);
    return done;
  }

  void read_memory(std::span<MemoryRead> pieces) const override {
    real_.read_memory(pieces);
    for (auto& piece : pieces) {
      flip(piece.address, piece.into);
    }
  }

  Result<std::unique_ptr<File>> open_mapped(const MappedRange& range) const override {
    return real_.open_mapped(range);
  }

 private:
  static std::uint64_t mixed(std::uint64_t value) {  // splitmix64
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31U);
  }

  void flip(std::uint64_t address, std::span<std::byte> bytes) const {
    if (one_in_ == 0) {
      return;
    }
    const std::uint64_t salt = damage_ == Damage::lasting ? seed_ : mixed(seed_ + ++reads_);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint64_t dice = mixed(salt ^ mixed(address + i));
      if (dice % one_in_ == 0) {
        bytes[i] ^= std::byte{1} << ((dice >> 40U) % 8);
      }
    }
  }

  const ProcessSource& real_;
  std::uint64_t seed_, one_in_;
  Damage damage_;
  mutable std::uint64_t reads_ = 0;
};

}  // namespace tracso::test
