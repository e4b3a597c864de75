#include "proc/counters.hpp"

#include "support/catch.hpp"

namespace tracso::proc {
namespace {

TEST_CASE("counters: statm gives pages, a zombie's zeros stay zeros", "[proc][counters]") {
  CHECK(parse_statm("2184 1203 800 10 0 400 0\n") == Statm{2184, 1203});
  CHECK(parse_statm("0 0 0 0 0 0 0\n") == Statm{0, 0});
  CHECK_FALSE(parse_statm("2184"));
  CHECK_FALSE(parse_statm("x y"));
  CHECK_FALSE(parse_statm(""));
}

TEST_CASE("counters: status gives memory in bytes", "[proc][counters]") {
  const auto memory = parse_memory_status(
      "Name:\tpython3\nVmSize:\t   20480 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"
      "RssAnon:\t     512 kB\nVmSwap:\t       0 kB\nThreads:\t3\n");
  CHECK(memory.peak == 2048U * 1024);
  CHECK(memory.resident == 1024U * 1024);
  CHECK(memory.anonymous == 512U * 1024);
  CHECK(memory.virtual_ == 20480U * 1024);
  CHECK(memory.swapped == 0U);
}

TEST_CASE("counters: a zombie's status has no memory, nonsense has none either",
          "[proc][counters]") {
  CHECK(parse_memory_status("Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n") == MemoryStatus{});
  CHECK_FALSE(parse_memory_status("VmRSS:\t99999999999999999999 kB\n").resident);
  CHECK_FALSE(parse_memory_status("VmRSS:\t18446744073709551615 kB\n").resident);
  CHECK_FALSE(parse_memory_status("VmRSS:\t12 MB\n").resident);
}

TEST_CASE("counters: switches need both lines", "[proc][counters]") {
  CHECK(parse_switches("voluntary_ctxt_switches:\t41\nnonvoluntary_ctxt_switches:\t12\n") ==
        Switches{41, 12});
  CHECK_FALSE(parse_switches("voluntary_ctxt_switches:\t41\n"));
}

TEST_CASE("counters: io of system calls and of storage", "[proc][counters]") {
  CHECK(parse_io("rchar: 100\nwchar: 20\nsyscr: 3\nsyscw: 2\nread_bytes: 4096\nwrite_bytes: 8192\n"
                 "cancelled_write_bytes: 0\n") == Io{100, 20, 4096, 8192});
  CHECK_FALSE(parse_io("rchar: 100\n"));
}

TEST_CASE("counters: processor time behind a name with parentheses", "[proc][counters]") {
  CHECK(parse_cpu_ticks("12 (a) b (c) S 1 1 1 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 99\n") ==
        CpuTicks{30, 70});
  CHECK_FALSE(parse_cpu_ticks("12 (a) S 1 1"));
  CHECK_FALSE(parse_cpu_ticks(""));
}

TEST_CASE("counters: the limit of descriptors is the soft one", "[proc][counters]") {
  CHECK(parse_descriptor_limit("Limit                     Soft Limit           Hard Limit\n"
                               "Max open files            1024                 524288  files\n") ==
        1024U);
  CHECK_FALSE(parse_descriptor_limit("Max open files            unlimited   unlimited files\n"));
  CHECK_FALSE(parse_descriptor_limit(""));
}

}  // namespace
}  // namespace tracso::proc
