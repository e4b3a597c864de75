#include "support/fake_loader.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace tracso::test {
namespace {

constexpr std::uint64_t program_start = 0x56550000;
constexpr std::size_t heap_bytes = 0x20000;

}  // namespace

FakeLoader::FakeLoader(FakeLayout layout, std::vector<FakeObject> objects)
    : layout_(layout), objects_(std::move(objects)), heap_start_(0x57000000) {
  process.memory[heap_start_] = std::string(heap_bytes, '\0');
  place_records();
  fill_debugs();
  place_program();
  for (const auto& object : objects_) {
    if (object.dynamic != 0) {
      Mapping mapping;
      mapping.start = object.dynamic & ~std::uint64_t{0xfff};
      mapping.end = mapping.start + 0x1000;
      mapping.inode = mapping.start >> 12U;
      mapping.name = object.name;
      mappings.push_back(mapping);
    }
  }
  std::sort(mappings.begin(), mappings.end(), [](const Mapping& a, const Mapping& b) {
    return a.start < b.start;
  });
}

std::uint64_t FakeLoader::take(std::size_t bytes) {
  const std::uint64_t at = heap_start_ + used_;
  used_ += (bytes + 15) / 16 * 16;
  return at;
}

void FakeLoader::poke(std::uint64_t address, std::uint64_t value) {
  std::memcpy(heap().data() + (address - heap_start_), &value, word());
}

std::uint64_t FakeLoader::text(const std::string& value) {
  const std::uint64_t at = take(value.size() + 1);
  std::memcpy(heap().data() + (at - heap_start_), value.c_str(), value.size() + 1);
  return at;
}

// The text lies in the block of its node, as glibc does it; of every second one elsewhere.
std::uint64_t FakeLoader::names(const std::vector<std::string>& values) {
  std::uint64_t next = 0;
  for (std::size_t i = values.size(); i-- > 0;) {
    const bool inside = i % 2 == 0;
    const std::uint64_t node = take(3 * word() + (inside ? values[i].size() + 1 : 0));
    std::uint64_t name = node + 3 * word();
    if (inside) {
      std::memcpy(heap().data() + (name - heap_start_), values[i].c_str(), values[i].size() + 1);
    } else {
      name = text(values[i]);
    }
    poke(node, name);
    poke(node + word(), next);
    next = node;
  }
  return next;
}

void FakeLoader::place_records() {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    records_.push_back(take((8 + layout_.info_words + 20) * word() + 16));
  }
  auxv.elf_class = layout_.elf_class;
  auxv.phdr = program_start + 64;
  auxv.phnum = 2;
  auxv.phent = word() == 8 ? 56 : 32;
  auxv.entry = program_start + 0x1060;
  auxv.base = layout_.loader_base;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    fill_record(i);
  }
}

std::uint64_t FakeLoader::requester_field(std::size_t object) const {
  return record(object) + (8 + layout_.info_words + 7) * word();
}

void FakeLoader::fill_record(std::size_t object) {
  const auto& from = objects_[object];
  const auto same_space = [&](std::size_t other) { return objects_[other].space == from.space; };
  std::uint64_t next = 0, previous = 0;
  for (std::size_t other = object + 1; other < objects_.size() && next == 0; ++other) {
    next = same_space(other) ? records_[other] : 0;
  }
  for (std::size_t other = object; other-- > 0 && previous == 0;) {
    previous = same_space(other) ? records_[other] : 0;
  }
  const std::uint64_t at = record(object);
  const std::uint64_t words[] = {from.bias,
                                 text(from.name),
                                 from.dynamic,
                                 next,
                                 previous,
                                 record(from.real.value_or(object)),
                                 from.space,
                                 names(from.requested)};
  for (std::size_t i = 0; i < 8; ++i) {
    poke(at + i * word(), words[i]);
  }
  const std::uint64_t phdr = at + (8 + layout_.info_words) * word();
  if (layout_.marked) {
    poke(phdr, object == 0 ? auxv.phdr : from.bias + 64);
    poke(phdr + word(), object == 0 ? auxv.entry : from.bias + 1);
    poke(phdr + 2 * word(), (std::uint64_t{21} << 16U) | (object == 0 ? auxv.phnum : 9));
  }
  poke(requester_field(object), from.requester ? record(*from.requester) : 0);
  const std::uint64_t opens = requester_field(object) + 5 * word() + 16;
  std::memcpy(heap().data() + (opens - heap_start_), &from.opens, 4);
  const std::uint32_t flags = 0xabcdef00U | from.type;
  std::memcpy(heap().data() + (opens + 4 - heap_start_), &flags, 4);
}

void FakeLoader::fill_debugs() {
  std::size_t spaces = 0;
  for (const auto& object : objects_) {
    spaces = std::max(spaces, object.space + 1);
  }
  for (std::size_t space = 0; space < spaces; ++space) {
    debugs_.push_back(take(6 * word()));
  }
  for (std::size_t space = 0; space < spaces; ++space) {
    const auto first = std::find_if(objects_.begin(), objects_.end(), [&](const auto& object) {
      return object.space == space;
    });
    const std::uint64_t at = debugs_[space];
    const auto index = static_cast<std::size_t>(first - objects_.begin());
    poke(at, spaces > 1 ? 2 : 1);
    poke(at + word(), first == objects_.end() ? 0 : records_[index]);
    poke(at + 3 * word(), space == 0 ? layout_.state : 0);
    poke(at + 4 * word(), layout_.loader_base);
    poke(at + 5 * word(), space + 1 < spaces ? debugs_[space + 1] : 0);
  }
}

void FakeLoader::place_program() {
  std::string bytes(0x1000, '\0');
  const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
    std::memcpy(bytes.data() + at, &value, size);
  };
  constexpr std::uint64_t dynamic_at = 0x400;
  const std::size_t step = auxv.phent;
  const std::pair<std::uint32_t, std::uint64_t> headers[] = {{PT_PHDR, 64},
                                                             {PT_DYNAMIC, dynamic_at}};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t at = 64 + i * step;
    put(at, headers[i].first, 4);
    put(at + 2 * word(), headers[i].second, word());  // p_vaddr
    put(at + 5 * word(), 0x100, word());              // p_memsz
  }
  put(dynamic_at, DT_NEEDED, word());
  put(dynamic_at + word(), 1, word());
  put(dynamic_at + 2 * word(), layout_.dt_debug ? DT_DEBUG : DT_BIND_NOW, word());
  put(dynamic_at + 3 * word(), debugs_.front(), word());
  process.memory[program_start] = bytes;
}

std::vector<FakeObject> usual_objects() {
  FakeObject program;
  program.bias = program_start;
  program.dynamic = program_start + 0x400;
  program.requested = {""};
  program.type = 0;
  program.opens = 1;
  FakeObject libc;
  libc.name = "/lib/libc.so.6";
  libc.bias = 0xf7d00000;
  libc.dynamic = 0xf7e00010;
  libc.requested = {"libc.so.6"};
  libc.requester = 0;
  FakeObject loader;
  loader.name = "/lib/ld.so";
  loader.bias = 0xf7f00000;
  loader.dynamic = 0xf7f80020;
  loader.requested = {"/lib/ld.so", "ld-linux.so.2"};
  return {program, libc, loader};
}

}  // namespace tracso::test
