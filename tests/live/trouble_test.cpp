// Bad input and trouble: a clear error, the right exit status, and nothing lost.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/scenario.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace tracso::test {
namespace {

// What failed and on what; why; what to try. Three lines at the most, and never a bare number.
void check_error(const ProgramRun& ran, int status, const std::string& says) {
  INFO(ran.err);
  CHECK(ran.status == status);
  CHECK(ran.out.empty());
  CHECK(contains(ran.err, says));
  CHECK(ran.err.rfind("tracso: ", 0) == 0);
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') <= 3);
}

#ifndef __SANITIZE_ADDRESS__  // which reads /proc itself
TEST_CASE("trouble: without /proc it says so, and how to have it", "[live][trouble]") {
  if (run_program({"unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"}).status != 0) {
    WARN("NOT TRIED: no mount namespaces here");
    return;
  }
  const auto without = [](const std::string& words) {
    return run_program({"unshare",
                        "-m",
                        "sh",
                        "-c",
                        "mount -t tmpfs none /proc && exec " + tracso_binary() + " " + words});
  };
  const std::string hint = "try: mount -t proc proc /proc";
  for (const char* words : {"1",
                            "--run true",
                            "stat -p 1",
                            "fds 1",
                            "dump 1",
                            "watch 1 --for 1",
                            "--who libc",
                            "calls -c -p 1",
                            "--as-child /bin/sh 1"}) {
    INFO(words);
    const auto run = without(words);
    CHECK(run.status == 3);
    CHECK(contains(run.err, "/proc is not mounted here\nhint: " + hint));
    CHECK_FALSE(contains(run.err, "ps -ef"));
  }
  const auto stat = without("stat true");
  CHECK(contains(stat.out + stat.err, hint));
  CHECK(contains(stat.out + stat.err, "threads   not known"));
  CHECK_FALSE(contains(stat.out + stat.err, "as root"));
  for (const char* words : {"calls -c true", "calls true"}) {
    const auto calls = without(words);
    CHECK(calls.status == 4);
    CHECK(contains(calls.err, hint));
  }
}
#endif

TEST_CASE("trouble: no such process is exit 3", "[live][trouble]") {
  check_error(run_tracso({"4194303"}), 3, "no such process");
}

TEST_CASE("trouble: a zombie is said to be one", "[live][trouble]") {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ::usleep(50'000);
  check_error(run_tracso({std::to_string(child)}), 3, "a zombie");
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("trouble: a kernel thread has nothing to show", "[live][trouble]") {
  if (read_file("/proc/2/stat").find("(kthreadd)") == std::string::npos) {
    WARN("not tried: no kernel threads are visible from this process namespace");
    return;
  }
  check_error(run_tracso({"2"}), 4, "kernel thread");
}

TEST_CASE("trouble: another user's process says what is still visible and what to try",
          "[live][trouble]") {
  Child target(
      {"/usr/bin/python3", "-c", "import time; print('ready', flush=True); time.sleep(600)"});
  REQUIRE(target.line() == "ready");
  TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  const std::string copy = folder / "tracso";
  REQUIRE(run_program({"cp", test::tracso_binary(), copy}).status == 0);
  const ProgramRun ran = run_program({"setpriv",
                                      "--reuid=65534",
                                      "--regid=65534",
                                      "--clear-groups",
                                      copy,
                                      std::to_string(target.pid())});
  check_error(ran, 4, "permission denied");
  CHECK(contains(ran.err, "still visible: '/usr/bin/python3"));
  CHECK(contains(ran.err, "root (uid 0)"));
  CHECK(contains(ran.err, "as that user or as root"));
}

TEST_CASE("trouble: a process of one's own that is not dumpable is refused with the reason",
          "[live][trouble]") {
  TemporaryFolder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0755) == 0);
  write_file(
      folder / "nd.c",
      "#include <sys/prctl.h>\n#include <stdio.h>\n#include <unistd.h>\n"
      "int "
      "main(void){prctl(PR_SET_DUMPABLE,0,0,0,0);puts(\"ready\");fflush(stdout);sleep(600);}\n");
  REQUIRE(run_program({"gcc", folder / "nd.c", "-o", folder / "nd"}).status == 0);
  const std::string copy = folder / "tracso";
  REQUIRE(run_program({"cp", test::tracso_binary(), copy}).status == 0);
  Child target({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", folder / "nd"});
  REQUIRE(target.line() == "ready");
  const ProgramRun ran = run_program({"setpriv",
                                      "--reuid=65534",
                                      "--regid=65534",
                                      "--clear-groups",
                                      copy,
                                      std::to_string(target.pid())});
  check_error(ran, 4, "permission denied");
  CHECK(contains(ran.err, "PR_SET_DUMPABLE"));
}

TEST_CASE("trouble: files that are not ELF are named for what they are", "[live][trouble]") {
  TemporaryFolder folder;
  write_file(folder / "text", std::string(200, 'x'));
  write_file(folder / "empty", "");
  write_file(folder / "script", "#!/bin/sh\ntrue\n" + std::string(100, '#'));
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  check_error(run_tracso({folder / "text"}), 6, "invalid ELF header");
  check_error(run_tracso({folder / "empty"}), 6, "file too short");
  check_error(run_tracso({folder / "script"}), 6, "a script");
  write_file(folder / "by-env", "#!/usr/bin/env -S A=1 python3 -I\n");
  check_error(
      run_tracso({folder / "script"}), 6, "hint: its interpreter is /bin/sh: tracso /bin/sh,");
  check_error(run_tracso({folder / "by-env"}),
              6,
              "hint: its interpreter is python3: tracso $(command -v python3), or tracso --run");
  check_error(run_tracso({folder / "fifo"}), 6, "not a regular file");
  check_error(run_tracso({folder.path()}), 6, "is a directory");
  check_error(run_tracso({"/dev/zero"}), 6, "not a regular file");
  check_error(run_tracso({folder / "none"}), 2, "no such file");
}

TEST_CASE("trouble: of a file inside a system tree the tree is named, and its path there",
          "[live][trouble]") {
  TemporaryFolder folder;
  const std::string tree = folder / "tree";
  REQUIRE(run_program({"mkdir", "-p", tree + "/bin"}).status == 0);
  write_file(tree + "/bin/script", "#!/bin/sh\ntrue\n");
  const auto in_tree = [&](const std::string& file) { return run_tracso({"--root", tree, file}); };
  check_error(in_tree("/bin/none"), 2, "no such file, inside the system tree " + tree + "\n");
  check_error(in_tree("/bin/none"), 2, "hint: FILE is named as inside the tree: tracso --root");
  check_error(in_tree(tree + "/bin/ls"),
              2,
              "hint: inside it that is /bin/ls: tracso --root " + tree + " /bin/ls\n");
  check_error(in_tree("/bin"), 6, "is a directory, inside the system tree " + tree + "\n");
  check_error(in_tree("/bin/script"),
              6,
              "hint: its interpreter is /bin/sh: tracso --root " + tree + " /bin/sh\n");
  write_file(tree + "/bin/windows", "#!/bin/sh\r\ntrue\r\n");
  check_error(in_tree("/bin/windows"), 6, "hint: its first line ends in \\r, which is a part of");
  check_error(
      run_tracso({"--root", folder / "none", "/bin/ls"}), 2, "hint: DIR is what is / there");
}

TEST_CASE("trouble: an ELF file that ends too early is refused at every length",
          "[live][trouble]") {
  TemporaryFolder folder;
  const std::string whole = read_file("/bin/true");
  for (const std::size_t length : {4UL, 16UL, 63UL, 64UL, 200UL, 1000UL, 5000UL}) {
    write_file(folder / "cut", whole.substr(0, length));
    const ProgramRun ran = run_tracso({folder / "cut"});
    INFO(length << ": " << ran.err << ran.out);
    CHECK((ran.status == 6 || ran.status == 1 || ran.status == 0));
    CHECK(ran.status < 128);
  }
}

TEST_CASE("trouble: a static program is a friendly sentence and exit 0", "[live][trouble]") {
  TemporaryFolder folder;
  write_file(folder / "s.c",
             "#include <stdio.h>\n#include <unistd.h>\nint "
             "main(void){puts(\"ready\");fflush(stdout);sleep(600);}\n");
  for (const char* kind : {"-static", "-static-pie"}) {
    CAPTURE(kind);
    REQUIRE(run_program({"gcc", kind, folder / "s.c", "-o", folder / "s"}).status == 0);
    const ProgramRun file = run_tracso({folder / "s"});
    INFO(file.out << file.err);
    CHECK(file.status == 0);
    CHECK(contains(file.out, "no shared libraries: statically linked"));
    Child target({folder / "s"});
    REQUIRE(target.line() == "ready");
    const ProgramRun live = run_tracso({std::to_string(target.pid())});
    INFO(live.out << live.err);
    CHECK(live.status == 0);
    CHECK(contains(live.out, "no shared libraries: statically linked"));
    CHECK_FALSE(contains(live.out, "--why <lib>"));
    const std::string pid = std::to_string(target.pid());
    CHECK(contains(run_tracso({"--why", "libc", pid}).err, "is statically linked: no library"));
    const ProgramRun calls = run_tracso({"calls", "-c", "-p", pid});
    CHECK(contains(calls.err, "statically linked"));
    CHECK(contains(calls.err, "hint: tracso calls -S -p " + pid + " shows its system calls"));
  }
}

TEST_CASE("trouble: a FILE that is no program says what FILE can be", "[live][trouble]") {
  const ProgramRun text = run_tracso({"/etc/passwd"});
  check_error(text, 6, "invalid ELF header");
  CHECK(contains(text.err, "hint: FILE is a program or a library; --from FILE reads a document"));
}

TEST_CASE("trouble: a musl program's loader is its libc, one object, nothing missing",
          "[live][trouble]") {
  TemporaryFolder folder;
  write_file(folder / "m.c", "int m(void){return 5;}\n");
  write_file(folder / "p.c",
             "#include <stdio.h>\n#include <unistd.h>\nint m(void);int main(void){printf(\"ready "
             "%d\\n\",m());fflush(stdout);sleep(600);}\n");
  REQUIRE(run_program({"musl-gcc",
                       "-shared",
                       "-fPIC",
                       folder / "m.c",
                       "-o",
                       folder / "libm5.so",
                       "-Wl,-soname,libm5.so"})
              .status == 0);
  REQUIRE(run_program({"musl-gcc",
                       folder / "p.c",
                       "-L" + folder.path(),
                       "-lm5",
                       "-Wl,-rpath," + folder.path(),
                       "-o",
                       folder / "p"})
              .status == 0);
  Child target({folder / "p"});
  REQUIRE(target.line() == "ready 5");
  for (const std::string& what : {std::to_string(target.pid()), folder / "p"}) {
    CAPTURE(what);
    const auto all = document({what});
    CHECK(all.at("totals").at("libraries") == 2);
    for (const auto& node : all.at("nodes")) {
      CHECK(node.at("state") != "missing");
    }
    const auto library = node_named(all, "libm5.so");
    REQUIRE(library.is_object());
    CHECK(edges_into(all, library.at("id")).front().at("rule") == "runpath");
  }
}

TEST_CASE("trouble: 32-bit programs are explained, live and as files", "[live][trouble]") {
  TemporaryFolder folder;
  write_file(folder / "p.c",
             "#include <stdio.h>\n#include <unistd.h>\nint "
             "main(void){puts(\"ready\");fflush(stdout);sleep(600);}\n");
  REQUIRE(run_program({"gcc", "-m32", folder / "p.c", "-o", folder / "p"}).status == 0);
  Child target({folder / "p"});
  REQUIRE(target.line() == "ready");
  for (const std::string& what : {std::to_string(target.pid()), folder / "p"}) {
    CAPTURE(what);
    const auto all = document({what});
    const auto libc = node_named(all, "libc.so.6");
    REQUIRE(libc.is_object());
    CHECK(contains(libc.at("path"), "32"));
    CHECK(edges_into(all, libc.at("id")).front().at("rule") == "cache");
  }
}

TEST_CASE("trouble: output that cannot be written is an error, a closed pipe is not",
          "[live][trouble]") {
  const std::string self = std::to_string(::getpid());
  const ProgramRun full =
      run_program({"sh", "-c", test::tracso_binary() + " --json " + self + " > /dev/full"});
  CHECK(full.status == 2);
  CHECK(contains(full.err, "no space left"));
  const ProgramRun nowhere = run_tracso({self, "-o", "/nonexistent/x.txt"});
  CHECK(nowhere.status == 2);
  CHECK(run_tracso({"--root", "/nonexistent", "/bin/true"}).status == 2);
  CHECK(run_tracso({"record", self, "-o", "/dev/full"}).status == 2);

  struct stat device {};

  REQUIRE(::stat("/dev/full", &device) == 0);
  CHECK(S_ISCHR(device.st_mode));  // written into, never replaced
  CHECK(contains(nowhere.err, "/nonexistent/x.txt"));
  const ProgramRun pipe = run_program(
      {"bash", "-c", "set -o pipefail; " + test::tracso_binary() + " --json " + self + " | true"});
  CHECK(pipe.status == 0);
  CHECK(pipe.err.empty());
}

TEST_CASE("trouble: a format this build lacks and an image on stdout are refused",
          "[live][trouble]") {
  const std::string self = std::to_string(::getpid());
  TemporaryFolder folder;
  // d3 is part of a build, or is not; then the refusal says so.
  const ProgramRun page = run_tracso({self, "-o", folder / "x.html"});
  CHECK((page.status == 0 || (page.status == 5 && contains(page.err, "HTML"))));
  CHECK(run_tracso({folder / "x.json", "--from", folder / "x.json"}).status == 2);
  CHECK(run_tracso({"--from", folder / "none.json"}).status == 2);
  write_file(folder / "bad.json", "{\"schema\": 1}");
  CHECK(run_tracso({"--from", folder / "bad.json"}).status == 6);
  write_file(folder / "bad.tar.gz", "rubbish");
  CHECK(run_tracso({"--from", folder / "bad.tar.gz"}).status == 6);
}

TEST_CASE("trouble: hostile names pass no escape sequence through, in any form",
          "[live][trouble]") {
  TemporaryFolder folder;
  const std::string evil = folder / "lib\x1b[31m\"x\n;y.so";
  write_file(folder / "l.c", "int f(void){return 1;}\n");
  REQUIRE(
      run_program({"gcc", "-shared", "-fPIC", folder / "l.c", "-o", folder / "plain.so"}).status ==
      0);
  REQUIRE(run_program({"cp", folder / "plain.so", evil}).status == 0);
  Child target({"/usr/bin/python3",
                "-c",
                "import ctypes, sys, time; ctypes.CDLL(sys.argv[1]); print('ready', flush=True); "
                "time.sleep(600)",
                evil});
  REQUIRE(target.line() == "ready");
  const std::string pid = std::to_string(target.pid());
  for (const std::vector<std::string>& form : {std::vector<std::string>{pid},
                                               {"--tree", pid},
                                               {"--json", pid},
                                               {"--csv", pid},
                                               {"--why", "lib", pid},
                                               {"-o", folder / "x.dot", pid}}) {
    const ProgramRun ran = run_tracso(form);
    INFO(form.front());
    CHECK(ran.status == 0);
    if (form.front() != "--csv") {  // RFC 4180 quotes bytes, it does not change them
      CHECK(ran.out.find('\x1b') == std::string::npos);
    }
    CHECK(ran.err.find('\x1b') == std::string::npos);
  }
  CHECK(read_file(folder / "x.dot").find('\x1b') == std::string::npos);
  CHECK(run_program({"dot", "-Tsvg", folder / "x.dot", "-o", folder / "x.svg"}).status == 0);
}

TEST_CASE(
    "trouble: a process that ends while it is looked at never gives a report that looks whole",
    "[live][trouble]") {
  for (int i = 0; i < 20; ++i) {
    Child target({"/usr/bin/python3", "-c", "print('x', flush=True)"});
    const ProgramRun ran = run_tracso({std::to_string(target.pid())});
    INFO(ran.out << ran.err);
    CHECK((ran.status == 0 || ran.status == 3));
    if (ran.status == 3 && !ran.out.empty()) {
      CHECK(contains(ran.out, "ended while tracso looked"));
    }
  }
}

}  // namespace
}  // namespace tracso::test
