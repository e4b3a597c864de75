// "ld.so OPTIONS program arguments": which words are the loader's.

#include "proc/loader_command.hpp"

#include "support/catch.hpp"

namespace tracso::proc {
namespace {

LoaderCommand glibc(const std::vector<std::string>& words) {
  return parse_loader_command(words, LoaderSyntax::glibc);
}

LoaderCommand musl(const std::vector<std::string>& words) {
  return parse_loader_command(words, LoaderSyntax::musl);
}

}  // namespace

TEST_CASE("loader command: options stand before the program, what follows is the program's",
          "[proc][loader-command]") {
  const auto command = glibc({"ld.so",
                              "--inhibit-cache",
                              "--library-path",
                              "/a:/b",
                              "--argv0",
                              "name",
                              "--preload",
                              "libp.so /q.so",
                              "./exe",
                              "--library-path",
                              "/c"});
  CHECK(command.unknown == "");
  CHECK(command.program == "./exe");
  CHECK(command.words == 9);
  CHECK(command.inhibit_cache);
  CHECK(command.library_path == "/a:/b");
  CHECK(command.preload == "libp.so /q.so");
}

TEST_CASE("loader command: the last of a repeated option counts, auditors add up",
          "[proc][loader-command]") {
  const auto command = glibc({"ld.so",
                              "--library-path",
                              "/a",
                              "--audit",
                              "x.so:y.so",
                              "--library-path",
                              "",
                              "--audit",
                              "z.so",
                              "--glibc-hwcaps-mask",
                              "x86-64-v2",
                              "--glibc-hwcaps-prepend",
                              "mine",
                              "--inhibit-rpath",
                              "/l.so",
                              "e"});
  CHECK(command.library_path == "");
  CHECK(command.audit == std::vector<std::string>{"x.so:y.so", "z.so"});
  CHECK(command.hwcaps_mask == "x86-64-v2");
  CHECK(command.hwcaps_prepend == "mine");
  CHECK(command.inhibit_rpath == "/l.so");
  CHECK(command.program == "e");
}

TEST_CASE("loader command: behind an unknown option nothing is believed",
          "[proc][loader-command]") {
  const auto command = glibc({"ld.so", "--new-thing", "--library-path", "/a", "e"});
  CHECK(command.unknown == "--new-thing");
  CHECK(command.program == "");
  CHECK_FALSE(command.library_path);
  // An option whose value is missing, and glibc's "--", which it refuses.
  CHECK(glibc({"ld.so", "--preload"}).unknown == "--preload");
  CHECK(glibc({"ld.so", "--", "e"}).unknown == "--");
  CHECK(glibc({}).program == "");
  CHECK(glibc({"ld.so"}).program == "");
}

TEST_CASE("loader command: musl takes values behind an equals sign too, and --",
          "[proc][loader-command]") {
  const auto command =
      musl({"ld", "--library-path=/a", "--preload", "p.so", "--argv0=x", "--", "--odd", "y"});
  CHECK(command.unknown == "");
  CHECK(command.library_path == "/a");
  CHECK(command.preload == "p.so");
  CHECK(command.program == "--odd");
  CHECK(command.words == 7);
  CHECK(musl({"ld", "--inhibit-cache", "e"}).unknown == "--inhibit-cache");
}

TEST_CASE("loader command: loaders are known by their names", "[proc][loader-command]") {
  for (const auto* name : {"/lib64/ld-linux-x86-64.so.2",
                           "ld-2.31.so",
                           "/lib/ld.so.1",
                           "/lib64/ld64.so.2",
                           "/lib/ld-musl-x86_64.so.1"}) {
    INFO(name);
    CHECK(is_loader_name(name));
  }
  for (const auto* name : {"/usr/bin/ld", "/opt/ld-tool", "/lib/libld-1.so", "", "/"}) {
    INFO(name);
    CHECK_FALSE(is_loader_name(name));
  }
}

}  // namespace tracso::proc
