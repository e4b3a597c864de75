// What an object's symbol table says of a name that it defines. Where an address lies does not tell
// code from data: linkers that make no segment of their own for constants (gold, -z noseparate-code)
// put them beside the code.

#include "agent.h"

enum { type_ifunc = 10 };  // STT_GNU_IFUNC: not in every elf.h

// An STT_GNU_IFUNC's value is its resolver; what that has chosen mostly has no symbol, but dlsym
// gives the address of a function for it, whatever that is.
static int defines_function(const struct image* image,
                            uint32_t symbol,
                            const char* name,
                            uint64_t address) {
  const ElfW(Sym)* entry = &image->symbols[symbol];
  const int type = ELF64_ST_TYPE(entry->st_info);
  if (entry->st_shndx == SHN_UNDEF || !same_text(image->strings + entry->st_name, name)) {
    return 0;
  }
  return type == type_ifunc || (type == STT_FUNC && image->base + entry->st_value == address);
}

// DT_GNU_HASH: number of buckets, first symbol in it, words of a Bloom filter, its shift; the filter;
// the buckets; a hash for each symbol, its lowest bit set in the last of a bucket.
static int is_in_gnu_hash(const struct image* image, const char* name, uint64_t address) {
  const uint32_t* table = image->gnu_hash;
  const uint32_t buckets = table[0], first = table[1];
  const uint32_t* bucket = table + 4 + 2 * (uint64_t)table[2];
  const uint32_t* hashes = bucket + buckets;
  uint32_t hash = 5381;
  for (const char* at = name; *at != 0; ++at) {
    hash = hash * 33 + (uint8_t)*at;
  }
  uint32_t symbol = buckets == 0 ? 0 : bucket[hash % buckets];
  if (symbol < first || symbol == 0) {
    return 0;
  }
  for (;; ++symbol) {
    const uint32_t found = hashes[symbol - first];
    if ((found | 1) == (hash | 1) && defines_function(image, symbol, name, address)) {
      return 1;
    }
    if ((found & 1) != 0) {
      return 0;
    }
  }
}

// DT_HASH: number of buckets, of symbols; the buckets; the next symbol of each one's bucket.
static int is_in_hash(const struct image* image, const char* name, uint64_t address) {
  const uint32_t buckets = image->hash[0], symbols = image->hash[1];
  const uint32_t* bucket = image->hash + 2;
  const uint32_t* next = bucket + buckets;
  uint32_t hash = 0;
  for (const char* at = name; *at != 0; ++at) {
    hash = (hash << 4) + (uint8_t)*at;
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  uint32_t symbol = buckets == 0 ? 0 : bucket[hash % buckets];
  for (uint32_t i = 0; i < symbols && symbol != 0 && symbol < symbols; ++i) {
    if (defines_function(image, symbol, name, address)) {
      return 1;
    }
    symbol = next[symbol];
  }
  return 0;
}

int is_function(uint32_t object, const char* name, uint64_t address) {
  struct image image;
  if (!read_symbols(&image, object)) {
    return 0;
  }
  return image.gnu_hash != 0 ? is_in_gnu_hash(&image, name, address)
         : image.hash != 0   ? is_in_hash(&image, name, address)
                             : 0;
}
