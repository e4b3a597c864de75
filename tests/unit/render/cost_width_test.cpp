// On a terminal no line of stat, --who and dump is wider than it, and without one nothing is cut.

#include "tracso/stat.hpp"

#include "base/text.hpp"
#include "commands/memory_sampling.hpp"
#include "render/dump.hpp"
#include "render/stat_text.hpp"
#include "render/who.hpp"
#include "support/catch.hpp"

using namespace tracso;

namespace {

constexpr std::uint64_t megabyte = 1024 * 1024;

MemoryByClass memory_of_all_kinds() {
  MemoryByClass memory;
  for (auto& use : memory.uses) {
    use = {900 * megabyte, 130 * megabyte, 120 * megabyte, 110 * megabyte, 0};
  }
  return memory;
}

Attribution grown() {
  Attribution told;
  told.first_ns = 10'000'000;
  told.last_ns = 12'340'000'000;
  told.first_moment = "Py_RunMain";
  told.last_moment = "Py_FinalizeEx";
  const Change much{100 * megabyte, 923 * megabyte};
  told.parts = {much, much, much, much, much, much};
  told.python_version = "3.13.10";
  told.objects = told.object_bytes = much;
  told.types = {{"package.module.with_a_name.ThatIsLongerThanMost", much, much}};
  told.lines = {{"/srv/app/lib/python3.13/site-packages/package/module.py", 1234, much, much}};
  told.lines_known = true;
  told.stopped = std::chrono::milliseconds(123);
  told.not_told = {
      "what came after the last look: without ptrace nothing tells that it is about to end"};
  return told;
}

Stat stat_of_all_parts() {
  Stat stat;
  stat.exe = "/usr/bin/python3.13-with-a-suffix";
  stat.pid = 4194304;
  stat.command = CommandInfo{{"python3"}, 0, std::nullopt, 12'340'000'000};
  stat.wall_ns = stat.cpu_ns = stat.children_cpu_ns = 12'340'000'000;
  stat.peak = stat.resident = stat.private_bytes = stat.virtual_ = 12'345 * megabyte;
  stat.memory = memory_of_all_kinds();
  stat.libraries = {315, 496 * megabyte, 522 * megabyte, 127 * megabyte, 15 * megabyte, {}};
  stat.libraries_known = true;
  stat.heaviest = {{"libtorch_cpu-0123456789abcdef.so.1.13.0",
                    "/x/libtorch_cpu.so",
                    496 * megabyte,
                    127 * megabyte,
                    15 * megabyte,
                    {"py:torch._C", "py:sklearn.utils"}},
                   {"libz.so.1", "/x/libz.so.1", megabyte, megabyte, megabyte, {}}};
  stat.descriptors = DescriptorChange{3, 6, {}, {}, {}};
  stat.threads_before = 1;
  for (int i = 0; i < 9; ++i) {
    stat.threads.push_back({4'000'000 + i, "worker-thread-" + std::to_string(i)});
  }
  stat.tree = TreeTotals{3, 0, memory_of_all_kinds(), 1200, 300};
  stat.attribution = grown();
  stat.samples =
      MemorySamples{5'000'000, 12345, 7'000'000, {900 * megabyte, 1}, {900 * megabyte, 1}, {}};
  stat.used = WorkingSet{1'000'000'000, 900 * megabyte, 12 * megabyte, {{"libz.so.1", 900, 12}}, 1};
  stat.budgets = {{"no-leaks=fds", "0", 0, true, "none"},
                  {"deny",
                   "libgdal.so*",
                   2,
                   false,
                   "/usr/lib/x86_64-linux-gnu/libgdal.so.32, /opt/libgdal.so.33"}};
  stat.notices = {{"not-traced",
                   "the command was not traced, as --no-ptrace asks",
                   "its figures are from the last look before it ended",
                   "run it without that"}};
  return stat;
}

// A path and what cannot be broken stay whole.
void check_fits(std::string_view form, const std::string& text, std::size_t width) {
  for (const auto line : split(text, '\n')) {
    const bool one_word = trim(line).find(' ') == std::string_view::npos;
    if (display_width(line) > width && !one_word) {
      FAIL_CHECK(form << " at " << width << ": " << line);
    }
  }
}

}  // namespace

TEST_CASE("width: stat fits a terminal, and is whole where there is none", "[render][width]") {
  const Stat stat = stat_of_all_parts();
  for (const std::size_t width : {72U, 80U, 100U, 140U}) {
    for (const bool color : {false, true}) {
      RenderOptions options;
      options.width = width;
      options.color = color;
      const std::string text = stat_text(options, stat);
      if (!color) {
        check_fits("stat", text, width);
      }
      CHECK(text.find("worker-thread-8") != std::string::npos);
      CHECK(text.find("/opt/libgdal.so.33") != std::string::npos);
      CHECK(text.find("py:sklearn.utils") != std::string::npos);
    }
  }
  const std::string whole = stat_text({}, stat);
  CHECK(whole.find("libtorch_cpu-0123456789abcdef.so.1.13.0") != std::string::npos);
  CHECK(whole.find("ok     no-leaks=fds: none\n") != std::string::npos);
  CHECK(whole.find("private\n") != std::string::npos);  // no blanks where no owner is known
}

TEST_CASE("width: one look at a running process has no before", "[render][stat]") {
  Stat stat = stat_of_all_parts();
  stat.command.reset();
  stat.wall_ns.reset();
  stat.libraries.count = 1;
  const std::string text = stat_text({}, stat);
  CHECK(text.find("fds       6 open\n") != std::string::npos);
  CHECK(text.find("threads   9   ") != std::string::npos);
  CHECK(text.find(" 1 lib\n") != std::string::npos);
}

TEST_CASE("width: who and the head of a dump fit a terminal", "[render][width]") {
  const WhoTable table{"libssl",
                       {{4194304,
                         "gunicorn: worker",
                         "libssl.so.3",
                         "/usr/lib/x86_64-linux-gnu/libssl.so.3",
                         "",
                         "3.0.19",
                         "file name",
                         "replaced",
                         "docker:0123456789ab",
                         "cryptography 42.0.1"}},
                       7,
                       {}};
  Dump dump;
  dump.pid = 4194304;
  dump.command = "python3.13";
  dump.python_version = "3.13.10";
  dump.threads.resize(12);
  dump.holds = Holds{};
  for (const std::size_t width : {72U, 80U, 100U}) {
    RenderOptions options;
    options.width = width;
    check_fits("who", who_text(options, table), width);
    const std::string head = dump_text(options, dump, Names::as_they_are);
    check_fits("dump", head, width);
    CHECK(head.find("ms") != std::string::npos);
  }
}

TEST_CASE("stat --sample: the peak is no less than what was seen", "[compare][stat]") {
  Stat stat;
  stat.peak = 100;
  MemorySamples samples;
  samples.resident = {150, 7};
  add_samples(samples, stat);
  CHECK(stat.peak == 150);
  samples.resident = {120, 7};
  add_samples(samples, stat);
  CHECK(stat.peak == 150);
  stat.peak.reset();
  add_samples(samples, stat);
  CHECK_FALSE(stat.peak);
}
