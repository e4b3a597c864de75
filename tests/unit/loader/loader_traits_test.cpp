#include "loader/loader_traits.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso::loader {
namespace {

const ProgramKind x86_64{ElfClass::elf64, ByteOrder::little, 62, 0};
const ProgramKind aarch64{ElfClass::elf64, ByteOrder::little, 183, 0};

// Texts with a NUL behind each, as they stand in a program.
std::string strings(const std::vector<std::string>& texts) {
  std::string out(1, '\0');
  for (const auto& text : texts) {
    out.append(text).push_back('\0');
  }
  return out;
}

LoaderTraits traits_of(const test::FakeFiles& files, std::string path, ProgramKind kind = x86_64) {
  return read_loader_traits(files, TargetPath{std::move(path)}, kind, {});
}

ElfFile needs(std::string name) {
  ElfFile file;
  file.elf_class = ElfClass::elf64;
  file.machine = 62;
  file.dynamic.needed.push_back({NeededEntry::Kind::needed, std::move(name)});
  return file;
}

}  // namespace

TEST_CASE("loader traits: system directories, $LIB and version stand in the file",
          "[loader][traits]") {
  LoaderTraits traits;
  read_glibc_strings(strings({"/etc/ld.so.cache",
                              "/proc/self/exe",
                              "/var/tmp/",
                              "x",
                              "/lib/x86_64-linux-gnu/",
                              "/usr/lib/x86_64-linux-gnu/",
                              "/lib/",
                              "/usr/lib/",
                              "/dev/null",
                              "ld.so (Debian GLIBC 2.36-9) stable release version 2.36."}),
                     traits);
  CHECK(traits.system_directories ==
        std::vector<std::string>{
            "/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/", "/lib/", "/usr/lib/"});
  CHECK(traits.lib == "lib/x86_64-linux-gnu");
  CHECK(traits.minor == 36U);
}

TEST_CASE("loader traits: other layouts are read alike", "[loader][traits]") {
  LoaderTraits traits;
  read_glibc_strings(strings({"/lib64/", "/usr/lib64/", "stable release version 2.9"}), traits);
  CHECK(traits.lib == "lib64");
  CHECK(traits.minor == 9U);
  LoaderTraits nix;
  read_glibc_strings(strings({"/nix/store/abc-glibc-2.38/lib/"}), nix);
  CHECK(nix.system_directories == std::vector<std::string>{"/nix/store/abc-glibc-2.38/lib/"});
  CHECK(nix.lib == "lib");
  CHECK_FALSE(nix.minor);
}

TEST_CASE("loader traits: an unreadable loader leaves what is usual", "[loader][traits]") {
  const auto traits = traits_of({}, "/lib64/ld-linux-x86-64.so.2");
  CHECK_FALSE(traits.known);
  CHECK(traits.family == LoaderFamily::glibc);
  CHECK(traits.system_directories ==
        std::vector<std::string>{"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"});
}

TEST_CASE("loader traits: hostile loader files end in some answer", "[loader][traits]") {
  LoaderTraits traits;
  std::string many(1, '\0');
  for (int i = 0; i < 50000; ++i) {
    many.append("/aaa/").push_back('\0');
  }
  read_glibc_strings(many, traits);
  CHECK(traits.system_directories.size() <= 8);
  read_glibc_strings(std::string(100000, '/'), traits);
  read_glibc_strings("stable release version 2.", traits);
}

TEST_CASE("loader traits: musl is known by name or content", "[loader][traits]") {
  test::FakeFiles files;
  files.files["/lib/ld-musl-x86_64.so.1"] = "x";
  files.files["/opt/m/lib/loader"] = strings({"/etc/ld-musl-x86_64.path"});
  files.files["/opt/m/etc/ld-musl-x86_64.path"] = "/opt/a:/opt/b\n/opt/c\n";
  const auto plain = traits_of(files, "/lib/ld-musl-x86_64.so.1");
  CHECK(plain.family == LoaderFamily::musl);
  CHECK(plain.system_directories ==
        std::vector<std::string>{"/lib/", "/usr/local/lib/", "/usr/lib/"});
  const auto own = traits_of(files, "/opt/m/lib/loader");
  CHECK(own.family == LoaderFamily::musl);
  CHECK(own.system_directories == std::vector<std::string>{"/opt/a/", "/opt/b/", "/opt/c/"});
}

TEST_CASE("loader traits: a musl path file that cannot be read leaves no directory",
          "[loader][traits]") {
  test::FakeFiles files;
  files.files["/lib/ld-musl-x86_64.so.1"] = "x";
  files.denied.insert("/etc/ld-musl-x86_64.path");
  CHECK(traits_of(files, "/lib/ld-musl-x86_64.so.1").system_directories.empty());
}

TEST_CASE("loader traits: a library gets the loader it was made for", "[loader][traits]") {
  CHECK(default_interpreter(needs("libc.so.6")) == "/lib64/ld-linux-x86-64.so.2");
  CHECK(default_interpreter(needs("libc.musl-x86_64.so.1")) == "/lib/ld-musl-x86_64.so.1");
  CHECK(default_interpreter(needs("libc.so")) == "/lib/ld-musl-x86_64.so.1");
  ElfFile arm;
  arm.elf_class = ElfClass::elf64;
  arm.machine = aarch64.machine;
  CHECK(default_interpreter(arm) == "/lib/ld-linux-aarch64.so.1");
  arm.machine = 9999;
  CHECK(default_interpreter(arm) == "");
}

}  // namespace tracso::loader
