// Link maps of real processes, compared with what the processes say of themselves.

#include "support/c_programs.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>

namespace {

using namespace tracso;
using loader::LinkMapEntry;
using test::look_at;
using test::OwnRow;
using test::Reporter;
using test::Workshop;
using Start = LinkMapEntry::Start;

std::size_t index_of(const test::LinkMapView& view, const LinkMapEntry* entry) {
  return static_cast<std::size_t>(entry - view.maps->entries.data());
}

/// The target said READY, tracso reads the same rows in the same order, and every needed name has
/// its object.
void check_whole(const Reporter& reporter, const test::LinkMapView& view) {
  REQUIRE(reporter.ready);
  REQUIRE(view.maps);
  CHECK(view.maps->consistent);
  CHECK(view.maps->tries == 1);
  CHECK(view.rows() == reporter.rows);
  for (const auto& match : view.matches) {
    INFO(view.maps->entries[match.requester].name
         << " needs " << view.sections[match.requester]->needed[match.needed].name);
    CHECK(match.target);
  }
}

void check_glibc(const test::LinkMapView& view) {
  REQUIRE(view.maps->private_reason == "");
  REQUIRE(view.maps->private_fields);
  REQUIRE(view.maps->loader);
  for (const auto& entry : view.maps->entries) {
    INFO(entry.name);
    CHECK(entry.start != Start::unknown);
    CHECK(entry.mapping);
  }
}

/// "-m32" programs and those of this machine, with the flags for the compiler.
const std::vector<std::string>& word_sizes() {
  static const std::vector<std::string> flags = {"", "-m32"};
  return flags;
}

}  // namespace

TEST_CASE("link map: a chain of dlopened libraries", "[live][linkmap]") {
  const std::string flags = GENERATE_COPY(from_range(word_sizes()));
  CAPTURE(flags);
  const Workshop shop;
  const auto compiler = "gcc " + flags;
  shop.library("libdeep.so", "-Wl,-soname,libdeep.so.1", compiler);
  REQUIRE(shop.run("ln -s libdeep.so libdeep.so.1"));
  shop.library("libmiddle.so", "./libdeep.so '-Wl,-rpath,$ORIGIN'", compiler);
  const auto top = shop.library("libtop.so", "-L. -lmiddle '-Wl,-rpath,$ORIGIN'", compiler);
  const auto program = shop.reporter("program", "-ldl", compiler);
  const Reporter reporter({program, top, top, shop.path("libdeep.so")});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  CHECK(view.maps->via == "DT_DEBUG");
  CHECK(view.maps->elf_class == (flags.empty() ? ElfClass::elf64 : ElfClass::elf32));
  CHECK(view.maps->entries.front().start == Start::program);
  CHECK(view.find("libc.so.6")->start == Start::startup);
  CHECK(view.find("libc.so.6")->requester == 0U);
  const auto* opened = view.find("libtop.so");
  const auto* middle = view.find("libmiddle.so");
  const auto* deep = view.find("libdeep.so.1");
  REQUIRE(opened);
  REQUIRE(middle);
  REQUIRE(deep);
  CHECK(opened->start == Start::dlopened);
  CHECK(opened->direct_opens == 2);
  CHECK_FALSE(opened->requester);
  CHECK(middle->requester == index_of(view, opened));
  CHECK(middle->direct_opens == 0);
  CHECK(deep->requester == index_of(view, middle));
  CHECK(deep->direct_opens == 1);  // by its other path: the same inode
  CHECK(deep->requested == std::vector<std::string>{"libdeep.so.1", shop.path("libdeep.so")});
  CHECK(view.sections[index_of(view, deep)]->soname == "libdeep.so.1");
}

TEST_CASE("link map: what was closed is gone", "[live][linkmap]") {
  const Workshop shop;
  const auto one = shop.library("libone.so"), two = shop.library("libtwo.so");
  const Reporter reporter({shop.reporter("program"), one, two, "close:" + one});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  CHECK(view.find("libone.so") == nullptr);
  CHECK(view.find("libtwo.so") != nullptr);
}

TEST_CASE("link map: namespaces of dlmopen", "[live][linkmap]") {
  const std::string flags = GENERATE_COPY(from_range(word_sizes()));
  CAPTURE(flags);
  const Workshop shop;
  const auto plugin = shop.library("libplugin.so", "", "gcc " + flags);
  const Reporter reporter(
      {shop.reporter("program", "-ldl", "gcc " + flags), plugin, "ns:" + plugin, "ns:" + plugin});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  std::vector<std::size_t> spaces;
  std::vector<std::size_t> libcs;
  for (const auto& entry : view.maps->entries) {
    if (entry.name == plugin) {
      spaces.push_back(entry.space);
    }
    if (entry.name.ends_with("/libc.so.6")) {
      libcs.push_back(entry.space);
    }
  }
  CHECK(spaces == std::vector<std::size_t>{0, 1, 2});
  CHECK(libcs == std::vector<std::size_t>{0, 1, 2});
  for (const auto& match : view.matches) {
    const auto& target = view.maps->entries[match.target.value_or(0)];
    const bool is_loader = target.bias == view.maps->entries[*view.maps->loader].bias;
    CHECK((is_loader || target.space == view.maps->entries[match.requester].space));
  }
}

TEST_CASE("link map: an audit module has a namespace of its own", "[live][linkmap]") {
  const Workshop shop;
  shop.write("audit.c", "unsigned la_version(unsigned v) { return v; }\n");
  REQUIRE(shop.run("gcc -shared -fPIC -o audit.so audit.c"));
  const auto audit = shop.path("audit.so");
  const Reporter reporter({shop.reporter("program")}, {"LD_AUDIT=" + audit});
  const auto view = look_at(reporter.child.pid());
  REQUIRE(reporter.ready);
  REQUIRE(view.maps);
  check_glibc(view);
  auto base = view.rows();
  std::erase_if(base, [](const OwnRow& row) { return row.space != 0; });
  CHECK(base == reporter.rows);
  const auto* module = view.find("audit.so");
  REQUIRE(module);
  CHECK(module->space == 1);
  CHECK(module->position == 0);
}

TEST_CASE("link map: a preloaded library stands behind the program", "[live][linkmap]") {
  const Workshop shop;
  const auto preload = shop.library("libpre.so");
  const Reporter reporter({shop.reporter("program")}, {"LD_PRELOAD=" + preload});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  const auto* entry = view.find("libpre.so");
  REQUIRE(entry);
  CHECK(entry->start == Start::startup);
  CHECK(entry->requester == 0U);
  CHECK(entry->position < view.find("libc.so.6")->position);
}

TEST_CASE("link map: a deleted library is found by its address", "[live][linkmap]") {
  const Workshop shop;
  shop.library("libdep.so");
  const auto gone = shop.library("libgone.so", "-L. -ldep '-Wl,-rpath,$ORIGIN'");
  const Reporter reporter(
      {shop.reporter("program"), gone, "rm:" + gone, "rm:" + shop.path("libdep.so")});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  const auto* entry = view.find("libgone.so");
  REQUIRE(entry);
  REQUIRE(entry->mapping);
  CHECK(view.mappings[*entry->mapping].deleted);
  CHECK(view.mappings[*entry->mapping].name == gone);
  CHECK(view.sections[index_of(view, entry)]->needed.front().name == "libdep.so");
}

TEST_CASE("link map: a library without a file", "[live][linkmap]") {
  const Workshop shop;
  const auto library = shop.library("libcopy.so", "-Wl,-soname,libcopy.so.3");
  const Reporter reporter({shop.reporter("program"), "memfd:" + library});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  const auto found =
      std::find_if(view.maps->entries.begin(), view.maps->entries.end(), [](const auto& entry) {
        return entry.name.starts_with("/proc/self/fd/");
      });
  REQUIRE(found != view.maps->entries.end());
  REQUIRE(found->mapping);
  CHECK(view.mappings[*found->mapping].name == "/memfd:copy");
  CHECK(view.sections[index_of(view, &*found)]->soname == "libcopy.so.3");
}

TEST_CASE("link map: a program started by naming ld.so", "[live][linkmap]") {
  const std::string flags = GENERATE_COPY(from_range(word_sizes()));
  CAPTURE(flags);
  const Workshop shop;
  const auto library = shop.library("libplugin.so", "", "gcc " + flags);
  const auto program = shop.reporter("program", "-ldl", "gcc " + flags);
  const std::string loader = flags.empty() ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux.so.2";
  const Reporter reporter({loader, program, library});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  CHECK(view.maps->via == "_r_debug symbol");
  const auto& first = view.maps->entries.front();
  CHECK(first.start == Start::program);
  CHECK(view.mappings[first.mapping.value()].name == program);
  CHECK(view.find("libplugin.so")->direct_opens == 1);
}

TEST_CASE("link map: a program at a fixed address", "[live][linkmap]") {
  const Workshop shop;
  const auto library = shop.library("libplugin.so");
  const Reporter reporter({shop.reporter("program", "-no-pie"), library});
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  check_glibc(view);
  CHECK(view.maps->entries.front().bias == 0);
}

TEST_CASE("link map: a static program has none, and says so", "[live][linkmap]") {
  const std::string compiler = GENERATE("gcc", "musl-gcc");
  CAPTURE(compiler);
  const Workshop shop;
  const Reporter reporter({shop.reporter("program", "-static -DSTATIC", compiler)});
  REQUIRE(reporter.ready);
  const auto view = look_at(reporter.child.pid());
  REQUIRE_FALSE(view.maps);
  CHECK(view.maps.error().kind == ErrorKind::unsupported);
  CHECK(view.maps.error().reason == "no DT_DEBUG: statically linked");
}

TEST_CASE("link map: a static PIE lists itself", "[live][linkmap]") {
  const Workshop shop;
  const Reporter reporter({shop.reporter("program", "-static-pie -DSTATIC")});
  REQUIRE(reporter.ready);
  const auto view = look_at(reporter.child.pid());
  REQUIRE(view.maps);
  CHECK(view.maps->consistent);
  CHECK(view.maps->entries.size() <= 2);
  CHECK(view.mappings[view.maps->entries.front().mapping.value()].name == shop.path("program"));
  CHECK_FALSE(view.maps->loader);
}

TEST_CASE("link map: musl has the public fields", "[live][linkmap]") {
  const Workshop shop;
  shop.library("libdep.so", "", "musl-gcc");
  const auto library = shop.library("libplugin.so", "-L. -ldep '-Wl,-rpath,$ORIGIN'", "musl-gcc");
  const auto program = shop.reporter("program", "", "musl-gcc");
  std::vector<std::string> command = {program, library};
  const bool by_loader = GENERATE(false, true);
  if (by_loader) {
    command.insert(command.begin(), "/lib/ld-musl-x86_64.so.1");
  }
  const Reporter reporter(command);
  const auto view = look_at(reporter.child.pid());
  check_whole(reporter, view);
  CHECK_FALSE(view.maps->private_fields);
  CHECK(view.maps->private_reason == "the program's record does not look like one of glibc");
  CHECK(view.maps->via == (by_loader ? "_dl_debug_addr symbol" : "DT_DEBUG"));
  CHECK(view.maps->entries.front().name == program);
  CHECK(view.find("libplugin.so") != nullptr);
  CHECK(view.find("libdep.so") != nullptr);
}

TEST_CASE("link map: a process that loads and unloads all the time", "[live][linkmap]") {
  const Workshop shop;
  shop.library("libinner.so");
  shop.library("libfirst.so", "-L. -linner '-Wl,-rpath,$ORIGIN'");
  shop.library("libsecond.so", "-L. -linner '-Wl,-rpath,$ORIGIN'");
  shop.write("loop.c", R"(
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) {
  puts("READY");
  fflush(stdout);
  for (;;)
    for (int i = 1; i < count; i++) {
      void *handle = dlopen(names[i], RTLD_NOW);
      if (handle == 0) return 1;
      dlclose(handle);
    }
}
)");
  REQUIRE(shop.run("gcc -o loop loop.c"));
  test::Child child({shop.path("loop"), shop.path("libfirst.so"), shop.path("libsecond.so")});
  REQUIRE(child.line() == "READY");
  int consistent = 0, retried = 0, seen_inner = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto view = look_at(child.pid());
    REQUIRE(view.maps);
    if (!view.maps->consistent) {
      CHECK(view.maps->inconsistency != "");
      continue;
    }
    ++consistent;
    retried += view.maps->tries > 1 ? 1 : 0;
    CHECK(view.maps->private_reason == "");
    for (const auto& entry : view.maps->entries) {
      const std::string_view name = entry.name;
      const bool known =
          name.empty() || name == "linux-vdso.so.1" || name.ends_with("/libc.so.6") ||
          name.find("/ld-linux") != std::string_view::npos || name == shop.path("libfirst.so") ||
          name == shop.path("libsecond.so") || name == shop.path("libinner.so");
      CHECK(known);
      if (name == shop.path("libinner.so")) {
        ++seen_inner;
        REQUIRE(entry.requester);
        const auto& requester = view.maps->entries[*entry.requester].name;
        CHECK((requester == shop.path("libfirst.so") || requester == shop.path("libsecond.so")));
        CHECK(entry.requested == std::vector<std::string>{"libinner.so"});
      }
    }
  }
  INFO("consistent " << consistent << ", after more than one try " << retried << ", with libinner "
                     << seen_inner);
  CHECK(consistent > 1000);
  CHECK(retried > 0);
  CHECK(seen_inner > 0);
}
