#include "elf/hash_tables.hpp"

#include <elf.h>

#include <algorithm>
#include <utility>

namespace tracso::elf {
namespace {

class HashReader {
 public:
  HashReader(FileImage& image, std::span<const DynamicEntry> entries)
      : image_(image), tables_(image), entries_(entries) {}

  Result<HashTables> read() {
    const auto gnu = find_value(entries_, DT_GNU_HASH);
    const auto old = find_value(entries_, DT_HASH);
    const auto done = gnu ? read_gnu_hash(*gnu) : old ? read_sysv_hash(*old) : Result<Done>(Done{});
    return done ? Result<HashTables>(std::move(out_)) : Result<HashTables>(done.error());
  }

 private:
  Result<Done> read_sysv_hash(std::uint64_t at) {
    const auto head = tables_.numbers(at, 2);
    auto buckets = head ? tables_.numbers(at + 8, (*head)[0]) : head;
    auto chains =
        buckets ? tables_.numbers(at + 8 + std::uint64_t{(*head)[0]} * 4, (*head)[1]) : buckets;
    if (!chains) {
      return chains.error();
    }
    out_.buckets = std::move(*buckets);
    out_.chains = std::move(*chains);
    out_.symbols = out_.chains.size();
    return Done{};
  }

  Result<Done> read_gnu_hash(std::uint64_t at) {
    const auto head = tables_.numbers(at, 4);
    if (!head) {
      return head.error();
    }
    const std::uint64_t words = (*head)[2];
    const std::uint64_t bucket_table = at + 16 + words * image_.encoding().word();
    out_.gnu = true;
    out_.first_hashed = (*head)[1];
    out_.bloom_shift = (*head)[3];
    auto buckets = tables_.numbers(bucket_table, (*head)[0]);
    const auto bloom = tables_.table(at + 16, words * image_.encoding().word());
    if (!buckets || !bloom) {
      return buckets ? bloom.error() : buckets.error();
    }
    const ByteView view = image_.encoding().view(*bloom);
    for (std::uint64_t i = 0; i < words; ++i) {
      out_.bloom.push_back(image_.encoding().address(view, i * image_.encoding().word()));
    }
    out_.buckets = std::move(*buckets);
    return read_gnu_chains(bucket_table + std::uint64_t{(*head)[0]} * 4);
  }

  // The chain of the last symbol ends the table.
  Result<Done> read_gnu_chains(std::uint64_t at) {
    std::uint32_t last = 0;
    for (const std::uint32_t bucket : out_.buckets) {
      last = std::max(last, bucket);
    }
    if (last < out_.first_hashed || last == 0) {
      out_.buckets.clear();  // nothing is exported
      return Done{};
    }
    const auto place = image_.locate(at);
    const std::uint64_t room = place ? place->room / 4 : 0;
    std::uint64_t count = std::uint64_t{last} - out_.first_hashed + 1;
    constexpr std::uint64_t step = 64, longest = 4096;
    for (std::uint64_t tail = 0; tail < longest; tail += step) {
      const std::uint64_t wanted = std::min(count + tail + step, room);
      auto chains = tables_.numbers(at, wanted);
      if (!chains) {
        return chains.error();
      }
      for (std::uint64_t i = count + tail; i <= wanted && i > 0; ++i) {
        if (((*chains)[i - 1] & 1U) != 0) {
          chains->resize(i);
          out_.chains = std::move(*chains);
          out_.symbols = out_.first_hashed + out_.chains.size();
          return Done{};
        }
      }
      if (wanted == room) {
        break;
      }
    }
    return image_.fault("a chain of its hash table does not end");
  }

  FileImage& image_;
  FileTables tables_;
  std::span<const DynamicEntry> entries_;
  HashTables out_;
};

}  // namespace

Result<HashTables> read_hash_tables(FileImage& image, std::span<const DynamicEntry> entries) {
  return HashReader(image, entries).read();
}

}  // namespace tracso::elf
