#include "proc/script.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

#include <string>
#include <vector>

namespace tracso {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("script: the interpreter is the first word, or what env runs", "[proc][script]") {
  const auto name = [](const Words& words) {
    const auto found = proc::interpreter_of(words);
    return found.name + (found.in_path ? " in PATH" : "");
  };
  CHECK(name({"/bin/sh", "-e"}) == "/bin/sh");
  CHECK(name({"/usr/bin/env", "python3"}) == "python3 in PATH");
  CHECK(name({"/usr/bin/env", "-S", "A=1", "python3", "-I"}) == "python3 in PATH");
  CHECK(name({"/usr/bin/env", "/opt/python3"}) == "/opt/python3");
  CHECK(name({"/usr/bin/env", "-S", "-i", "-u", "A", "-C", "/tmp", "sh"}) == "sh in PATH");
  CHECK(name({"/usr/bin/env", "-S", "--unset=A", "sh"}) == "sh in PATH");
  CHECK(name({"/usr/bin/env", "-Spython3", "-u"}) == "python3 in PATH");
  CHECK(name({"/usr/bin/env", "-S-i", "python3"}) == "python3 in PATH");
  CHECK(name({"/usr/bin/env", "--split-string=A=1", "python3"}) == "python3 in PATH");
  CHECK(name({"/usr/bin/env", "-S", "-u"}).empty());
  CHECK(name({"/usr/bin/env"}).empty());
  CHECK(name({"/usr/bin/env", "-S"}).empty());
  CHECK(name({}).empty());
}

TEST_CASE("script: only the first line counts, and no more than the kernel reads of it",
          "[proc][script]") {
  const auto words = [](const std::string& content) {
    test::FakeFiles files;
    files.files["/s"] = content;
    return proc::script_words(files, {"/s"});
  };
  CHECK(words("#!/bin/sh -e\ntrue\n") == Words{"/bin/sh", "-e"});
  CHECK(words("#! \t/bin/sh\n") == Words{"/bin/sh"});
  CHECK(words("#!/bin/sh\r\n") == Words{"/bin/sh\r"});
  CHECK(words("#!/bin/sh -e\r\n") == Words{"/bin/sh", "-e\r"});
  CHECK(words("#!/bin/sh") == Words{"/bin/sh"});
  CHECK(words(std::string("#!/bin/sh\0x\n", 12)) == Words{"/bin/sh"});
  CHECK(words("#!\n/bin/sh\n") == Words{});
  CHECK(words("#!") == Words{});
  CHECK_FALSE(words("true\n"));
  CHECK_FALSE(words("#"));
  CHECK_FALSE(words(""));
  REQUIRE(words("#!/" + std::string(1000, 'x')));
  CHECK(words("#!/" + std::string(1000, 'x'))->front().size() == 254);
  CHECK_FALSE(proc::script_words(test::FakeFiles(), {"/none"}));
}

}  // namespace
}  // namespace tracso
