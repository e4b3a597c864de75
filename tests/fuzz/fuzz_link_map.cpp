// The input is the memory of a process, repeated over all addresses, so that every pointer leads
// somewhere. Every second input has a sound program in front, whose DT_DEBUG leads to the input: so
// the lists are reached at once. Whatever stands there, reading must end and crash nothing.

#include "loader/link_map.hpp"
#include "loader/link_map_walk.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace {

constexpr std::uint64_t program_start = std::uint64_t{1} << 40U;
constexpr std::uint64_t program_start_32 = std::uint64_t{1} << 30U;

/// One program header, PT_DYNAMIC, and a dynamic section with DT_DEBUG.
std::string make_program(bool wide) {
  const std::size_t word = wide ? 8 : 4;
  std::string bytes(256, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value) {
    std::memcpy(bytes.data() + at, &value, word);
  };
  constexpr std::uint64_t dynamic = 128, pt_dynamic = 2, dt_debug = 21;
  bytes[0] = static_cast<char>(pt_dynamic);
  put(2 * word, (wide ? program_start : program_start_32) + dynamic);  // p_vaddr; the bias is 0
  put(5 * word, 4 * word);                                             // p_memsz
  put(dynamic, dt_debug);
  put(dynamic + word, 64);  // of the input
  return bytes;
}

class RepeatedMemory final : public tracso::ProcessSource {
 public:
  RepeatedMemory(std::span<const std::uint8_t> bytes, std::uint64_t program, std::string image)
      : bytes_(bytes), program_(program), image_(std::move(image)) {}

  std::int32_t pid() const override { return 1; }

  tracso::Result<std::string> read(std::string_view) const override { return absent(); }

  tracso::Result<std::string> read_link(std::string_view) const override { return absent(); }

  tracso::Result<std::vector<std::string>> list(std::string_view) const override {
    return absent();
  }

  tracso::Result<tracso::Done> read_memory(std::uint64_t address,
                                           std::span<std::byte> into) const override {
    if (address >> 60U != 0) {  // some addresses must lead nowhere
      return absent();
    }
    const std::uint64_t inside = address - program_;
    if (inside < image_.size() && into.size() <= image_.size() - inside) {
      std::memcpy(into.data(), image_.data() + inside, into.size());
      return tracso::Done{};
    }
    for (std::size_t i = 0; i < into.size(); ++i) {
      into[i] = std::byte{bytes_[static_cast<std::size_t>((address + i) % bytes_.size())]};
    }
    return tracso::Done{};
  }

  void read_memory(std::span<tracso::MemoryRead> pieces) const override {
    for (auto& piece : pieces) {
      piece.got = static_cast<bool>(read_memory(piece.address, piece.into));
    }
  }

  tracso::Result<std::unique_ptr<tracso::File>> open_mapped(
      const tracso::MappedRange&) const override {
    return absent();
  }

 private:
  static tracso::Error absent() { return {tracso::ErrorKind::not_found, "read", "", "none", ""}; }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t program_;
  std::string image_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 16) {
    return 0;
  }
  const bool wide = (data[0] & 1U) == 0, has_program = (data[0] & 2U) == 0;
  const std::uint64_t program = wide ? program_start : program_start_32;
  const RepeatedMemory process({data, size}, program, has_program ? make_program(wide) : "");
  tracso::proc::Auxv auxv;
  auxv.elf_class = wide ? tracso::ElfClass::elf64 : tracso::ElfClass::elf32;
  auxv.phdr = has_program ? program : data[1];
  auxv.phnum = has_program ? 1 : data[2] % 16U;
  auxv.entry = data[3];
  auxv.base = data[4];
  tracso::Mapping mapping;
  mapping.end = 4096;
  mapping.inode = data[5];
  mapping.name = "/lib/libc.so.6";
  const std::vector<tracso::Mapping> mappings{mapping};
  auto maps = tracso::loader::read_link_maps(process, mappings, auxv, 1);
  if (maps) {
    maps->entries.resize(std::min<std::size_t>(maps->entries.size(), 64));  // for speed
    for (auto& entry : maps->entries) {
      entry.requester.reset();
    }
    maps->loader.reset();
    const auto sections = tracso::loader::read_dynamic_sections(process, *maps);
    (void)tracso::loader::match_needed(*maps, sections, "/usr/bin/app");
  }
  // The way of a follower: the same lists again, with records expected that may lie anywhere.
  tracso::loader::SteadyMemory memory(process, auxv.elf_class);
  const std::vector<std::uint64_t> r_debugs{data[6]};
  const std::vector<std::uint64_t> expected{data[7], data[8], std::uint64_t{data[9]} << 56U};
  (void)tracso::loader::loader_at_work(memory, r_debugs);
  (void)tracso::loader::walk_link_maps(memory, r_debugs, expected);
  return 0;
}
