#pragma once
// An ELF file read with as few system calls as possible: its header, program headers and dynamic
// section, and any piece by file offset or by address.
//
// Nothing is mapped and no table is read whole: the .dynstr of a large library has megabytes, the
// loader's few strings in it a few hundred bytes. One read of 1 KiB brings header, program headers
// and usually interpreter and notes; further reads bring 1 KiB from where they are asked, so
// neighbours cost nothing.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include "elf/layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::elf {

/// Longer strings are refused: the longest RUNPATHs in use have some 10 KB.
constexpr std::size_t longest_text = 64 * 1024;

class FileImage {
 public:
  /// Where an address lies in the file, and how many bytes of its segment follow there.
  struct Place {
    std::uint64_t offset = 0, room = 0;
  };

  /// Reads header and program headers; `file` must outlive the image. malformed: not an ELF file
  /// that the loader would take, with its words; an Error of the file is passed on.
  static Result<FileImage> open(const File& file, std::string_view name);

  const FileHeader& header() const { return header_; }

  Encoding encoding() const { return header_.encoding; }

  std::span<const ProgramHeader> program_headers() const { return segments_; }

  /// The first program header of that type, or null.
  const ProgramHeader* segment(std::uint32_t type) const;

  /// The PT_DYNAMIC that the loader takes: the last one that has bytes in the file; null: none.
  const ProgramHeader* dynamic_segment() const;

  /// The entries of the dynamic section before DT_NULL; empty: there is none. Read as the loader
  /// does, by address. malformed: outside the file, or more entries than any linker writes.
  Result<std::vector<DynamicEntry>> dynamic_entries();

  /// By PT_LOAD; nullopt: not in the file (perhaps in .bss).
  std::optional<Place> locate(std::uint64_t address) const;

  /// Exactly `count` (at most window_bytes) bytes at that file offset; valid until the next call.
  /// malformed: the file ends before.
  Result<std::span<const std::byte>> at(std::uint64_t offset, std::size_t count);

  /// The same by address. malformed: not in the file.
  Result<std::span<const std::byte>> at_address(std::uint64_t address, std::size_t count);

  /// The NUL-terminated text at that address. malformed: not in the file, not terminated in its
  /// segment, or longer than longest_text.
  Result<std::string> text_at(std::uint64_t address);

  /// The texts at these offsets of a string table, in the order of `offsets` but read in the order
  /// of the table, so that neighbours come out of one read. malformed: as text_at, or more than
  /// `most_bytes` in all.
  Result<std::vector<std::string>> texts_at(std::uint64_t table,
                                            std::span<const std::uint64_t> offsets,
                                            std::size_t most_bytes);

  /// Bytes [offset, offset + into.size()) as far as the file has them.
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const {
    return file_->read_at(offset, into);
  }

  /// malformed, about this file.
  Error fault(std::string_view reason) const { return not_elf(name_, reason); }

  static constexpr std::size_t window_bytes = 1024;

 private:
  struct Window {
    std::uint64_t start = 0;
    std::size_t bytes = 0;
    std::array<std::byte, window_bytes> content;

    std::span<const std::byte> from(std::uint64_t offset) const;
  };

  FileImage(const File& file, std::string_view name) : file_(&file), name_(name) {}

  Result<Done> fill(Window& window, std::uint64_t offset);
  Result<std::span<const std::byte>> fill_oldest(std::uint64_t offset);
  std::span<const std::byte> seen_at(std::uint64_t offset, std::size_t count) const;
  Result<Done> read_program_headers();
  Result<std::span<const std::byte>> some_at(std::uint64_t offset);

  const File* file_;
  std::string_view name_;
  FileHeader header_;
  std::vector<ProgramHeader> segments_;
  Window start_;  // the first bytes of the file
  // The last places asked for, in turns: a table, its strings and a second table are read side by
  // side without driving each other out.
  std::array<Window, 3> windows_;
  std::size_t oldest_ = 0;
};

/// How far the segments of a file reach in memory, counted from its header; nullopt: its program
/// headers are not among these first bytes of it, or none of its segments holds its header.
std::optional<std::uint64_t> bytes_in_memory(std::span<const std::byte> start);

/// The value of the last entry with that tag, as the loader takes it; nullopt: none.
std::optional<std::uint64_t> find_value(std::span<const DynamicEntry> entries, std::uint64_t tag);

}  // namespace tracso::elf
