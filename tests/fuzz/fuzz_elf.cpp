// Any bytes as an ELF file: native reader, versions, symbols, relocations, names of functions.

#include "elf/function_symbols.hpp"
#include "elf/native_reader.hpp"
#include "elf/relocations.hpp"
#include "elf/symbols.hpp"
#include "support/fake_target.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace tracso;

void require(bool promise) {
  if (!promise) {
    std::abort();
  }
}

void check_dynamic(const DynamicSection& dynamic) {
  for (const auto& entry : dynamic.needed) {
    require(entry.name.find('\0') == std::string::npos && entry.name.size() <= elf::longest_text);
  }
  require(dynamic.present || dynamic.needed.empty());
}

void read_symbols(const File& file) {
  auto table = elf::SymbolTable::open(file, "x");
  if (!table) {
    require(!table.error().reason.empty());
    return;
  }
  for (const auto* version : {"", "V1", "GLIBC_2.34"}) {
    const auto found = table->defines("f", version);
    require(found || !found.error().reason.empty());
  }
  if (const auto undefined = table->undefined()) {
    for (const auto& symbol : *undefined) {
      require(symbol.version.empty() || symbol.name.find('\0') == std::string::npos);
    }
  }
}

void read_functions(const File& file) {
  const auto functions = elf::function_symbols(file, "x");
  for (std::size_t i = 0; functions && i < functions->size(); ++i) {
    require(!(*functions)[i].name.empty());
    require(i == 0 || (*functions)[i - 1].address < (*functions)[i].address);
  }
  const auto code = elf::plt_code(file, "x");
  require(code || !code.error().reason.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = test::memory_file(std::string(reinterpret_cast<const char*>(data), size));
  if (const auto elf = elf::read_elf(*file, "x")) {
    check_dynamic(elf->dynamic);
  } else {
    require(elf.error().kind == ErrorKind::malformed && !elf.error().reason.empty());
  }
  read_symbols(*file);
  read_functions(*file);
  const auto bytes = elf::relocation_bytes(*file, "x");
  require(!bytes || *bytes % 4096 == 0);
  return 0;
}
