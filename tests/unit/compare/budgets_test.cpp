#include "compare/budgets.hpp"

#include "compare/descriptor_change.hpp"
#include "support/catch.hpp"

namespace tracso {
namespace {

constexpr std::uint64_t megabyte = 1024 * 1024;

Tolerance tolerance(std::string_view text) {
  const auto parsed = parse_tolerance(text);
  REQUIRE(parsed);
  return *parsed;
}

TEST_CASE("tolerance: 100 MB may grow to 109 but not to 111 at 10%", "[compare][tolerance]") {
  CHECK(tolerance("10%").allows(100 * megabyte, 109 * megabyte));
  CHECK_FALSE(tolerance("10%").allows(100 * megabyte, 111 * megabyte));
}

TEST_CASE("tolerance: of two parts both must be exceeded", "[compare][tolerance]") {
  CHECK(tolerance("10%+20MB").allows(100 * megabyte, 109 * megabyte));
  CHECK(tolerance("10%+20MB").allows(100 * megabyte, 111 * megabyte));
  CHECK_FALSE(tolerance("10%+20MB").allows(100 * megabyte, 121 * megabyte));
  CHECK(tolerance("+2MB").allows(0, 2 * megabyte));
  CHECK_FALSE(tolerance("+2MB").allows(0, 2 * megabyte + 1));
  CHECK_FALSE(tolerance("0").allows(3, 4));
  CHECK(tolerance("0").allows(4, 3));
}

TEST_CASE("tolerance: what has no form is refused", "[compare][tolerance]") {
  for (const char* text : {"", "%", "x%", "10%5", "10%+", "-5%", "ten"}) {
    INFO(text);
    CHECK_FALSE(parse_tolerance(text));
  }
}

Descriptor open_on(std::int32_t fd, const std::string& link) {
  Descriptor descriptor;
  descriptor.fd = fd;
  descriptor.link = descriptor.target = link;
  return descriptor;
}

TEST_CASE("descriptor change: the same files on other numbers are no change",
          "[compare][descriptors]") {
  const std::vector<Descriptor> before{open_on(3, "/a"), open_on(4, "/b")};
  const std::vector<Descriptor> after{open_on(4, "/a"), open_on(7, "/b")};
  const auto change = compare_descriptors(before, after);
  CHECK(change.opened.empty());
  CHECK(change.closed.empty());
}

TEST_CASE("descriptor change: closed and opened again as something else",
          "[compare][descriptors]") {
  const std::vector<Descriptor> before{open_on(3, "/a")};
  const std::vector<Descriptor> after{open_on(3, "/b")};
  const auto change = compare_descriptors(before, after);
  REQUIRE(change.opened.size() == 1);
  CHECK(change.opened[0].target == "/b");
  REQUIRE(change.closed.size() == 1);
  CHECK(change.closed[0].target == "/a");
}

TEST_CASE("descriptor change: duplicates count one by one, the new numbers are the opened ones",
          "[compare][descriptors]") {
  const std::vector<Descriptor> before{open_on(5, "/a")};
  const std::vector<Descriptor> after{open_on(3, "/a"), open_on(5, "/a"), open_on(9, "/a")};
  const auto change = compare_descriptors(before, after);
  REQUIRE(change.opened.size() == 2);
  CHECK(change.opened[0].fd == 3);
  CHECK(change.opened[1].fd == 9);
}

TEST_CASE("descriptor change: standard streams are never leaks", "[compare][descriptors]") {
  const std::vector<Descriptor> before;
  const std::vector<Descriptor> after{open_on(0, "/x"), open_on(2, "/y"), open_on(3, "/z")};
  const auto change = compare_descriptors(before, after);
  CHECK(change.opened.size() == 3);
  REQUIRE(change.leaked.size() == 1);
  CHECK(change.leaked[0].fd == 3);
}

Stat stat_with(std::size_t leaked) {
  Stat stat;
  stat.descriptors.emplace();
  for (std::size_t i = 0; i < leaked; ++i) {
    stat.descriptors->leaked.push_back(open_on(static_cast<std::int32_t>(3 + i), "/leak"));
  }
  stat.threads = {{1, "main"}};
  stat.library_names = {"/usr/lib/libgdal.so.32", "/usr/lib/libc.so.6"};
  stat.libraries_known = true;
  return stat;
}

Limits no_leaks_of_fds() {
  Limits limits;
  limits.no_leaks.fds = true;
  return limits;
}

TEST_CASE("budgets: a leak counts only if every run has it", "[compare][budgets]") {
  const std::vector<LeakCounts> some{{2, 0, 0}, {2, 0, 0}, {0, 0, 0}};
  const std::vector<LeakCounts> all{{2, 0, 0}, {2, 0, 0}, {1, 0, 0}};
  const Stat last = stat_with(2);
  CHECK(check_limits(no_leaks_of_fds(), {}, some, last).front().ok);
  CHECK(check_limits(no_leaks_of_fds(), {}, some, last).front().text.find("not in all 3") !=
        std::string::npos);
  CHECK_FALSE(check_limits(no_leaks_of_fds(), {}, all, last).front().ok);
}

TEST_CASE("budgets: many leaked descriptors are told by what they are open on",
          "[compare][budgets]") {
  Stat stat;
  stat.threads = {{1, "main"}};
  stat.descriptors = DescriptorChange{};
  auto& leaked = stat.descriptors->leaked;
  for (std::int32_t fd = 3; fd < 42; ++fd) {
    leaked.push_back(open_on(fd, "/etc/hostname"));
    Descriptor pipe = open_on(fd + 100, "pipe:[" + std::to_string(fd) + "]");
    pipe.kind = DescriptorKind::pipe;
    leaked.push_back(pipe);
    Descriptor tcp = open_on(fd + 200, "10.0.0.2:" + std::to_string(fd) + " -> 10.0.0.9:5432");
    tcp.kind = DescriptorKind::tcp;
    leaked.push_back(tcp);
  }
  leaked.push_back(open_on(900, "/one"));
  leaked.push_back(open_on(901, "/etc/hostname"));
  Limits limits;
  limits.no_leaks.fds = true;
  const std::vector<LeakCounts> runs{leaks_of(stat)};
  const auto budgets = check_limits(limits, figures_of(stat), runs, stat);
  REQUIRE(budgets.size() == 1);
  CHECK(budgets[0].text ==
        "119 left over: 40 x /etc/hostname, 39 x pipe, 39 x tcp -> 10.0.0.9:5432, /one (fd 900)");
}

TEST_CASE("budgets: the peak of a child is no part of its parent's, but of the tree's",
          "[compare][budgets]") {
  Stat stat;
  stat.threads = {{1, "sh"}};
  stat.peak = megabyte;
  stat.child_peaks = {2, 1, 200 * megabyte, 42, "python3"};
  Limits limits;
  limits.most = {{"peak", 20 * megabyte, "20M"}};
  const auto check = [&] {
    const std::vector<LeakCounts> runs{leaks_of(stat)};
    return check_limits(limits, figures_of(stat), runs, stat).front();
  };
  CHECK(check().ok);
  CHECK(check().remark ==
        "2 children ended; the largest, python3 (42), reached 200.0 MB, which is not in this: "
        "--children; what 1 child reached was not seen");
  stat.tree = TreeTotals{};
  CHECK_FALSE(check().ok);
  CHECK(check().value == 200 * megabyte);
  CHECK(check().remark.starts_with("reached by python3 (42)"));
  stat.child_peaks = {2, 0, megabyte / 2, 42, "python3"};
  CHECK(check().value == megabyte);
  CHECK(check().remark.empty());
}

TEST_CASE("budgets: a figure at its limit is kept, one that is not known is not",
          "[compare][budgets]") {
  Limits limits;
  limits.most = {{"rss", 100, "100"}, {"peak", 100, "100"}};
  StatFigures figures;
  figures.rss = 100;
  const auto budgets = check_limits(limits, figures, {}, stat_with(0));
  REQUIRE(budgets.size() == 2);
  CHECK(budgets[0].ok);
  CHECK_FALSE(budgets[1].ok);
  CHECK(budgets[1].text == "not known");
  figures.rss = 101;
  CHECK_FALSE(check_limits(limits, figures, {}, stat_with(0))[0].ok);
}

TEST_CASE("budgets: what breaks a limit differs from it as it is shown", "[compare][budgets]") {
  constexpr std::uint64_t mega = 1ULL << 20;
  Limits limits;
  limits.most = {{"peak", mega, "1M"}, {"fds", 7, "7"}};
  StatFigures figures;
  figures.peak = mega + 4096;
  figures.fds = 8;
  auto budgets = check_limits(limits, figures, {}, stat_with(0));
  CHECK(budgets[0].text == "1.004 MB");
  CHECK(budgets[1].text == "8");
  figures.peak = mega;
  CHECK(check_limits(limits, figures, {}, stat_with(0))[0].text == "1.0 MB");
  Baseline baseline;
  baseline.figures.peak = mega;
  figures.peak = mega + 1;
  budgets = check_baseline(baseline, {}, {figures, {}}, {});
  CHECK(budgets[0].text == "1048576 B -> 1048577 B");
}

TEST_CASE("budgets: a denied library is named", "[compare][budgets]") {
  Limits limits;
  limits.denied = {"libgdal.so*", "libtorch*"};
  const auto budgets = check_limits(limits, {}, {}, stat_with(0));
  REQUIRE(budgets.size() == 2);
  CHECK_FALSE(budgets[0].ok);
  CHECK(budgets[0].text == "/usr/lib/libgdal.so.32");
  CHECK(budgets[1].ok);
}

TEST_CASE("budgets: what could not be looked at keeps no limit", "[compare][budgets]") {
  Stat unseen;
  CHECK_FALSE(figures_of(unseen).libs);
  CHECK_FALSE(figures_of(unseen).children);
  Limits limits;
  limits.most = {{"libs", 9, "9"}, {"children", 9, "9"}};
  limits.denied = {"libgdal.so*"};
  limits.no_leaks = {true, true, true};
  const std::vector<LeakCounts> runs{leaks_of(unseen)};
  for (const Budget& budget : check_limits(limits, figures_of(unseen), runs, unseen)) {
    INFO(budget.name << ": " << budget.text);
    CHECK_FALSE(budget.ok);
  }
  unseen.threads = {{1, "main"}};
  unseen.libraries_known = true;
  CHECK(figures_of(unseen).libs == 0U);
  CHECK(figures_of(unseen).children == 0U);
}

TEST_CASE("budgets: the median of the runs is compared", "[compare][budgets]") {
  StatFigures low;
  low.rss = 10;
  StatFigures middle;
  middle.rss = 20;
  StatFigures high;
  high.rss = 1000;
  CHECK(median_of(std::vector{high, low, middle}).rss == 20U);
  middle.rss.reset();
  CHECK_FALSE(median_of(std::vector{high, low, middle}).rss);
}

TEST_CASE("budgets: against a baseline, defaults and tolerances by name", "[compare][budgets]") {
  Baseline baseline;
  baseline.figures.rss = 100 * megabyte;
  baseline.figures.fds = 3;
  baseline.libraries = {"libc.so.6"};
  StatFigures now;
  now.rss = 111 * megabyte;
  now.fds = 3;
  const std::vector<std::string> same{"/lib/libc.so.6"};
  const auto ok = [&](const Tolerances& tolerances, std::string_view name) {
    for (const Budget& one : check_baseline(baseline, tolerances, {now, {}}, same)) {
      if (one.name == name) {
        return one.ok;
      }
    }
    FAIL(name);
    return false;
  };
  CHECK_FALSE(ok({}, "regression:rss"));
  Tolerances wide;
  wide.bytes = tolerance("20%");
  CHECK(ok(wide, "regression:rss"));
  wide.named.emplace_back("rss", tolerance("1%"));
  CHECK_FALSE(ok(wide, "regression:rss"));
  CHECK(ok({}, "regression:fds"));
  now.fds = 4;
  CHECK_FALSE(ok({}, "regression:fds"));
  CHECK(ok({}, "regression:new-libs"));
  const std::vector<std::string> more{"/lib/libc.so.6", "/lib/libnew.so.1"};
  CHECK_FALSE(check_baseline(baseline, {}, {now, {}}, more).back().ok);
  CHECK(check_baseline(baseline, {}, {now, {}}, more).back().text == "libnew.so.1");
}

TEST_CASE(
    "budgets: a figure of the baseline that could not be measured fails, one that this look "
    "cannot tell does not",
    "[compare][budgets]") {
  Baseline baseline;
  baseline.figures.rss = 10;
  baseline.figures.peak = 12;
  const auto budgets = check_baseline(baseline, {}, {{}, {"rss", "libs"}}, {});
  REQUIRE(budgets.size() == 2);
  CHECK(budgets[0].name == "regression:rss");
  CHECK_FALSE(budgets[0].ok);
  CHECK(budgets[0].text == "10 B -> not known");
  CHECK(budgets[1].name == "regression:new-libs");
  CHECK(budgets[1].ok);
  CHECK(check_baseline(baseline, {}, {{}, {}}, {}).size() == 3);
}

}  // namespace
}  // namespace tracso
