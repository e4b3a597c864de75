// `tracso fds` on processes that have opened known things.

#include "os/sampler.hpp"
#include "support/catch.hpp"
#include "support/python_target.hpp"
#include "support/run_program.hpp"
#include "support/scenario.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>

namespace tracso::test {
namespace {

using Json = nlohmann::json;

Json fds_of(pid_t pid) {
  const ProgramRun ran = run_tracso({"fds", std::to_string(pid), "--queues", "--json"});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const Json parsed = Json::parse(ran.out, nullptr, false);
  REQUIRE(parsed.is_object());
  return parsed;
}

Json at_fd(const Json& document, int fd) {
  for (const Json& one : document.at("descriptors")) {
    if (one.at("fd") == fd) {
      return one;
    }
  }
  return nullptr;
}

// The script prints one line of names and numbers: "a=3 b=4".
std::map<std::string, int> numbers(Child& child) {
  const auto line = child.line();
  REQUIRE(line);
  std::map<std::string, int> found;
  std::size_t at = 0;
  while (at < line->size()) {
    const std::size_t end = std::min(line->find(' ', at), line->size());
    const std::string word = line->substr(at, end - at);
    const std::size_t sign = word.find('=');
    REQUIRE(sign != std::string::npos);
    found[word.substr(0, sign)] = std::stoi(word.substr(sign + 1));
    at = end + 1;
  }
  return found;
}

constexpr const char* all_kinds = R"(
import os, socket, select, sys, fcntl, ctypes
names = {}
def keep(name, fd): names[name] = fd if isinstance(fd, int) else fd.fileno()
alive = []
r, w = os.pipe(); os.write(w, b'12345'); keep('pipe_r', r); keep('pipe_w', w)
a, b = socket.socketpair(); a.send(b'7' * 777); keep('pair_a', a); keep('pair_b', b)
L = socket.socket(); L.bind(('127.0.0.1', 0)); L.listen()
C = socket.create_connection(L.getsockname()); S, _ = L.accept(); C.send(b'z' * 100)
P = socket.create_connection(L.getsockname())
keep('listen', L); keep('client', C); keep('server', S)
u = socket.socket(socket.AF_UNIX); u.bind('\0tracso-test-%d' % os.getpid()); u.listen(); keep('abstract', u)
for _ in range(3): c = socket.socket(socket.AF_UNIX); c.connect(u.getsockname()); alive.append(c)
libc = ctypes.CDLL(None)
keep('event', libc.eventfd(3, 0)); keep('timer', libc.timerfd_create(1, 0))
ep = select.epoll(); ep.register(r, select.EPOLLIN); keep('epoll', ep)
keep('path', os.open('/tmp', os.O_PATH)); keep('dir', os.open('/tmp', os.O_RDONLY | os.O_DIRECTORY))
keep('null', os.open('/dev/null', os.O_RDONLY)); keep('pidfd', os.pidfd_open(os.getpid()))
keep('memfd', os.memfd_create('my-memfd'))
print(' '.join('%s=%d' % pair for pair in names.items()), flush=True)
sys.stdin.read()
)";

TEST_CASE("fds: every kind with its target, its bytes and its other end", "[live][fds]") {
  Child child({"/usr/bin/python3", "-c", all_kinds});
  const auto names = numbers(child);
  const Json all = fds_of(child.pid());
  const auto fd = [&](const char* name) { return at_fd(all, names.at(name)); };
  CHECK(fd("pipe_r").at("bytes_waiting") == 5);
  REQUIRE(fd("pipe_r").at("peer").size() == 1);
  CHECK(fd("pipe_r").at("peer")[0].at("fd") == names.at("pipe_w"));
  CHECK(fd("pipe_r").at("peer")[0].at("pid") == child.pid());
  CHECK(fd("pair_b").at("kind") == "unix");
  CHECK(fd("pair_b").at("bytes_waiting") == 777);
  REQUIRE(fd("pair_b").at("peer").size() == 1);
  CHECK(fd("pair_b").at("peer")[0].at("fd") == names.at("pair_a"));
  CHECK(fd("server").at("kind") == "tcp");
  CHECK(fd("server").at("bytes_waiting") == 100);
  REQUIRE(fd("server").at("peer").size() == 1);
  CHECK(fd("server").at("peer")[0].at("fd") == names.at("client"));
  CHECK(fd("listen").at("detail") == "listening, 1 to accept");
  CHECK(fd("abstract").at("detail") == "listening, 3 to accept");
  CHECK(contains(fd("abstract").at("target").get<std::string>(), "@tracso-test-"));
  CHECK(fd("event").at("detail") == "count 3");
  CHECK(fd("timer").at("kind") == "timerfd");
  CHECK(fd("epoll").at("detail") == "watches " + std::to_string(names.at("pipe_r")));
  CHECK(contains(fd("path").at("detail").get<std::string>(), "O_PATH"));
  CHECK(fd("dir").at("kind") == "directory");
  CHECK(fd("null").at("kind") == "device");
  CHECK(fd("pidfd").at("detail") == "pid " + std::to_string(child.pid()));
  CHECK(fd("memfd").at("target") == "my-memfd");
}

TEST_CASE("fds: the other end in another process is named", "[live][fds]") {
  Child child({"/usr/bin/python3",
               "-c",
               "import os, sys\nr, w = os.pipe()\nif os.fork() == 0:\n  os.close(w); "
               "sys.stdin.read(); os._exit(0)\n"
               "os.close(r); print('w=%d' % w, flush=True); sys.stdin.read()"});
  const auto names = numbers(child);
  const Json peer = at_fd(fds_of(child.pid()), names.at("w")).at("peer");
  REQUIRE(peer.size() == 1);
  CHECK(peer[0].at("pid") != child.pid());
  CHECK(peer[0].at("name") == "python3");
}

TEST_CASE("fds: a pipe whose other end is closed says so, what is open does not", "[live][fds]") {
  const TemporaryFolder folder;
  REQUIRE(run_program({"mkfifo", folder / "fifo"}).status == 0);
  Child child({"/usr/bin/python3",
               "-c",
               "import os, socket, sys\n"
               "read, w = os.pipe(); os.write(w, b'12345'); os.close(w)\n"
               "r, write = os.pipe(); os.close(r)\n"
               "both_r, both_w = os.pipe()\n"
               "path = sys.argv[1]; fifo = os.open(path, os.O_RDONLY | os.O_NONBLOCK)\n"
               "left = os.open(path, os.O_WRONLY); os.close(left)\n"
               "a, b = socket.socketpair(); b.close()\n"
               "c, d = socket.socketpair(); new = socket.socket(socket.AF_UNIX)\n"
               "print('read=%d write=%d both_r=%d both_w=%d fifo=%d a=%d c=%d new=%d' % (read, "
               "write, both_r, both_w, fifo, a.fileno(), c.fileno(), new.fileno()), flush=True)\n"
               "sys.stdin.read()",
               folder / "fifo"});
  const auto names = numbers(child);
  const Json all = fds_of(child.pid());
  const auto detail = [&](const char* name) {
    return at_fd(all, names.at(name)).at("detail").get<std::string>();
  };
  CHECK(detail("read") == "the other end is closed");
  CHECK(at_fd(all, names.at("read")).at("bytes_waiting") == 5);
  CHECK(detail("write") == "the other end is closed");
  CHECK(detail("fifo") == "the other end is closed");
  CHECK(detail("a") == "stream, no longer connected");
  for (const char* open : {"both_r", "both_w"}) {
    CHECK_FALSE(contains(at_fd(all, names.at(open)).dump(), "closed"));
  }
  CHECK(detail("c") == "stream");
  CHECK(detail("new") == "stream");
  const ProgramRun text = run_tracso({"fds", std::to_string(child.pid()), "--queues"});
  CHECK(contains(text.out, "(the other end is closed; 5 B to be read)"));
}

TEST_CASE("fds: a full send queue is seen", "[live][fds]") {
  Child child(
      {"/usr/bin/python3",
       "-c",
       "import socket, sys\nL = socket.socket(); L.bind(('127.0.0.1', 0)); L.listen()\n"
       "C = socket.create_connection(L.getsockname()); S, _ = L.accept(); C.setblocking(False)\n"
       "try:\n  while True: C.send(b'q' * 65536)\nexcept BlockingIOError: pass\n"
       "print('c=%d s=%d' % (C.fileno(), S.fileno()), flush=True); sys.stdin.read()"});
  const auto names = numbers(child);
  const Json all = fds_of(child.pid());
  CHECK(at_fd(all, names.at("c")).at("bytes_unsent").get<std::uint64_t>() +
            at_fd(all, names.at("s")).at("bytes_waiting").get<std::uint64_t>() >
        1'000'000);
}

TEST_CASE("fds: sockets of another network namespace are seen from outside", "[live][fds]") {
  Child child({"/usr/bin/unshare",
               "-n",
               "/usr/bin/python3",
               "-c",
               "import os, socket, sys\nos.system('ip link set lo up 2>/dev/null')\n"
               "a, b = socket.socketpair(); a.send(b'12345')\n"
               "L = socket.socket(); L.bind(('127.0.0.1', 4711)); L.listen()\n"
               "print('l=%d a=%d b=%d' % (L.fileno(), a.fileno(), b.fileno()), flush=True); "
               "sys.stdin.read()"});
  const auto line = child.line();
  if (!line) {
    WARN("skipped: no network namespace to be had here");
    return;
  }
  const int listen = std::stoi(line->substr(2));
  const int b = std::stoi(line->substr(line->find("b=") + 2));
  const int a = std::stoi(line->substr(line->find("a=") + 2));
  const Json all = fds_of(child.pid());
  CHECK(at_fd(all, listen).at("target") == "127.0.0.1:4711");
  CHECK(at_fd(all, b).at("bytes_waiting") == 5);
  REQUIRE(at_fd(all, b).at("peer").size() == 1);
  CHECK(at_fd(all, b).at("peer")[0].at("fd") == a);
}

TEST_CASE("fds: a hostile file name stays on its line", "[live][fds]") {
  const TemporaryFolder folder;
  Child child({"/usr/bin/python3",
               "-c",
               "import sys; f = open(sys.argv[1] + '/a\\n\\x1b[31mred\\xff', 'wb'); "
               "print('f=%d' % f.fileno(), flush=True); sys.stdin.read()",
               folder.path()});
  const auto names = numbers(child);
  const ProgramRun text = run_tracso({"fds", std::to_string(child.pid())});
  CHECK(text.status == 0);
  CHECK(text.out.find('\x1b') == std::string::npos);
  CHECK(contains(text.out, "\\n"));
  const ProgramRun csv = run_tracso({"fds", std::to_string(child.pid()), "--csv"});
  CHECK(csv.out.starts_with("fd,kind,target,"));
}

TEST_CASE("fds: 18,000 descriptors are all there", "[live][fds]") {
  Child child({"/usr/bin/python3",
               "-c",
               "import os, resource, sys\n"
               "soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
               "resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))\n"
               "n = min(18000, hard - 64)\nkeep = [os.open('/dev/null', 0) for _ in range(n)]\n"
               "print('n=%d all=%d' % (n, len(os.listdir('/proc/self/fd')) - 1), flush=True); "
               "sys.stdin.read()"});
  const auto counts = numbers(child);
  const auto count = static_cast<std::size_t>(counts.at("all"));  // with what it has inherited
  CHECK(counts.at("n") >= 1000);
  const Json all = fds_of(child.pid());
  CHECK(all.at("descriptors").size() == count);
  const auto sampler = os::Sampler::open(child.pid());
  REQUIRE(sampler);
  const auto look = sampler->look();
  REQUIRE(look);
  CHECK(look->descriptors == count);
}

TEST_CASE("diff: descriptors saved before, and what is open now", "[live][fds][diff]") {
  const TemporaryFolder folder;
  Child child({"/usr/bin/python3",
               "-c",
               "import sys\nf = open('/etc/passwd'); print('f=%d' % f.fileno(), flush=True)\n"
               "sys.stdin.readline(); f.close(); g = [open('/etc/group') for _ in range(3)]\n"
               "print('g=%d' % g[0].fileno(), flush=True); sys.stdin.read()"});
  numbers(child);
  const std::string pid = std::to_string(child.pid());
  const std::string old = folder / "old.json";
  REQUIRE(run_tracso({"fds", pid, "-o", old}).status == 0);
  CHECK(contains(run_tracso({"diff", old, pid}).out, "No difference"));
  child.write("\n");
  numbers(child);
  const ProgramRun text = run_tracso({"diff", old, pid});
  INFO(text.err);
  CHECK(text.status == 0);
  CHECK(contains(text.out, "opened  fd"));
  CHECK(contains(text.out, "/etc/group"));
  CHECK(contains(text.out, "closed"));
  const ProgramRun ran = run_tracso({"diff", "--json", old, pid});
  const Json all = Json::parse(ran.out, nullptr, false);
  REQUIRE(all.is_object());
  CHECK(all.at("kind") == "diff");
  CHECK(all.at("descriptors").at("opened").size() == 3);
  REQUIRE(all.at("descriptors").at("closed").size() == 1);
  CHECK(all.at("descriptors").at("closed")[0].at("target") == "/etc/passwd");
  CHECK(run_tracso({"diff", old, "999999999"}).status == 3);
  CHECK(run_tracso({"diff", old, "/etc/passwd"}).status == 2);
  CHECK(run_tracso({"diff", old, pid, "--fail-on", "libs>0"}).status == 2);
  write_file(folder / "odd.json", R"({"schema":"tracso/1","kind":"fds","descriptors":7})");
  CHECK(run_tracso({"diff", folder / "odd.json", pid}).status == 6);
}

TEST_CASE("fds: no such process, and a zombie, are said so", "[live][fds]") {
  CHECK(run_tracso({"fds", "999999999"}).status == 3);
  Child parent({"/usr/bin/python3",
                "-c",
                "import os, sys, time\np = os.fork()\nif p == 0: os._exit(0)\n"
                "time.sleep(0.2); print('z=%d' % p, flush=True); sys.stdin.read()"});
  const int zombie = numbers(parent).at("z");
  const ProgramRun ran = run_tracso({"fds", std::to_string(zombie)});
  CHECK(ran.status == 3);
  CHECK(contains(ran.err, "ended"));
}

TEST_CASE("sampler: a look gives what /proc gives, both ways of counting agree",
          "[live][sampler]") {
  Child child(
      {"/usr/bin/python3",
       "-c",
       "import os, sys, threading\nkeep = [os.dup(0) for _ in range(20)]\n"
       "for _ in range(3): threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
       "print('all=%d' % (len(os.listdir('/proc/self/fd')) - 1), flush=True); sys.stdin.read()"});
  const auto all = static_cast<std::uint64_t>(numbers(child).at("all"));
  const auto by_size = os::Sampler::open(child.pid(), os::CountBy::size);
  const auto by_list = os::Sampler::open(child.pid(), os::CountBy::listing);
  REQUIRE(by_size);
  REQUIRE(by_list);
  const auto one = by_size->look();
  const auto other = by_list->look();
  REQUIRE(one);
  REQUIRE(other);
  CHECK(one->descriptors == all);
  CHECK(other->descriptors == all);
  CHECK(one->threads == 4);
  CHECK(one->resident > 1'000'000);
  CHECK(one->virtual_ > one->resident);
  CHECK(one->cpu.count() > 0);
}

TEST_CASE("sampler: a process that ends meanwhile is ended, never zero", "[live][sampler]") {
  auto child = std::make_unique<Child>(std::vector<std::string>{
      "/usr/bin/python3", "-c", "import sys; print('ready', flush=True); sys.stdin.read()"});
  REQUIRE(child->line() == "ready");
  const auto sampler = os::Sampler::open(child->pid());
  REQUIRE(sampler);
  REQUIRE(sampler->look());
  ::kill(child->pid(), SIGKILL);
  bool ended = false;
  for (int i = 0; i < 500 && !ended; ++i) {  // it becomes a zombie, which we have not waited for
    ::usleep(10'000);
    const auto look = sampler->look();
    CHECK((!look || look->resident != 0));
    ended = !look;
  }
  CHECK(ended);
  child.reset();
  CHECK_FALSE(sampler->look());
}

}  // namespace

TEST_CASE("fds: --limit shows the first rows and says how many there are", "[live][fds]") {
  Child child({"/usr/bin/python3",
               "-c",
               "f = [open('/dev/null') for _ in range(20)]; print('ready', flush=True); input()"});
  REQUIRE(child.line() == "ready");
  const std::string pid = std::to_string(child.pid());
  const ProgramRun whole = run_tracso({"fds", pid});
  CHECK_FALSE(contains(whole.out, " more"));
  const ProgramRun cut = run_tracso({"fds", pid, "--limit", "2"});
  CHECK(std::count(cut.out.begin(), cut.out.end(), '\n') == 4);
  const auto all = std::count(whole.out.begin(), whole.out.end(), '\n') - 1;  // a title
  CHECK(all >= 23);
  CHECK(contains(cut.out, "... and " + std::to_string(all - 2) + " more"));
}

}  // namespace tracso::test
