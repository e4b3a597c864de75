// What `tracso stat`, `fds`, `watch` and baselines say to who may not see everything: a part of the
// answer that is marked as such, or a refusal with its own exit status. Never zeros.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace tracso::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const Words nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
// Root as a container has it without --cap-add=SYS_PTRACE: nor has it those that newer kernels take
// instead of it for looking at memory.
const Words no_ptrace{"setpriv",
                      "--inh-caps=-sys_ptrace,-perfmon,-sys_admin",
                      "--bounding-set=-sys_ptrace,-perfmon,-sys_admin"};

struct Lab {
  TemporaryFolder folder;
  std::string tracso;

  Lab() : tracso(folder / "tracso") {
    REQUIRE(::geteuid() == 0);
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    REQUIRE(run_program({"cp", test::tracso_binary(), tracso}).status == 0);
  }

  ProgramRun as(Words who, const Words& words) const {
    who.push_back(tracso);
    who.insert(who.end(), words.begin(), words.end());
    return run_program(who);
  }
};

const Words waits{"/usr/bin/python3",
                  "-c",
                  "import sys; keep = [open('/etc/passwd') for _ in range(5)]; "
                  "print('ready', flush=True); sys.stdin.read()"};

Json parsed(const ProgramRun& ran) {
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  return all;
}

bool has_notice(const Json& all, const std::string& code) {
  const auto codes = notice_codes(all);
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

// Everybody may know how large a process is, how many descriptors and threads it has. Its own user
// may also have them listed, by number.
void check_partial(const Lab& lab, const Words& who, const Child& child, bool same_user) {
  const std::string pid = std::to_string(child.pid());
  const Json all = parsed(lab.as(who, {"stat", "--json", "-p", pid}));
  CHECK(all.at("memory").at("final").get<std::uint64_t>() > 1'000'000);
  CHECK(all.at("memory").at("peak").get<std::uint64_t>() > 1'000'000);
  CHECK(all.at("memory").at("dirty").is_null());
  CHECK(all.at("memory").at("by_class").is_null());
  CHECK(all.at("descriptors").is_null() == !same_user);
  CHECK(all.at("descriptor_count").get<int>() >= 8);
  CHECK(all.at("threads").at("after") == 1);
  CHECK(all.at("io").at("written_bytes").is_null());
  CHECK(has_notice(all, "memory-unreadable"));
  CHECK(has_notice(all, "descriptors-unreadable"));
  const ProgramRun text = lab.as(who, {"stat", "-p", pid});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "what they are is not known") == !same_user);
  // A limit on what is not known is not kept; one on what is known is.
  CHECK(lab.as(who, {"stat", "-p", pid, "--max-dirty", "1G"}).status == 1);
  CHECK(lab.as(who, {"stat", "-p", pid, "--no-leaks=fds", "--for", "0.1"}).status ==
        (same_user ? 0 : 1));
  CHECK(lab.as(who, {"stat", "-p", pid, "--max-rss", "1G", "--max-fds", "100"}).status == 0);
  // The rest is refused.
  const ProgramRun list = lab.as(who, {"fds", pid});
  CHECK(list.status == (same_user ? 0 : 4));
  CHECK(contains(list.out, "(may not be read)") == same_user);
  for (const Words& words : {Words{pid}, Words{"--by", "private", pid}}) {
    const ProgramRun refused = lab.as(who, words);
    INFO(words.front() << "\n" << refused.err);
    CHECK(refused.status == 4);
    CHECK(refused.out.empty());
    CHECK(contains(refused.err, "hint: "));
  }
}

TEST_CASE("unprivileged: of another user's process what everybody may see, the rest is said",
          "[live][stat][unprivileged]") {
  const Lab lab;
  Child child(waits);
  REQUIRE(child.line() == "ready");
  check_partial(lab, nobody, child, false);
}

TEST_CASE("unprivileged: root without CAP_SYS_PTRACE, as in a container",
          "[live][stat][unprivileged]") {
  const Lab lab;
  Child child(waits);
  REQUIRE(child.line() == "ready");
  check_partial(lab, no_ptrace, child, true);
  const ProgramRun refused = lab.as(no_ptrace, {std::to_string(child.pid())});
  CHECK(contains(refused.err, "SYS_PTRACE"));
  // What it starts itself has no more rights than it, so all of that is seen.
  const Json own = parsed(lab.as(no_ptrace, {"stat", "--json", "/bin/true"}));
  CHECK(own.at("exact") == true);
  CHECK(own.at("memory").at("dirty").is_number());
  CHECK(own.at("descriptors").is_object());
}

TEST_CASE("unprivileged: a user sees all of his own", "[live][stat][unprivileged]") {
  const Lab lab;
  Words words = nobody;
  words.insert(words.end(), waits.begin(), waits.end());
  Child child(words);
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const Json all = parsed(lab.as(nobody, {"stat", "--json", "-p", pid}));
  CHECK(all.at("memory").at("dirty").is_number());
  CHECK(all.at("libraries").at("private_bytes").is_number());
  CHECK(all.at("descriptors").at("after").get<int>() >= 8);
  CHECK(parsed(lab.as(nobody, {"--json", pid})).at("totals").at("private_bytes").is_number());
  const std::string file = lab.folder / "base.json";
  CHECK(lab.as(nobody, {"--save-baseline", file, pid}).status == 0);
  CHECK(lab.as(nobody, {"--baseline", file, "--fail-on-regression", "50%", pid}).status == 0);
  CHECK(lab.as(nobody, {"stat", "--reset-peak", "-p", pid}).status == 0);
}

TEST_CASE("unprivileged: watch goes on with what it may see, and says null of the rest",
          "[live][watch][unprivileged]") {
  const Lab lab;
  Child child(waits);
  REQUIRE(child.line() == "ready");
  const ProgramRun ran =
      lab.as(nobody, {"watch", std::to_string(child.pid()), "--interval", "0.05", "--for", "0.2"});
  INFO(ran.err);
  CHECK(ran.status == 0);
  const Json first = Json::parse(ran.out.substr(0, ran.out.find('\n')), nullptr, false);
  REQUIRE(first.is_object());
  CHECK(first.at("rss").get<std::uint64_t>() > 1'000'000);
  CHECK(first.at("fds").get<int>() >= 8);
  CHECK(first.at("private").is_null());
  CHECK(first.at("by_class").is_null());
}

TEST_CASE("unprivileged: the peak of another's process cannot be reset, and that is said",
          "[live][stat][unprivileged]") {
  const Lab lab;
  Child child(waits);
  REQUIRE(child.line() == "ready");
  const Json all =
      parsed(lab.as(nobody, {"stat", "--json", "--reset-peak", "-p", std::to_string(child.pid())}));
  CHECK(has_notice(all, "peak-not-reset"));
}

TEST_CASE("unprivileged: a child of another user is missing from --children, and that is said",
          "[live][stat][unprivileged]") {
  const Lab lab;
  const Workshop shop;
  REQUIRE(shop.run("chmod 755 ."));
  shop.write("parent.c",
             "#include <stdio.h>\n#include <unistd.h>\nint main(void) {\n"
             "  if (fork() == 0) { pause(); return 0; }\n"
             "  if (setgid(65534) || setuid(65534)) return 1;\n"
             "  execl(\"/bin/sh\", \"sh\", \"-c\", \"echo ready; read x\", (char *)0); }\n");
  REQUIRE(shop.run("gcc -w -o parent parent.c"));
  Child child({shop.path("parent")});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const Json all = parsed(lab.as(nobody, {"stat", "--json", "--children", "-p", pid}));
  CHECK(all.at("tree").at("unread") == 1);
  CHECK(has_notice(all, "children-unreadable"));
  CHECK(all.at("runs")[0].at("dirty").is_null());
  CHECK(lab.as(nobody, {"stat", "--children", "--max-dirty", "1G", "-p", pid}).status == 1);
  ::kill(all.at("children").at("left")[0].at("pid").get<pid_t>(), SIGKILL);
}

TEST_CASE("unprivileged: processes that /proc hides are not there, or not to be looked at",
          "[live][stat][unprivileged]") {
  const Lab lab;
  const auto hidden = [&](const std::string& how, const std::string& words) {
    return run_program({"unshare",
                        "--mount",
                        "--pid",
                        "--fork",
                        "sh",
                        "-c",
                        "mount -t proc -o hidepid=" + how +
                            " proc /proc || exit 99; sleep 60 & p=$!; "
                            "setpriv --reuid=65534 --regid=65534 --clear-groups " +
                            lab.tracso + " " + words + " $p; s=$?; kill $p; exit $s"});
  };
  for (const char* words : {"stat -p", "fds", "watch", ""}) {
    const ProgramRun ran = hidden("2", words);
    INFO(words << "\n" << ran.err);
    if (ran.status == 99) {
      WARN("skipped: /proc cannot be mounted here");
      return;
    }
    CHECK(ran.status == 3);
    CHECK(contains(ran.err, "no such process"));
    CHECK(ran.out.empty());
    const ProgramRun shown = hidden("1", words);
    INFO(shown.err);
    CHECK(shown.status == 4);
    CHECK(shown.out.empty());
  }
}

}  // namespace
}  // namespace tracso::test
