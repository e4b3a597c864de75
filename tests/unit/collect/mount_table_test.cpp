#include "collect/mount_table.hpp"

#include "support/catch.hpp"

using namespace tracso;

TEST_CASE("mount table: files on another machine are known by the nearest mount", "[collect]") {
  const auto mounts = parse_remote_mounts(
      "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
      "36 22 0:40 / /net/my\\040tools rw shared:1 - nfs4 server:/x rw\n"
      "37 36 8:2 / /net/my\\040tools/local rw - ext4 /dev/sdb1 rw\n"
      "nonsense\n");
  CHECK(file_system_of("/net/my tools/lib/libx.so", mounts) == "nfs4");
  CHECK(file_system_of("/net/my tools/local/libx.so", mounts).empty());
  CHECK(file_system_of("/net/my toolsmith/libx.so", mounts).empty());
  CHECK(file_system_of("/usr/lib/libx.so", mounts).empty());
}

TEST_CASE("mount table: a host without network mounts keeps nothing", "[collect]") {
  CHECK(parse_remote_mounts("22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n").empty());
  CHECK(parse_remote_mounts("").empty());
}
