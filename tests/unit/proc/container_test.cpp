#include "proc/container.hpp"

#include "support/catch.hpp"

using tracso::proc::container_of;

TEST_CASE("container: told by the control group, as engines call theirs", "[proc]") {
  const std::string digest(64, 'a');
  CHECK(container_of("0::/system.slice/docker-" + digest + ".scope\n") == "docker aaaaaaaaaaaa");
  CHECK(container_of("12:pids:/docker/" + digest + "\n1:name=systemd:/docker/" + digest) ==
        "docker aaaaaaaaaaaa");
  CHECK(container_of("0::/machine.slice/libpod-" + digest + ".scope/container") ==
        "podman aaaaaaaaaaaa");
  CHECK(container_of("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" + digest +
                     ".scope") == "containerd aaaaaaaaaaaa");
  CHECK(container_of("0::/lxc.payload.web/init.scope") == "lxc web");
}

TEST_CASE("container: a service of the host is in none", "[proc]") {
  CHECK(container_of("0::/system.slice/docker.service\n").empty());
  CHECK(container_of("0::/user.slice/user-1000.slice/session-2.scope\n").empty());
  CHECK(container_of("0::/\n").empty());
  CHECK(container_of("").empty());
}
