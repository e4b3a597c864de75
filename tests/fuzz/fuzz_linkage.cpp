// Any bytes as an ELF file: all symbols and import slots.

#include "elf/linkage.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tracso;
  const auto file = test::memory_file(std::string(reinterpret_cast<const char*>(data), size));
  const auto table = elf::Linkage::read(*file, "x");
  if (!table) {
    require(!table.error().reason.empty());
    return 0;
  }
  std::uint64_t last = 0;
  for (const elf::ImportSlot& slot : table->slots()) {
    require(slot.address >= last);
    last = slot.address;
    const elf::SymbolName name(table->name(slot.symbol), table->needed_version(slot.symbol));
    if (const auto found = table->find(name)) {
      require(table->name(*found) == name.text && table->symbol(*found).defined);
    }
  }
  for (const std::uint32_t symbol : table->addresses_taken()) {
    require(symbol < table->symbol_count() && !table->symbol(symbol).defined);
  }
  for (const auto* name : {"f", "plain", "malloc"}) {
    require(!table->find({name, "V1"}) || table->find({name, "V1"}) < table->symbol_count());
  }
  return 0;
}
