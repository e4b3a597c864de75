// What a user without privileges does not see of a process of his own, each named.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tracso::test {
namespace {

bool has_notice(const nlohmann::json& all, const std::string& code) {
  const auto codes = notice_codes(all);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::vector<std::string> as_nobody(std::vector<std::string> words) {
  words.insert(words.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  return words;
}

struct Lab {
  TemporaryFolder folder;
  Workshop shop;
  std::string tracso;

  Lab() : tracso(folder / "tracso") {
    REQUIRE(::geteuid() == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
    REQUIRE(shop.run("chmod 755 ."));
    REQUIRE(run_program({"cp", test::tracso_binary(), tracso}).status == 0);
  }

  nlohmann::json look(pid_t pid) const {
    const ProgramRun ran = run_program(as_nobody({tracso, "--json", std::to_string(pid)}));
    INFO(ran.err);
    REQUIRE(ran.status == 0);
    return nlohmann::json::parse(ran.out);
  }
};

}  // namespace

TEST_CASE("other user: a deleted file cannot be opened without privileges, and that is said",
          "[live][other-user]") {
  const Lab lab;
  const std::string library = lab.shop.library("libgone.so");
  const std::string program = lab.shop.reporter("program");
  const Reporter reporter(as_nobody({program, library, "rm:" + library}));
  REQUIRE(reporter.ready);
  REQUIRE(lab.shop.run("rm -f libgone.so"));
  const auto all = lab.look(reporter.child.pid());
  const auto node = node_named(all, "libgone.so");
  REQUIRE(node.is_object());
  CHECK(node.at("state") == "deleted");
  CHECK(node.at("size").is_null());
  CHECK(has_notice(all, "files-unreadable"));
}

TEST_CASE("other user: what the loader goes by and may not be read is named",
          "[live][other-user]") {
  const Lab lab;
  // A tree of its own, so that nothing of this machine has to be changed.
  REQUIRE(
      lab.shop.run("mkdir -p jail/lib64 jail/lib/x86_64-linux-gnu jail/etc jail/app && "
                   "cp /lib64/ld-linux-x86-64.so.2 jail/lib64/ && "
                   "cp /lib/x86_64-linux-gnu/libc.so.6 jail/lib/x86_64-linux-gnu/ && "
                   "echo > jail/etc/ld.so.preload && echo > jail/etc/ld.so.cache && "
                   "chmod 600 jail/etc/*"));
  lab.shop.reporter("jail/app/program");
  const Reporter reporter({"chroot",
                           "--userspec=65534:65534",
                           "--groups=65534",
                           lab.shop.path("jail"),
                           "/app/program"});
  REQUIRE(reporter.ready);
  const auto live = lab.look(reporter.child.pid());
  CHECK(has_notice(live, "preload-file-unreadable"));
  CHECK(has_notice(live, "ld-cache-unreadable"));
  const ProgramRun file = run_program(
      as_nobody({lab.tracso, "--json", "--root", lab.shop.path("jail"), "/app/program"}));
  INFO(file.err);
  REQUIRE(file.status == 0);
  const auto told = nlohmann::json::parse(file.out);
  CHECK(has_notice(told, "preload-file-unreadable"));
  CHECK(has_notice(told, "ld-cache-unreadable"));
}

TEST_CASE("other user: a child of another user is named, not counted as having none",
          "[live][other-user]") {
  const Lab lab;
  const std::string program = lab.shop.reporter("program");
  // A program of nobody whose child is root's: the parent gives up its rights, the child keeps
  // them.
  lab.shop.write("parent.c",
                 "#include <stdio.h>\n#include <unistd.h>\nint main(int n, char **w) {\n"
                 "  if (fork() == 0) { execv(w[1], w + 1); _exit(1); }\n"
                 "  usleep(1000);\n  return setgid(65534) || setuid(65534) || "
                 "execl(w[1], w[1], (char *)0) || n;\n}\n");
  REQUIRE(lab.shop.run("gcc -w -o parent parent.c"));
  Reporter reporter({lab.shop.path("parent"), program});
  REQUIRE(reporter.ready);
  std::optional<std::string> line;
  do {
    line = reporter.child.line();  // the second of the two
  } while (line && *line != "READY");
  REQUIRE(line);
  const auto all = lab.look(reporter.child.pid());
  CHECK(has_notice(all, "child-unreadable"));
}

}  // namespace tracso::test
