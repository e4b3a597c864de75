#include "collect/library_version.hpp"

#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;

namespace {

LibraryVersion version(const std::string& bytes, std::string_view path, std::string_view soname) {
  return find_library_version(*test::memory_file(bytes), path, soname);
}

}  // namespace

TEST_CASE("library version: the best source wins, and is named", "[collect]") {
  CHECK(version("..OpenSSL 3.0.19 27 Jan 2026..", "/l/libcrypto.so.3", "libcrypto.so.3") ==
        LibraryVersion{"3.0.19", "its own text"});
  // The word alone stands in many messages.
  CHECK(version("OpenSSL internal error; OpenSSL 1.1.1w  11 Sep 2023",
                "/x/libcrypto-1b6775a1.so.1.1",
                "") == LibraryVersion{"1.1.1w", "its own text"});
  CHECK(version(R"(x{"type":"deb","os":"debian","name":"zstd","version":"1.5.4+dfsg2-5"})",
                "/l/libzstd.so.1.5.4",
                "libzstd.so.1") == LibraryVersion{"1.5.4+dfsg2-5", "package note"});
  CHECK(version("", "/l/libfoo.so.1.2.13", "libfoo.so.1") == LibraryVersion{"1.2.13", "file name"});
  CHECK(version("", "/l/libfoo.so.1", "libfoo.so.1") == LibraryVersion{"1", "soname"});
  CHECK(version("", "/l/libfoo.so", "libfoo.so") == LibraryVersion{});
}

TEST_CASE("library version: of symbol versions the highest, by number", "[collect]") {
  test::ElfSpec spec;
  spec.defined_versions = {"libfoo.so.3", "FOO_3.0.9", "FOO_3.0.10", "FOO_3.0.0"};
  spec.symbols = {{.name = "f", .version = "FOO_3.0.9"}};
  CHECK(version(test::build_elf(spec), "/l/libfoo.so.3", "libfoo.so.3") ==
        LibraryVersion{"3.0.10", "symbol versions: at least"});
}

TEST_CASE("library version: a text at the border of two pieces is found", "[collect]") {
  std::string bytes(std::size_t{1} << 20U, 'x');
  bytes.replace(bytes.size() - 10, 0, "OpenSSL 3.2.1 30 Jan 2024");
  CHECK(version(bytes, "libssl.so.3", "").text == "3.2.1");
}
