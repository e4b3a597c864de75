#include "collect/processors.hpp"

#include "support/catch.hpp"
#include "support/fake_target.hpp"

using namespace tracso;

TEST_CASE("processors: lists and quotas", "[collect]") {
  CHECK(count_of_list("0") == 1);
  CHECK(count_of_list("0-3,8\n") == 5);
  CHECK_FALSE(count_of_list(""));
  CHECK_FALSE(count_of_list("3-1"));
  CHECK_FALSE(count_of_list("0-99999999999"));
  CHECK(processors_of_quota("200000 100000") == 2);
  CHECK(processors_of_quota("150000 100000\n") == 2);  // one and a half
  CHECK_FALSE(processors_of_quota("max 100000"));
  CHECK_FALSE(processors_of_quota("-1 100000"));
  CHECK_FALSE(processors_of_quota("100000 0"));
  CHECK_FALSE(processors_of_quota(""));
}

TEST_CASE("processors: the least of affinity and the quotas of all groups above", "[collect]") {
  test::FakeTarget fake;
  CHECK_FALSE(usable_processors(fake.process, fake.files));
  fake.process.texts["status"] = "Name:\tx\nCpus_allowed_list:\t0-15\n";
  CHECK(usable_processors(fake.process, fake.files) == 16);
  SECTION("version 2") {
    fake.process.texts["cgroup"] = "0::/a/b\n";
    fake.files.files["/sys/fs/cgroup/a/b/cpu.max"] = "max 100000\n";
    fake.files.files["/sys/fs/cgroup/a/cpu.max"] = "400000 100000\n";
    CHECK(usable_processors(fake.process, fake.files) == 4);
  }
  SECTION("in a container the group is the root of what is seen") {
    fake.process.texts["cgroup"] = "0::/docker/1f3\n";
    fake.files.files["/sys/fs/cgroup/cpu.max"] = "250000 100000\n";
    CHECK(usable_processors(fake.process, fake.files) == 3);
  }
  SECTION("version 1") {
    fake.process.texts["cgroup"] = "5:memory:/a\n4:cpu,cpuacct:/a\n";
    fake.files.files["/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us"] = "800000\n";
    fake.files.files["/sys/fs/cgroup/cpu/a/cpu.cfs_period_us"] = "100000\n";
    CHECK(usable_processors(fake.process, fake.files) == 8);
  }
}
