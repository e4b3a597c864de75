// Two independent readers of the same files: what the native one says must be what readelf says.
// By default a sample of the ELF files under /usr; with TRACSO_ALL_ELF=1
// (tests/elf_readers_agree.sh) every one.

#include "elf/native_reader.hpp"
#include "elf/readelf_reader.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "support/build_elf.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tracso;
using namespace tracso::test;

namespace {

/// Files of debug symbols are left out: their dynamic section is not in the file, which no loader
/// and no reader makes anything of.
bool is_loadable_elf(const std::filesystem::path& path) {
  if (path.string().find("/debug/") != std::string::npos) {
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return file && std::string_view(magic, 4) == std::string_view(
                                                   "\x7f"
                                                   "ELF");
}

std::vector<std::string> elf_files_below(const std::string& root) {
  std::vector<std::string> paths;
  std::error_code ignored;
  const auto skip = std::filesystem::directory_options::skip_permission_denied;
  for (auto at = std::filesystem::recursive_directory_iterator(root, skip, ignored);
       at != std::filesystem::recursive_directory_iterator();
       at.increment(ignored)) {
    if (at->is_regular_file(ignored) && !at->is_symlink(ignored) && is_loadable_elf(at->path())) {
      paths.push_back(at->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<ElfInput> inputs_for(const os::LiveFiles& files,
                                 const std::vector<std::string>& paths,
                                 std::size_t step) {
  std::vector<ElfInput> inputs;
  for (std::size_t i = 0; i < paths.size(); i += step) {
    inputs.push_back(
        {paths[i], paths[i], [&files, path = paths[i]] { return files.open({path}); }});
  }
  return inputs;
}

bool same(const Result<ElfFile>& a, const Result<ElfFile>& b) {
  return a && b ? *a == *b : !a && !b && a.error().kind == b.error().kind;
}

/// A file on disk for the length of a test.
class FileOnDisk {
 public:
  FileOnDisk(const std::string& name, const std::string& bytes)
      : path_(test::scratch_folder() + "/" + name) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }

  FileOnDisk(const FileOnDisk&) = delete;
  FileOnDisk& operator=(const FileOnDisk&) = delete;

  ~FileOnDisk() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What the run over all files is for: every refusal and fallback in words.
void tell_all(const std::vector<ElfInput>& inputs,
              const std::vector<Result<ElfFile>>& native,
              const std::vector<std::string>& fallbacks) {
  std::size_t read = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    read += native[i] ? 1 : 0;
    if (!native[i] && native[i].error().reason != "only ET_DYN and ET_EXEC can be loaded") {
      WARN("refused: " << inputs[i].name << ": " << native[i].error().reason);
    }
  }
  for (const auto& fallback : fallbacks) {
    WARN("fell back: " << fallback);
  }
  WARN(inputs.size() << " ELF files, " << read << " read by both, " << fallbacks.size()
                     << " fallbacks");
}

}  // namespace

TEST_CASE("elf readers: native and readelf say the same of the files of this machine",
          "[elf][readelf][live]") {
  const bool all = std::getenv("TRACSO_ALL_ELF") != nullptr;
  const auto paths = elf_files_below("/usr");
  REQUIRE(paths.size() > 50);
  const os::LiveFiles files;
  const os::LiveCommands commands;
  const auto inputs = inputs_for(files, paths, all ? 1 : 25);
  const auto native = elf::make_native_reader()->read(inputs);
  const auto reader = elf::make_readelf_reader(commands);
  const auto readelf = reader->read(inputs);
  REQUIRE(native.size() == inputs.size());
  REQUIRE(readelf.size() == inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO(inputs[i].name << (native[i] ? "" : ": " + native[i].error().reason));
    CHECK(same(native[i], readelf[i]));
  }
  // Object files and the like are refused; programs and libraries are the most by far.
  const auto read = std::count_if(
      native.begin(), native.end(), [](const Result<ElfFile>& file) { return bool(file); });
  CHECK(static_cast<std::size_t>(read) * 2 > inputs.size());
  CHECK(reader->fallbacks().size() * 20 < inputs.size());
  if (all) {
    tell_all(inputs, native, reader->fallbacks());
  }
}

TEST_CASE("elf readers: they agree on files of other classes and byte orders",
          "[elf][readelf][live]") {
  ElfSpec spec;
  spec.machine = 20;
  spec.interp = "/lib/ld.so.1";
  spec.notes = {build_id_note("abc")};
  spec.dynamic = {soname("libx.so.1"),
                  needed("ld.so.1"),
                  needed("/lib/ld.so.1"),
                  needed("lib with ] and [.so"),
                  needed(""),
                  text_entry(0x7ffffffd, "libfast.so"),
                  text_entry(0x7fffffff, "libreal.so"),
                  text_entry(0x6ffffefb, "dep.so"),
                  text_entry(0x6ffffefc, "audit.so"),
                  rpath("/r"),
                  runpath("$ORIGIN"),
                  value_entry(30, 0x1f),
                  value_entry(0x6ffffffb, 0xffffffff)};
  const os::LiveFiles files;
  const os::LiveCommands commands;
  for (const ElfClass elf_class : {ElfClass::elf32, ElfClass::elf64}) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      spec.elf_class = elf_class;
      spec.byte_order = order;
      const FileOnDisk file("agree.so", build_elf(spec));
      const auto inputs = inputs_for(files, {file.path()}, 1);
      const auto native = elf::make_native_reader()->read(inputs);
      const auto reader = elf::make_readelf_reader(commands);
      const auto readelf = reader->read(inputs);
      REQUIRE(native[0]);
      REQUIRE(readelf[0]);
      CHECK(*native[0] == *readelf[0]);
      CHECK(reader->fallbacks() == std::vector<std::string>{});
    }
  }
}

TEST_CASE("elf readers: what a soname forges in readelf's output is not believed",
          "[elf][readelf][live]") {
  const os::LiveFiles files;
  const os::LiveCommands commands;
  const std::string row = "x]\n 0x0000000000000001 (NEEDED)             Shared library: [evil.so";
  const FileOnDisk forged("forged.so", build_elf({.dynamic = {soname(row), needed("libc.so.6")}}));
  const FileOnDisk honest("honest.so", build_elf({.dynamic = {soname("libhonest.so")}}));
  const std::string header =
      "x]\n\nFile: " + honest.path() + "\n\nThere is no dynamic section in this file.\n[";
  const FileOnDisk header_forged("header_forged.so", build_elf({.dynamic = {soname(header)}}));
  for (const auto& paths : {std::vector<std::string>{forged.path()},
                            std::vector<std::string>{forged.path(), honest.path()},
                            std::vector<std::string>{header_forged.path(), honest.path()}}) {
    const auto inputs = inputs_for(files, paths, 1);
    const auto native = elf::make_native_reader()->read(inputs);
    const auto reader = elf::make_readelf_reader(commands);
    const auto readelf = reader->read(inputs);
    CHECK_FALSE(reader->fallbacks().empty());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      REQUIRE(native[i]);
      REQUIRE(readelf[i]);
      CHECK(*native[i] == *readelf[i]);
    }
  }
}
