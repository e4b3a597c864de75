// Who is loaded for whom, in which order. The rules of the search itself are judged by the real
// loaders in tests/loader.

#include "small_system.hpp"
#include "support/catch.hpp"

namespace tracso::loader {
namespace {

using test::edge;
using test::libraries;
using test::needed;
using test::rpath;
using test::runpath;
using test::SmallSystem;
using test::soname;

using Names = std::vector<std::string>;

constexpr std::uint64_t dt_filter = 0x7fffffff;
constexpr std::uint64_t dt_auxiliary = 0x7ffffffd;
constexpr std::uint64_t dt_audit = 0x6ffffefc;
constexpr std::uint64_t dt_flags_1 = 0x6ffffffb;

}  // namespace

TEST_CASE("resolver: the walk is breadth-first and an object is loaded once",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("liba.so"), needed("libb.so")});
  system.library("/lib/liba.so", {needed("libc.so.9")});
  system.library("/lib/libb.so", {needed("libd.so"), needed("libc.so.9")});
  system.library("/lib/libc.so.9", {needed("libb.so")});
  system.library("/lib/libd.so", {});
  const auto resolution = system.resolve("/exe");
  CHECK(libraries(resolution) ==
        Names{"/lib/liba.so", "/lib/libb.so", "/lib/libc.so.9", "/lib/libd.so"});
  CHECK(resolution.objects[0].role == ResolvedObject::Role::program);
  CHECK(resolution.objects[1].role == ResolvedObject::Role::loader);
  const auto* first = edge(resolution, "/lib/liba.so", "libc.so.9");
  const auto* again = edge(resolution, "/lib/libb.so", "libc.so.9");
  CHECK(first->first);
  CHECK(first->rule == Rule::default_dir);
  CHECK_FALSE(again->first);
  CHECK(again->rule == Rule::already_loaded);
  CHECK(again->to == first->to);
  CHECK_FALSE(again->fragile);
  CHECK(resolution.objects[*first->to].loader == edge(resolution, "", "liba.so")->to);
}

TEST_CASE("resolver: an edge that something loaded earlier saves is fragile",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("liba.so"), needed("libb.so"), needed("libz.so"), runpath("/d")});
  system.library("/d/liba.so", {needed("libz.so")});
  system.library("/d/libb.so", {needed("libz.so"), runpath("/other")});
  system.library("/d/libz.so", {soname("libz.so")});
  system.library("/other/libz.so", {soname("libz.so")});
  const auto resolution = system.resolve("/exe");
  // The program's own request came first: libz.so of /d is there for all.
  CHECK(libraries(resolution) == Names{"/d/liba.so", "/d/libb.so", "/d/libz.so"});
  const auto* missing_alone = edge(resolution, "/d/liba.so", "libz.so");
  const auto* other_alone = edge(resolution, "/d/libb.so", "libz.so");
  CHECK(missing_alone->fragile);
  CHECK(other_alone->fragile);
  CHECK(test::steps(*other_alone).back() == "RUNPATH of /d/libb.so: /other: found /other/libz.so");
}

TEST_CASE("resolver: an object answers to its soname, its name and its file",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe",
                 {needed("liba.so"), needed("libreal.so.1"), needed("libalias.so"), runpath("/d")});
  system.library("/d/liba.so", {soname("libreal.so.1")});
  system.files.links["/d/libalias.so"] = "/d/liba.so";
  const auto resolution = system.resolve("/exe");
  CHECK(libraries(resolution) == Names{"/d/liba.so"});
  CHECK(edge(resolution, "", "libreal.so.1")->detail == "soname");
  CHECK(edge(resolution, "", "libalias.so")->detail == "inode");
  CHECK(edge(resolution, "", "libalias.so")->rule == Rule::already_loaded);
}

TEST_CASE("resolver: $ORIGIN of the program is its real directory, of a library that of its name",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/real/exe", {needed("liba.so"), runpath("$ORIGIN/l")});
  system.library("/real/l/liba.so", {needed("libb.so"), runpath("$ORIGIN")});
  system.files.links["/bin/exe"] = "/real/exe";
  CHECK(libraries(system.resolve("/bin/exe")) == Names{"/real/l/liba.so"});
  // Started through its loader by name, only the name counts.
  system.environment.interpreter = TargetPath{test::loader_path};
  CHECK(libraries(system.resolve("/bin/exe")).empty());
}

TEST_CASE("resolver: preloads come first and answer for what comes later", "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("liba.so"), needed("libb.so")});
  system.library("/p/pre.so", {soname("libb.so"), needed("libq.so")});
  system.library("/lib/liba.so", {});
  system.library("/lib/libb.so", {});
  system.library("/lib/libq.so", {});
  system.environment.preload = {{"/p/pre.so", "LD_PRELOAD"}, {"/p/none.so", "/etc/ld.so.preload"}};
  const auto resolution = system.resolve("/exe");
  CHECK(libraries(resolution) == Names{"/p/pre.so", "/lib/liba.so", "/lib/libq.so"});
  const auto* preload = edge(resolution, "", "/p/pre.so");
  CHECK(preload->kind == RequestKind::preload);
  CHECK(preload->origin == "LD_PRELOAD");
  CHECK(preload->rule == Rule::direct);
  const auto* none = edge(resolution, "", "/p/none.so");
  CHECK(none->optional);
  CHECK_FALSE(none->to);
  CHECK(none->fatal == "");
  CHECK(edge(resolution, "", "libb.so")->detail == "LD_PRELOAD, soname");
  CHECK(edge(resolution, "", "libb.so")->fragile);
}

TEST_CASE("resolver: a broken preload is a remark, a broken library is fatal",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("libbad.so")});
  system.files.files["/lib/libbad.so"] = "";
  system.environment.preload = {{"libbad.so", "LD_PRELOAD"}};
  const auto resolution = system.resolve("/exe");
  REQUIRE(resolution.edges.size() == 3);
  CHECK(resolution.edges[1].kind == RequestKind::preload);
  CHECK(resolution.edges[1].fatal == "");
  CHECK(resolution.edges[1].detail == "file too short");
  CHECK(resolution.edges[2].fatal == "file too short");
}

TEST_CASE("resolver: filters are loaded where they stand and go first in the walk",
          "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("liba.so"), needed("libb.so")});
  system.library("/lib/liba.so",
                 {test::text_entry(dt_filter, "libf.so"),
                  needed("libx.so"),
                  test::text_entry(dt_auxiliary, "libnone.so")});
  system.library("/lib/libf.so", {needed("liby.so")});
  for (const auto* name : {"libb.so", "libx.so", "liby.so"}) {
    system.library(std::string("/lib/") + name, {});
  }
  const auto resolution = system.resolve("/exe");
  CHECK(libraries(resolution) ==
        Names{"/lib/liba.so", "/lib/libb.so", "/lib/libf.so", "/lib/libx.so", "/lib/liby.so"});
  CHECK(edge(resolution, "/lib/liba.so", "libf.so")->kind == RequestKind::filter);
  CHECK(edge(resolution, "/lib/liba.so", "libnone.so")->optional);
}

TEST_CASE("resolver: audit modules live in namespaces of their own", "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("libc.so.6"), test::text_entry(dt_audit, "/a/two.so")});
  system.library("/a/one.so", {needed("libc.so.6")});
  system.library("/a/two.so", {});
  system.library("/lib/libc.so.6", {needed("ld-linux-x86-64.so.2")});
  system.environment.audit = {{"/a/one.so", "LD_AUDIT"}};
  const auto resolution = system.resolve("/exe");
  CHECK(libraries(resolution) ==
        Names{"/a/one.so", "/lib/libc.so.6", "/a/two.so", "/lib/libc.so.6"});
  CHECK(resolution.objects[2].link_namespace == 1);
  CHECK(resolution.objects[4].link_namespace == 2);
  CHECK(resolution.objects[5].link_namespace == 0);
  CHECK(edge(resolution, "", "/a/two.so")->origin == "DT_AUDIT");
  // The loader is shared by all.
  for (const auto& e : resolution.edges) {
    if (e.needed == "ld-linux-x86-64.so.2") {
      CHECK(e.to == 1U);
      CHECK(e.detail == "interpreter, soname");
    }
  }
}

TEST_CASE("resolver: a dlopened object does not inherit from its caller", "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("libcaller.so"), runpath("/c")});
  system.library("/c/libcaller.so", {rpath("/p")});
  system.library("/p/plug.so", {needed("libhelp.so")});
  system.library("/p/libhelp.so", {});
  const auto reader = elf::make_native_reader();
  Resolver resolver(system.files, *reader, system.environment);
  REQUIRE(resolver.start(TargetPath{"/exe"}));
  const auto opened = resolver.dlopen(2, "plug.so");
  const auto& resolution = resolver.resolution();
  CHECK(resolution.edges[opened].kind == RequestKind::dlopen);
  CHECK(resolution.edges[opened].rule == Rule::rpath);
  REQUIRE(resolution.edges[opened].to);
  CHECK_FALSE(resolution.objects[*resolution.edges[opened].to].loader);
  CHECK_FALSE(edge(resolution, "/p/plug.so", "libhelp.so")->to);
}

TEST_CASE("resolver: a library is resolved by the usual loader of its machine",
          "[loader][resolver]") {
  SmallSystem system;
  system.library("/opt/liba.so", {needed("libb.so"), runpath("$ORIGIN")});
  system.library("/opt/libb.so", {});
  const auto resolution = system.resolve("/opt/liba.so");
  CHECK(libraries(resolution) == Names{"/opt/libb.so"});
  CHECK(resolution.edges.front().kind == RequestKind::interpreter);
  CHECK(resolution.edges.front().detail == "the usual one of this machine");
}

TEST_CASE("resolver: static programs need nobody", "[loader][resolver]") {
  SmallSystem system;
  test::ElfSpec spec;
  spec.has_dynamic = false;
  spec.type = 2;
  system.files.files["/static"] = test::build_elf(spec);
  system.library("/static-pie", {test::value_entry(dt_flags_1, 0x08000000)});
  for (const auto* path : {"/static", "/static-pie"}) {
    const auto resolution = system.resolve(path);
    CHECK(resolution.is_static);
    CHECK(resolution.objects.size() == 1);
    CHECK(resolution.edges.empty());
  }
}

TEST_CASE("resolver: what is no program is an error, a lost interpreter is fatal",
          "[loader][resolver]") {
  SmallSystem system;
  system.files.files["/text"] = "#!/bin/sh\n" + std::string(100, ' ');
  const auto reader = elf::make_native_reader();
  const auto text = resolve(system.files, *reader, {}, {"/text"});
  REQUIRE_FALSE(text);
  CHECK(text.error().kind == ErrorKind::malformed);
  CHECK(resolve(system.files, *reader, {}, {"/none"}).error().kind == ErrorKind::not_found);
  system.program("/exe", {needed("liba.so")});
  system.library("/lib64/liba.so", {});
  system.files.files.erase(test::loader_path);
  const auto resolution = system.resolve("/exe");
  CHECK(resolution.edges.front().fatal == "no such file or directory");
  CHECK_FALSE(resolution.edges.front().to);
  CHECK(libraries(resolution) == Names{"/lib64/liba.so"});
}

TEST_CASE("resolver: tokens in names are expanded, AT_SECURE forbids them", "[loader][resolver]") {
  SmallSystem system;
  system.program("/app/exe", {needed("$ORIGIN/x/liba.so"), needed("$PLATFORMX/none")});
  system.library("/app/x/liba.so", {});
  CHECK(libraries(system.resolve("/app/exe")) == Names{"/app/x/liba.so"});
  system.environment.secure = true;
  const auto resolution = system.resolve("/app/exe");
  CHECK(edge(resolution, "", "$ORIGIN/x/liba.so")->fatal ==
        "DST not allowed in SUID/SGID programs");
}

TEST_CASE("resolver: the vDSO is on the list too", "[loader][resolver]") {
  SmallSystem system;
  system.program("/exe", {needed("linux-vdso.so.1")});
  const auto resolution = system.resolve("/exe");
  const auto* vdso = edge(resolution, "", "linux-vdso.so.1");
  REQUIRE(vdso->to);
  CHECK(resolution.objects[*vdso->to].role == ResolvedObject::Role::vdso);
}

TEST_CASE("resolver: /etc/ld.so.preload and the variables make the environment",
          "[loader][resolver]") {
  test::FakeFiles files;
  files.files["/etc/ld.so.preload"] = "# comment\n/a.so:/b.so # rest\n\t/c.so";
  const std::vector<Variable> variables{{"LD_PRELOAD", "x.so:y.so /z.so"},
                                        {"LD_LIBRARY_PATH", "/old"},
                                        {"LD_LIBRARY_PATH", "/new"},
                                        {"LD_AUDIT", "a.so:b.so"}};
  const auto open = make_load_environment(files, variables, "/home");
  REQUIRE(open.preload.size() == 6);
  CHECK(open.preload[2] == ExtraObject{"/z.so", "LD_PRELOAD"});
  CHECK(open.preload[3] == ExtraObject{"/a.so", "/etc/ld.so.preload"});
  CHECK(open.preload[5].name == "/c.so");
  CHECK(open.library_path == "/new");
  CHECK(open.audit.size() == 2);
  const auto secure = make_load_environment(files, variables, "/home", true);
  REQUIRE(secure.preload.size() == 5);
  CHECK(secure.preload[1].name == "y.so");
  CHECK(secure.preload[2].name == "/a.so");
}

TEST_CASE("resolver: readelf is asked for many files at once", "[loader][resolver]") {
  // Stands for a reader that runs a program: counts how often it is asked.
  class Counting final : public ElfReader {
   public:
    mutable int calls = 0;

    std::string_view name() const override { return "readelf"; }

    std::vector<Result<ElfFile>> read(std::span<const ElfInput> inputs) const override {
      calls += inputs.empty() ? 0 : 1;
      return native_->read(inputs);
    }

   private:
    std::unique_ptr<ElfReader> native_ = elf::make_native_reader();
  };

  SmallSystem system;
  std::vector<test::DynamicEntry> entries;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "lib" + std::to_string(i) + ".so";
    entries.push_back(needed(name));
    system.library("/lib/" + name, {needed("libx" + name), soname(name)});
    system.library("/lib/libx" + name, {});
  }
  system.program("/exe", entries);
  const Counting reader;
  const auto resolution = resolve(system.files, reader, system.environment, {"/exe"});
  REQUIRE(resolution);
  CHECK(libraries(*resolution).size() == 80);
  // The program, the loader, and each level of the tree.
  CHECK(reader.calls == 4);
}

TEST_CASE("resolver: four times the objects open four times the files", "[loader][resolver]") {
  // Opened files are counted, not seconds: a loaded machine must not decide this.
  const auto opened_for = [](int count) {
    SmallSystem system;
    for (int i = 0; i < count; ++i) {
      std::vector<test::DynamicEntry> entries;
      for (int k = 1; k <= 4; ++k) {
        entries.push_back(needed("lib" + std::to_string((i * k + 1) % count) + ".so"));
      }
      system.library("/lib/lib" + std::to_string(i) + ".so", entries);
    }
    system.program("/exe", {needed("lib0.so")});
    const auto resolution = system.resolve("/exe");
    const auto found = libraries(resolution).size();
    CHECK(found > static_cast<std::size_t>(count) / 2);
    std::size_t opened = 0;
    for (const auto& [path, times] : system.files.opened) {
      opened += static_cast<std::size_t>(times);
    }
    CHECK(opened >= found);
    CHECK(opened <= 2 * found + 16);
    return opened;
  };
  const std::size_t small = opened_for(100);
  CHECK(opened_for(400) <= 4 * small + 16);
}

}  // namespace tracso::loader
