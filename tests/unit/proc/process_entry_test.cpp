#include "proc/process_entry.hpp"

#include "proc/container.hpp"
#include "support/catch.hpp"

using namespace tracso::proc;

namespace {

const std::string id(64, 'a');

}  // namespace

TEST_CASE("process entry: name, memory and command of an ordinary process", "[proc][pick]") {
  const auto entry = parse_process_entry(
      42, "Name:\tpython3\nVmRSS:\t    2048 kB\n", std::string_view("python3\0-m\0http\0", 16));
  CHECK(entry.pid == 42);
  CHECK(entry.name == "python3");
  CHECK(entry.resident_bytes == 2048 * 1024);
  CHECK(entry.command == "python3 -m http");
  CHECK(parse_process_entry(1, "Name:\tinit\nVmRSS:\t1 kB\n", "").command == "[init]");
}

TEST_CASE("process entry: a kernel thread has no memory", "[proc][pick]") {
  CHECK(has_memory("Name:\tsh\nVmRSS:\t4 kB\n"));
  CHECK_FALSE(has_memory("Name:\tkworker/0:1\nThreads:\t1\n"));
}

TEST_CASE("process entry: a Python is told by its program or by libpython", "[proc][pick]") {
  CHECK(python_by_names("/usr/bin/python3.11", "") == "3.11");
  CHECK(python_by_names("/opt/python3.13t", "") == "3.13");
  CHECK(python_by_names("/usr/bin/python3.11-dbg", "") == "3.11");
  CHECK(python_by_names("/usr/bin/python3.11 (deleted)", "") == "3.11");
  CHECK(python_by_names("/usr/bin/python3", "") == "3");
  CHECK(python_by_names("/usr/bin/python3",
                        "1-2 r 0 0:0 1 /usr/lib/libpython3.so\n"
                        "3-4 r 0 0:0 1 /usr/lib/libpython3.9.so.1.0\n") == "3.9");
  CHECK(python_by_names("/usr/sbin/uwsgi", "1-2 r 0 0:0 1 /usr/lib/libpython3.12.so.1.0\n") ==
        "3.12");
  CHECK(python_by_names("/opt/pypy3.10", "") == "PyPy");
  CHECK(python_by_names("/usr/bin/pythonista", "").empty());
  CHECK(python_by_names("/bin/sh", "").empty());
  CHECK(python_by_names("", "").empty());
}

TEST_CASE("process entry: containers by the cgroup's forms, and nothing else", "[proc][pick]") {
  const std::string shown(12, 'a');
  CHECK(container_of("12:memory:/docker/" + id + "\n") == "docker " + shown);
  CHECK(container_of("0::/system.slice/docker-" + id + ".scope\n") == "docker " + shown);
  CHECK(container_of("0::/machine.slice/libpod-" + id + ".scope/container\n") == "podman " + shown);
  CHECK(container_of("0::/kubepods.slice/x.slice/cri-containerd-" + id + ".scope\n") ==
        "containerd " + shown);
  CHECK(container_of("4:cpu:/kubepods/besteffort/pod1/" + id + "\n") == "pod " + shown);
  CHECK(container_of("0::/lxc.payload.web\n") == "lxc web");
  CHECK(container_of("0::/machine.slice/machine-deb.scope\n") == "machine deb");
  CHECK(container_of("0::/user.slice/user-0.slice\n").empty());
  CHECK(container_of("0::/jobs/" + id + "\n").empty());
  CHECK(container_of("").empty());
}
