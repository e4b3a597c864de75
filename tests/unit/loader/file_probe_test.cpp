// A file that has been read already is recognized at its path, and opened where it may be another.

#include "loader/file_probe.hpp"

#include "small_system.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace tracso::loader {
namespace {

using Verdict = FileProbe::Verdict;

constexpr const char* path = "/lib/liba.so";

// A file that was read as far as `bytes`, and probes that may know it.
struct Scene {
  test::FakeFiles files;
  LoaderTraits traits;
  SeenFile seen;

  explicit Scene(const std::vector<test::ElfNote>& notes = {}, std::size_t bytes = 1024) {
    test::ElfSpec spec;
    spec.notes = notes;
    files.files[path] = test::build_elf(spec);
    const auto status = *files.status({path});
    seen = {path, status, status, files.files[path].substr(0, bytes)};
  }

  FileProbe look(const std::string& at = path) {
    FileProbes probes(files, {ElfClass::elf64, ByteOrder::little, 62, 0}, traits);
    probes.add_seen(seen);
    return probes.at(at);
  }

  int opened() { return files.opened[path]; }
};

// "GNU", type 1: the system and the kernel that a file wants.
test::ElfNote abi_tag(char system, char kernel) {
  std::string words(16, '\0');
  words[0] = system;
  words[4] = kernel;
  return {"GNU", 1, words};
}

}  // namespace

TEST_CASE("file_probe: a file that was read before is not opened again", "[loader][probe]") {
  Scene scene;
  CHECK(scene.look().verdict == Verdict::usable);
  scene.files.links["/usr/lib"] = "/lib";  // another path to it
  CHECK(scene.look("/usr/lib/liba.so").verdict == Verdict::usable);
  CHECK(scene.look("/usr/lib/liba.so").status == scene.seen.status);
  CHECK(scene.opened() == 0);
}

TEST_CASE("file_probe: another file, or one that has changed, is opened", "[loader][probe]") {
  Scene scene;
  SECTION("written to since it was read") {
    scene.seen.at_path->changed_ns = 1;
  }
  SECTION("grown") {
    scene.seen.at_path.reset();
    scene.files.files[path] += "more";
  }
  SECTION("another number") {
    scene.seen.status.inode += 2;
  }
  SECTION("another device") {
    scene.seen.status.device += 1;
  }
  SECTION("less than a header was read") {
    scene.seen.start.resize(63);
  }
  scene.files.files[path][4] = 1;  // ELFCLASS32
  CHECK(scene.look().verdict == Verdict::wrong_class);
  CHECK(scene.opened() == 1);
}

TEST_CASE("file_probe: what was read is judged as the file would be", "[loader][probe]") {
  Scene scene;
  SECTION("another class") {
    scene.seen.start[4] = 1;
    CHECK(scene.look().verdict == Verdict::wrong_class);
  }
  SECTION("no ELF file") {
    scene.seen.start[0] = 'x';
    CHECK(scene.look().verdict == Verdict::fatal);
  }
  CHECK(scene.opened() == 0);
}

TEST_CASE("file_probe: the ABI tag is judged out of what was read, or out of the file",
          "[loader][probe]") {
  const bool refused = GENERATE(false, true);
  const std::size_t bytes = GENERATE(std::size_t{64}, std::size_t{1024});
  Scene scene({abi_tag(refused ? 2 : 0, 3)}, bytes);  // 2: Solaris
  scene.traits.reads_abi_notes = true;
  CHECK(scene.look().verdict == (refused ? Verdict::wrong_class : Verdict::usable));
  CHECK(scene.opened() == (bytes == 64 ? 1 : 0));
}

TEST_CASE("file_probe: a path without a file is absent, whoever was read before",
          "[loader][probe]") {
  Scene scene;
  CHECK(scene.look("/lib/libb.so").verdict == Verdict::absent);
  scene.files.denied.insert("/lib/libb.so");
  CHECK(scene.look("/lib/libb.so").verdict == Verdict::denied);
}

}  // namespace tracso::loader
