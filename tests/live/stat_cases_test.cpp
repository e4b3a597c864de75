// Amounts put into a process one by one, and what `tracso stat` must say of them: the cases that
// stat_test.cpp leaves out. docs/costs.md has the whole list.

#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kilobyte = 1024, megabyte = 1024 * 1024;

// Does one thing per line of its input, or per argument, and says "done".
constexpr const char* source = R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
/* Who stays behind must hold nobody's pipe: ctest waits for the end of a test's. */
static void rest(void) { close(0); close(1); close(2); alarm(60); pause(); _exit(0); }
static void *forks(void *x) { if (fork() == 0) rest(); return x; }
static char *map(long n) { return mmap(0, n << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static void act(const char *what) {
  const char *value = strchr(what, '=');
  long n = value ? atol(value + 1) : 0;
  if (!strncmp(what, "dirty=", 6)) memset(map(n), 1, n << 20);
  if (!strncmp(what, "spike=", 6)) { char *p = map(n); memset(p, 1, n << 20); munmap(p, n << 20); }
  if (!strncmp(what, "read=", 5)) { char b[1024]; int fd = open("/dev/zero", 0); for (long k = 0; k < n; ++k) read(fd, b, sizeof b); close(fd); }
  if (!strncmp(what, "same=", 5)) { int fd = open("/dev/null", 0); dup2(open("/dev/zero", 0), fd); }
  if (!strcmp(what, "thread-forks")) { pthread_t t; pthread_create(&t, 0, forks, 0); pthread_join(t, 0); }
  if (!strcmp(what, "tree")) { int p[2]; char c; pipe(p); if (fork() == 0) { close(p[0]); if (fork() == 0) { memset(map(16), 1, 16 << 20); write(p[1], "x", 1); rest(); } rest(); } close(p[1]); read(p[0], &c, 1); close(p[0]); }
}
int main(int argc, char **argv) {
  char line[64];
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, 9);
  for (int i = 1; i < argc; ++i) act(argv[i]);
  if (argc > 1 && strcmp(argv[argc - 1], "stay")) return 0;
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    act(line);
    puts("done");
    fflush(stdout);
  }
  return 0;
}
)";

Json parsed(const ProgramRun& ran, int status = 0) {
  INFO(ran.err);
  CHECK(ran.status == status);
  Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  return all;
}

struct Lab {
  Workshop shop;

  Lab() {
    shop.write("subject.c", source);
    REQUIRE(shop.run("gcc -w -O0 subject.c -o subject -lpthread"));
  }

  std::string program() const { return shop.path("subject"); }

  Json run(const std::vector<std::string>& subject, std::vector<std::string> ours = {}) const {
    ours.insert(ours.begin(), {"stat", "--json"});
    ours.push_back(program());
    ours.insert(ours.end(), subject.begin(), subject.end());
    return parsed(run_tracso(ours));
  }
};

Json look(const Child& child, std::vector<std::string> ours = {}) {
  ours.insert(ours.begin(), {"stat", "--json", "-p", std::to_string(child.pid())});
  return parsed(run_tracso(ours));
}

std::uint64_t number(const Json& value) {
  REQUIRE(value.is_number());
  return value.get<std::uint64_t>();
}

TEST_CASE("stat cases: who does nothing has no difference at all", "[live][stat]") {
  const Lab lab;
  const Json all = lab.run({"nothing"});
  CHECK(all.at("descriptors").at("opened").empty());
  CHECK(all.at("descriptors").at("closed").empty());
  CHECK(all.at("descriptors").at("leaked").empty());
  CHECK(all.at("threads").at("after") == 1);
  CHECK(all.at("children").at("left").empty());
  CHECK(all.at("children").at("started") == 0);
  CHECK(all.at("io").at("written_bytes") == 0);
  Child still({lab.program(), "stay"});
  REQUIRE(still.line() == "ready");
  REQUIRE(still.rests());
  const Json twice = look(still, {"--for", "0.05"});
  CHECK(twice.at("descriptors").at("opened").empty());
  CHECK(twice.at("io").at("read_bytes") == 0);
  CHECK(twice.at("switches").at("voluntary") == 0);
  CHECK(number(twice.at("cpu_ns")) == 0);
}

TEST_CASE("stat cases: a spike since --reset-peak, and not the one before", "[live][stat]") {
  const Lab lab;
  Child child({lab.program(), "spike=96", "stay"});
  REQUIRE(child.line() == "ready");
  CHECK(number(look(child).at("memory").at("peak")) >= 95 * megabyte);
  const Json reset = look(child, {"--reset-peak"});
  CHECK(number(reset.at("memory").at("peak")) < 16 * megabyte);
  child.write("spike=64\n");
  REQUIRE(child.line() == "done");
  const Json after = look(child);
  const std::uint64_t before = number(reset.at("memory").at("final"));
  // The kernel writes the peak down now and then: up to 1 MB of 64 have been seen to be missing.
  CHECK(number(after.at("memory").at("peak")) - before >= 63 * megabyte);
  CHECK(number(after.at("memory").at("peak")) - before <= 65 * megabyte);
  CHECK(number(after.at("memory").at("final")) <= before + megabyte);
}

TEST_CASE("stat cases: the peak of 300 MB is the command's, a large parent's is not",
          "[live][stat]") {
  const Lab lab;
  CHECK(number(lab.run({"dirty=300"}).at("memory").at("peak")) >= 300 * megabyte);
  const ProgramRun ran =
      run_program({"/usr/bin/python3",
                   "-c",
                   "import subprocess, sys\nkeep = b'x' * (200 << 20)\n"
                   "sys.exit(subprocess.call([sys.argv[1], 'stat', '--json', '/bin/true']))",
                   tracso_binary()});
  CHECK(number(parsed(ran).at("memory").at("peak")) < 4 * megabyte);
}

TEST_CASE("stat cases: the peak of a child that ended stands beside the budget of its parent",
          "[live][stat]") {
  const Lab lab;
  const std::string script = lab.program() + " dirty=64; true";
  const std::string file = lab.shop.path("junit.xml");
  const auto budget = [&](std::vector<std::string> ours) {
    ours.insert(ours.begin(), {"stat", "--max-peak", "20M"});
    ours.insert(ours.end(), {"/bin/sh", "-c", script});
    return run_tracso(ours);
  };
  const ProgramRun text = budget({"--junit", file});
  CHECK(text.status == 0);
  INFO(text.out);
  CHECK(contains(text.out, "1 child ended; the largest, subject ("));
  CHECK(contains(text.out, "which is not in this: --children"));
  CHECK(contains(read_file(file), "<system-out>"));
  const Json all = parsed(budget({"--json"}));
  CHECK(number(all.at("children").at("largest").at("peak")) >= 64 * megabyte);
  CHECK(all.at("children").at("largest").at("name") == "subject");
  CHECK(all.at("children").at("not_seen") == 0);
  CHECK(all.at("budgets")[0].at("remark").is_string());
  CHECK(number(all.at("budgets")[0].at("value")) < 20 * megabyte);
  const Json of_tree = parsed(budget({"--json", "--children"}), 1);
  CHECK(number(of_tree.at("budgets")[0].at("value")) >= 64 * megabyte);
  const std::string failed = budget({"--children"}).err;
  CHECK(contains(failed, "failed: max-peak 20M: 6"));
  CHECK(contains(failed, "; reached by subject ("));
  const ProgramRun small =
      run_tracso({"stat", "--max-peak", "200M", lab.program(), "dirty=32", "thread-forks"});
  CHECK_FALSE(contains(small.out, "which is not in this"));
}

TEST_CASE("stat cases: two looks tell what memory grew in between", "[live][stat]") {
  const Lab lab;
  Child child({"/usr/bin/python3",
               "-c",
               "import time\nkeep = []\nprint('ready', flush=True)\n"
               "while len(keep) < 4000: keep.append(bytearray(65536)); time.sleep(0.005)"});
  REQUIRE(child.line() == "ready");
  const Json memory = look(child, {"--for", "0.6"}).at("memory");
  const auto grew = [&](const char* what) {
    return number(memory.at(what)) - number(memory.at("before").at(what));
  };
  CHECK(grew("private") >= megabyte);
  CHECK(number(memory.at("final")) - number(memory.at("before").at("resident")) >= megabyte);
  CHECK(memory.at("by_class").at("heap").at("private") >
        memory.at("before").at("by_class").at("heap").at("private"));
  CHECK(look(child).at("memory").at("before").is_null());
  const ProgramRun text = run_tracso({"stat", "-p", std::to_string(child.pid()), "--for", "0.3"});
  CHECK(contains(text.out, " s resident +"));
  CHECK(contains(text.out, "heap +"));
}

TEST_CASE("stat cases: many descriptors are grouped by what they are open on", "[live][stat]") {
  const auto run = [](std::vector<std::string> ours) {
    ours.insert(ours.begin(), "stat");
    const std::vector<std::string> command{"/usr/bin/python3",
                                           "-c",
                                           "import os\nkeep = [open('/etc/passwd') for _ in range("
                                           "30)] + [os.pipe() for _ in range(10)]\nos._exit(0)"};
    ours.insert(ours.end(), command.begin(), command.end());
    return run_tracso(ours).out;
  };
  const std::string text = run({});
  INFO(text);
  CHECK(contains(text, "opened 30 x /etc/passwd"));
  CHECK(contains(text, "opened 20 x pipe"));
  CHECK(contains(text, "opened --limit 0 lists each"));
  CHECK_FALSE(contains(run({"--limit", "0"}), " x /etc/passwd"));
}

TEST_CASE("stat cases: one number, another file: one opened, one more than before",
          "[live][stat]") {
  const Lab lab;
  const Json fds = lab.run({"same=1"}).at("descriptors");
  REQUIRE(fds.at("opened").size() == 2);  // /dev/zero twice, /dev/null not any more
  CHECK(fds.at("opened")[0].at("target") == "/dev/zero");
  CHECK(fds.at("opened")[1].at("target") == "/dev/zero");
  CHECK(number(fds.at("after")) - number(fds.at("before")) == 2);
}

TEST_CASE("stat cases: a child of a child, and one that a second thread has forked",
          "[live][stat]") {
  const Lab lab;
  const Json left = lab.run({"tree"}).at("children").at("left");
  REQUIRE(left.size() == 2);
  CHECK(left[1].at("parent") == left[0].at("pid"));
  CHECK(lab.run({"thread-forks"}).at("children").at("left").size() == 1);
}

TEST_CASE("stat cases: --children sums over the tree, and limits are held against it",
          "[live][stat]") {
  const Lab lab;
  const Json all = lab.run({"tree"}, {"--children"});
  const Json tree = all.at("tree");
  CHECK(tree.at("processes") == 3);
  CHECK(tree.at("unread") == 0);
  CHECK(number(tree.at("threads")) == 3);
  CHECK(number(tree.at("fds")) > number(all.at("descriptors").at("after")));
  const std::uint64_t dirty = number(tree.at("memory").at("dirty"));
  CHECK(dirty >= number(all.at("memory").at("dirty")) + 16 * megabyte);
  CHECK(all.at("runs")[0].at("dirty") == dirty);
  CHECK(lab.run({"tree"}).at("tree").is_null());
  const std::vector<std::string> limit{"stat", "--max-dirty", "8M", lab.program(), "tree"};
  CHECK(run_tracso(limit).status == 0);
  std::vector<std::string> of_tree = limit;
  of_tree.insert(of_tree.begin() + 1, "--children");
  const ProgramRun failed = run_tracso(of_tree);
  CHECK(failed.status == 1);
  CHECK(contains(failed.out, "tree      3 processes"));
  Child child({lab.program(), "tree", "stay"});
  REQUIRE(child.line() == "ready");
  CHECK(look(child, {"--children"}).at("tree").at("processes") == 3);
}

TEST_CASE("stat cases: two megabytes read are two megabytes", "[live][stat]") {
  const Lab lab;
  const std::uint64_t floor = number(lab.run({"nothing"}).at("io").at("read_bytes"));
  const std::uint64_t now = number(lab.run({"read=2048"}).at("io").at("read_bytes"));
  CHECK(now - floor == 2 * megabyte);
}

TEST_CASE("stat cases: a zombie is no process with zeros", "[live][stat]") {
  Child parent(zombie_keeper());
  const auto zombie = parent.line();
  REQUIRE(zombie);
  const ProgramRun ran = run_tracso({"stat", "--json", "-p", *zombie});
  CHECK(ran.status == 3);
  CHECK(ran.out.empty());
}

TEST_CASE("stat cases: copies of a process are equally dirty, however many there are",
          "[live][stat]") {
  const Lab lab;
  std::vector<std::unique_ptr<Child>> copies;
  std::vector<std::uint64_t> dirty;
  for (int i = 0; i < 4; ++i) {
    copies.push_back(
        std::make_unique<Child>(std::vector<std::string>{lab.program(), "dirty=16", "stay"}));
    REQUIRE(copies.back()->line() == "ready");
  }
  for (const auto& copy : copies) {
    dirty.push_back(number(look(*copy).at("memory").at("dirty")));
  }
  for (const std::uint64_t one : dirty) {
    CHECK(one + 32 * kilobyte >= dirty.front());
    CHECK(one <= dirty.front() + 32 * kilobyte);
  }
}

TEST_CASE("stat cases: what the loader relocates is dirty, what it does not is not",
          "[live][costs]") {
  Workshop shop;
  shop.write("table.c",
             "#define A(x) &x, &x, &x, &x, &x, &x, &x, &x,\n#define B(x) A(x) A(x) A(x) A(x)\n"
             "#define C(x) B(x) B(x) B(x) B(x)\n#define D(x) C(x) C(x) C(x) C(x)\n"
             "#define E(x) D(x) D(x) D(x) D(x)\n#define F(x) E(x) E(x) E(x) E(x)\n"
             "int x;\nvoid *table[] = {F(x) F(x) F(x) F(x)};\n"
             "char data[4 << 20] = {1};\nchar *get(void) { return data; }\n");
  shop.write(
      "opens.c",
      "#include <dlfcn.h>\n#include <stdio.h>\nint main(int n, char **w) {\n"
      "  void *h = dlopen(w[1], RTLD_NOW); puts(h ? \"ready\" : dlerror()); fflush(stdout);\n"
      "  getchar(); return n; }\n");
  // Pages of a file that the disk does not have yet are dirty for the kernel, whoever maps them.
  REQUIRE(
      shop.run("gcc -O0 -shared -fPIC table.c -o libtable.so && gcc opens.c -o opens -ldl && "
               "sync libtable.so opens"));
  Child child({shop.path("opens"), shop.path("libtable.so")});
  REQUIRE(child.line() == "ready");
  const Json node = node_named(document({std::to_string(child.pid())}), "libtable.so");
  REQUIRE(node.is_object());
  const std::uint64_t relocations = number(node.at("relocations"));
  CHECK(relocations >= 256 * kilobyte);  // 32768 pointers
  // Private are these pages and a few that are the file's alone here: read, and nobody else has it.
  CHECK(number(node.at("private")) >= relocations);
  const Json stat =
      parsed(run_tracso({"stat", "--json", "-p", std::to_string(child.pid())})).at("memory");
  const std::uint64_t dirty = number(stat.at("by_class").at("libraries").at("dirty"));
  CHECK(dirty >= relocations);
  CHECK(dirty <= relocations + 256 * kilobyte);  // and those of libc, ld.so and the program
}

TEST_CASE("stat cases: -v says what is decided, on stderr alone", "[live][stat]") {
  const Lab lab;
  const ProgramRun ran = run_tracso(
      {"stat", "-v", "--json", "--runs", "2", "--warmup", "1", lab.program(), "nothing"});
  CHECK(parsed(ran).at("runs").size() == 2);
  CHECK(contains(ran.err, "begins with"));
  CHECK(contains(ran.err, "run 1 of 3 (warm-up)"));
  CHECK(contains(ran.err, "run 3 of 3: "));
  CHECK_FALSE(contains(run_tracso({"stat", lab.program(), "nothing"}).err, "begins with"));
}

// The first run loads libz, the second does not.
TEST_CASE("stat cases: --deny looks at every run", "[live][stat]") {
  const TemporaryFolder folder;
  const std::string flag = folder / "flag";
  const std::string runs = "if [ -e " + flag + " ]; then exec true; else touch " + flag +
                           "; exec /usr/bin/python3 -c 1; fi";
  const ProgramRun ran =
      run_tracso({"stat", "--runs", "2", "--deny", "libz.so*", "/bin/sh", "-c", runs});
  INFO(ran.out << ran.err);
  CHECK(ran.status == 1);
  CHECK(contains(ran.err, "failed: deny libz.so*"));
}

TEST_CASE("stat cases: diff takes no number for another process'", "[live][stat]") {
  for (const std::string number : {"0", "2147483648", "4294967297", "99999999999999999999"}) {
    const ProgramRun ran = run_tracso({"diff", number, "1"});
    INFO(number << ": " << ran.err);
    CHECK(ran.status == 2);
    CHECK(contains(ran.err, "is not a process number"));
  }
}

}  // namespace
}  // namespace tracso::test
