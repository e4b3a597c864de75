// A file whose soname is any bytes, as readelf prints it between honest files: whatever the soname
// says, it must not change a fact of its own file or of another.

#include "elf/readelf_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

const std::string columns = "  Tag        Type                         Name/Value\n";

std::string section(const std::string& soname, const std::string& needed) {
  return "\nDynamic section at offset 0x2df8 contains 3 entries:\n" + columns +
         " 0x000000000000000e (SONAME)             Library soname: [" + soname +
         "]\n 0x0000000000000001 (NEEDED)             Shared library: [" + needed +
         "]\n 0x0000000000000000 (NULL)               0x0\n";
}

/// Facts are refused, or they are the true ones.
void require_true(const tracso::Result<tracso::elf::ReadelfFacts>& facts,
                  const std::string& soname,
                  const std::string& needed) {
  if (!facts) {
    return;
  }
  const auto& dynamic = facts->dynamic;
  const bool right = dynamic.present && dynamic.soname == soname && dynamic.needed.size() == 1 &&
                     dynamic.needed.front().name == needed && facts->offset == 0x2df8;
  if (!right) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string soname(reinterpret_cast<const char*>(data), size);
  soname = soname.substr(0, soname.find('\0'));
  const std::string forged = section(soname, "libc.so.6");
  const std::vector<std::string> paths{"/a.so", "/b.so", "/c.so"};
  const auto alone = tracso::elf::parse_readelf(forged, std::span(paths).first(1));
  require_true(alone.front(), soname, "libc.so.6");
  const auto files =
      tracso::elf::parse_readelf("\nFile: /a.so\n" + forged + "\nFile: /b.so\n" +
                                     section("b", "nb") + "\nFile: /c.so\n" + section("c", "nc"),
                                 paths);
  require_true(files[0], soname, "libc.so.6");
  require_true(files[1], "b", "nb");
  require_true(files[2], "c", "nc");
  return 0;
}
