#include "elf/relocations.hpp"

#include "elf/file_image.hpp"
#include "elf/file_tables.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace tracso::elf {
namespace {

constexpr std::uint64_t page_bytes = 4096;
constexpr std::size_t most_pages = std::size_t{4} << 20U;  // 16 GB of relocated memory
constexpr std::string_view too_many_relocations = "more relocations than any linker writes";

class PageCounter {
 public:
  explicit PageCounter(FileImage& image) : image_(image), word_(image.encoding().word()) {}

  /// RELA (three words an entry) or REL (two).
  Result<Done> add_entries(std::uint64_t address, std::uint64_t bytes, std::uint64_t words) {
    return for_each_entry(address, bytes, words * word_, [this](const ByteView& view) {
      const std::uint64_t info = image_.encoding().address(view, word_);
      const std::uint64_t type = image_.encoding().wide ? ELF64_R_TYPE(info) : ELF32_R_TYPE(info);
      if (type != 0) {  // R_*_NONE writes nothing
        add_page(image_.encoding().address(view, 0));
      }
    });
  }

  /// An even word is an address to relocate; an odd one has a bit for each of the words behind
  /// (gABI "Relative Relocation Table").
  Result<Done> add_relr(std::uint64_t address, std::uint64_t bytes) {
    std::uint64_t next = 0;
    return for_each_entry(address, bytes, word_, [this, next](const ByteView& view) mutable {
      const std::uint64_t entry = image_.encoding().address(view, 0);
      if ((entry & 1U) == 0) {
        add_page(entry);
        next = entry + word_;
        return;
      }
      for (std::uint64_t bits = entry >> 1U; bits != 0; bits &= bits - 1) {
        add_page(next + static_cast<std::uint64_t>(std::countr_zero(bits)) * word_);
      }
      next += (8 * word_ - 1) * word_;
    });
  }

  std::uint64_t bytes() {
    std::sort(pages_.begin(), pages_.end());
    const auto end = std::unique(pages_.begin(), pages_.end());
    return static_cast<std::uint64_t>(end - pages_.begin()) * page_bytes;
  }

 private:
  void add_page(std::uint64_t address) {
    const std::uint64_t page = address / page_bytes;
    // Tables are nearly sorted: this alone leaves few repetitions.
    if (pages_.empty() || pages_.back() != page) {
      pages_.push_back(page);
    }
  }

  template <class Visit>
  Result<Done> for_each_entry(std::uint64_t address,
                              std::uint64_t bytes,
                              std::uint64_t entry_bytes,
                              Visit visit) {
    const auto place = image_.locate(address);
    if (bytes == 0 || !place) {
      return bytes == 0 ? Result<Done>(Done{}) : image_.fault("relocations outside the file");
    }
    if (bytes > place->room || bytes > most_table_bytes - table_bytes_) {
      return image_.fault(too_many_relocations);
    }
    table_bytes_ += bytes;
    buffer_.resize(entry_bytes * 4096);
    for (std::uint64_t done = 0; done + entry_bytes <= bytes;) {
      const auto want =
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, buffer_.size()));
      const auto got = image_.read(place->offset + done, std::span(buffer_).first(want));
      if (!got) {
        return got.error();
      }
      const std::uint64_t usable = std::min<std::uint64_t>(*got, want) / entry_bytes * entry_bytes;
      if (usable == 0) {
        return image_.fault("cannot read file data");
      }
      for (std::uint64_t at = 0; at < usable; at += entry_bytes) {
        visit(image_.encoding().view(std::span(buffer_).subspan(
            static_cast<std::size_t>(at), static_cast<std::size_t>(entry_bytes))));
      }
      if (pages_.size() > most_pages) {
        return image_.fault(too_many_relocations);
      }
      done += usable;
    }
    return Done{};
  }

  FileImage& image_;
  std::uint64_t word_;
  std::uint64_t table_bytes_ = 0;
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> pages_;
};

}  // namespace

Result<std::uint64_t> relocation_bytes(const File& file, std::string_view name) {
  auto image = FileImage::open(file, name);
  if (!image) {
    return image.error();
  }
  const auto entries = image->dynamic_entries();
  if (!entries) {
    return entries.error();
  }
  const auto value = [&](std::uint64_t tag) { return find_value(*entries, tag).value_or(0); };
  PageCounter pages(*image);
  const std::uint64_t plt_words = value(DT_PLTREL) == DT_REL ? 2 : 3;
  for (const auto& added : {pages.add_entries(value(DT_RELA), value(DT_RELASZ), 3),
                            pages.add_entries(value(DT_REL), value(DT_RELSZ), 2),
                            pages.add_entries(value(DT_JMPREL), value(DT_PLTRELSZ), plt_words),
                            pages.add_relr(value(DT_RELR), value(DT_RELRSZ))}) {
    if (!added) {
      return added.error();
    }
  }
  return pages.bytes();
}

}  // namespace tracso::elf
