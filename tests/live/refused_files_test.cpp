// Files that the loader finds and does not want: for a better CPU, by their ABI tag. The loader of
// this machine is asked first.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/scenario.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace tracso::test {
namespace {

struct Lab {
  Workshop shop;
  std::string exe;

  explicit Lab(const std::string& options = "") {
    REQUIRE(shop.run("mkdir -p one two"));
    shop.library("one/libx.so", "-Wl,-soname,libx.so " + options);
    shop.library("two/libx.so", "-Wl,-soname,libx.so");
    shop.write("exe.c", "int main(void) { return 0; }\n");
    REQUIRE(
        shop.run("gcc -o exe exe.c -Wl,--no-as-needed -Ltwo -lx "
                 "-Wl,-rpath,'$ORIGIN/one:$ORIGIN/two'"));
    exe = shop.path("exe");
  }
};

bool has_notice(const nlohmann::json& all, const std::string& code) {
  const auto codes = notice_codes(all);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// Puts `bytes` behind the first place where `mark` stands in the file.
void patch_behind(const std::string& path, const std::string& mark, const std::string& bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = content.find(mark);
  REQUIRE(at != std::string::npos);
  content.replace(at + mark.size(), bytes.size(), bytes);
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace

TEST_CASE("refused files: a library for a better CPU is found, and then the loader stops",
          "[live][refused]") {
  // One level more than there is: the bits that x86-64-v4 does not use stand for none.
  const Lab lab("-Wl,-z,x86-64-v4");
  const std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00",
                             8);  // GNU_PROPERTY_X86_ISA_1_NEEDED
  patch_behind(lab.shop.path("one/libx.so"), property, std::string("\x10\x00\x00\x00", 4));
  const ProgramRun real = run_program({lab.exe});
  CHECK(real.status == 127);
  CHECK(contains(real.err, "CPU ISA level is lower than required"));
  for (const char* reader : {"native", "readelf"}) {
    CAPTURE(reader);
    const auto all = document({lab.exe, "--elf", reader}, {}, 1);
    CHECK(node_named(all, "libx.so").at("path") == lab.shop.path("one/libx.so"));
    CHECK(has_notice(all, "cpu-too-old"));
    const auto edge = edges_into(all, node_named(all, "libx.so").at("id")).front();
    CHECK(edge.at("fatal") == "CPU ISA level is lower than required");
  }
}

TEST_CASE("refused files: a level that the CPU has is no matter", "[live][refused]") {
  const Lab lab("-Wl,-z,x86-64-v2");
  CHECK(run_program({lab.exe}).status == 0);
  CHECK_FALSE(has_notice(document({lab.exe}), "cpu-too-old"));
}

TEST_CASE("refused files: a program for a better CPU stops too", "[live][refused]") {
  const Lab lab;
  REQUIRE(lab.shop.run("gcc -o exe exe.c -Wl,-z,x86-64-v4"));
  const std::string property("\x02\x80\x00\xc0\x04\x00\x00\x00", 8);
  patch_behind(lab.exe, property, std::string("\x10\x00\x00\x00", 4));
  CHECK(run_program({lab.exe}).status == 127);
  CHECK(has_notice(document({lab.exe}, {}, 1), "cpu-too-old"));
}

TEST_CASE("refused files: an ABI tag is compared as the loader of this machine does",
          "[live][refused]") {
  const Lab lab;
  lab.shop.write("tag.s",
                 ".section .note.ABI-tag,\"a\",@note\n.align 4\n.long 4,16,1\n"
                 ".asciz \"GNU\"\n.long 0,3,2,0\n.section .note.GNU-stack,\"\",@progbits\n");
  REQUIRE(lab.shop.run("gcc -shared -fPIC -Wl,-soname,libx.so -o one/libx.so one/libx.so.c tag.s"));
  const std::string tag("\x04\x00\x00\x00\x10\x00\x00\x00\x01\x00\x00\x00GNU\x00", 16);
  for (const std::string& words : {std::string("\x00\x00\x00\x00\x63\x00\x00\x00", 8),  // Linux 99
                                   std::string("\x01\x00\x00\x00\x03\x00\x00\x00", 8)}) {  // Hurd
    patch_behind(lab.shop.path("one/libx.so"), tag, words);
    const ProgramRun real = run_program(
        {lab.exe}, ProgramOptions{{"LD_TRACE_LOADED_OBJECTS=1"}, "", std::chrono::seconds{60}});
    const auto told = node_named(document({lab.exe}), "libx.so").at("path").get<std::string>();
    INFO(real.out);
    CHECK(contains(real.out, told + " ("));
  }
}

}  // namespace tracso::test
