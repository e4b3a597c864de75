#include "cli/cost_options.hpp"
#include "commands/stat_request.hpp"
#include "support/catch.hpp"

namespace tracso {
namespace {

using Words = std::vector<std::string>;

template <class Wanted>
Wanted parsed(const Words& words) {
  const auto result = parse_cost_options(words);
  REQUIRE(result);
  if (const auto* leave = std::get_if<Leave>(&*result)) {
    FAIL(leave->err);
  }
  return std::get<Wanted>(std::get<CostRequest>(*result));
}

StatRequest stat_of(const Words& words) {
  return parsed<StatRequest>(words);
}

int refused(const Words& words) {
  const auto result = parse_cost_options(words);
  REQUIRE(result);
  const auto* leave = std::get_if<Leave>(&*result);
  return leave == nullptr ? -1 : leave->status;
}

TEST_CASE("stat options: CMD begins at the first word that is no option of ours", "[cli][stat]") {
  CHECK(stat_of({"stat", "ls", "-l", "--json"}).argv == Words{"ls", "-l", "--json"});
  CHECK(stat_of({"stat", "--json", "ls"}).output.json);
  CHECK(stat_of({"stat", "--runs", "3", "ls"}).argv == Words{"ls"});
  CHECK(stat_of({"stat", "--runs=3", "ls"}).runs == 3);
  CHECK(stat_of({"stat", "--", "--odd", "-x"}).argv == Words{"--odd", "-x"});
  CHECK(stat_of({"stat", "ls", "--", "x"}).argv == Words{"ls", "--", "x"});
  CHECK(stat_of({"stat", "--no-leaks", "ls"}).argv == Words{"ls"});
  CHECK(stat_of({"stat", "sh", "--run", "x"}).argv == Words{"sh", "--run", "x"});
}

TEST_CASE("stat options: times are finite, and a leak wants two looks", "[cli][stat]") {
  for (const char* time : {"nan", "inf", "infinity", "-1", "0", "1e99", "5x"}) {
    INFO(time);
    CHECK(refused({"stat", "-p", "1", "--for", time}) == 2);
    CHECK(refused({"stat", "--baseline-after", time, "ls"}) == 2);
    CHECK(refused({"stat", "--sample", time, "ls"}) == 2);
    CHECK(refused({"watch", "1", "--interval", time}) == 2);
    CHECK(refused({"watch", "1", "--for", time}) == 2);
    CHECK(refused({"fds", "1", "--rate", time}) == 2);
    if (std::string_view(time) != "0") {
      CHECK(refused({"stat", "--tolerance", std::string("rss=") + time + "%", "ls"}) == 2);
    }
  }
  CHECK(refused({"stat", "-p", "1", "--no-leaks"}) == 2);
  CHECK(stat_of({"stat", "-p", "1", "--no-leaks", "--for", "1"}).limits.no_leaks.fds);
}

TEST_CASE("stat options: attribution, samples, rates", "[cli][stat]") {
  CHECK_FALSE(stat_of({"stat", "ls"}).attribution);
  CHECK(stat_of({"stat", "--attribution", "ls"}).attribution == AttributionDepth::parts);
  CHECK(stat_of({"stat", "--attribution=objects", "ls"}).attribution == AttributionDepth::objects);
  CHECK(stat_of({"stat", "--sample", "0.5", "ls"}).sample == std::chrono::microseconds(500));
  CHECK(stat_of({"stat", "-p", "7", "--sample", "5", "--for", "1"}).sample.has_value());
  CHECK(refused({"stat", "--attribution=lines", "ls"}) == 2);
  CHECK(refused({"stat", "--attribution=", "ls"}) == 2);
  CHECK(refused({"stat", "--no-leaks=", "ls"}) == 2);
  CHECK(refused({"stat", "--sample", "0", "ls"}) == 2);
  CHECK(refused({"stat", "-p", "7", "--sample", "5"}) == 2);
  CHECK(parsed<FdsRequest>({"fds", "7", "--rate", "2"}).rate_over == std::chrono::seconds(2));
  CHECK(refused({"fds", "7", "--rate", "x"}) == 2);
}

TEST_CASE("stat options: one that stands behind CMD is remembered, unless it is a usual word",
          "[cli][stat]") {
  CHECK(stat_of({"stat", "ls", "--max-rss", "1M"}).stray == "--max-rss");
  CHECK(stat_of({"stat", "ls", "--max-rss=1M"}).stray == "--max-rss");
  CHECK(stat_of({"stat", "--", "ls", "--max-rss", "1M"}).stray.empty());
  CHECK(stat_of({"stat", "ls", "--json", "--verbose"}).stray.empty());
  CHECK(stat_of({"stat", "ls", "--max-rows"}).stray.empty());
}

TEST_CASE("stat options: limits, leaks and tolerances", "[cli][stat]") {
  const auto request = stat_of({"stat",
                                "--max-rss",
                                "64M",
                                "--max-fds=10",
                                "--no-leaks=fds,threads",
                                "--deny",
                                "libx*",
                                "ls"});
  REQUIRE(request.limits.most.size() == 2);
  CHECK(request.limits.most[0].name == "rss");
  CHECK(request.limits.most[0].most == 64ULL << 20);
  CHECK(request.limits.most[1].most == 10);
  CHECK(request.limits.no_leaks.fds);
  CHECK(request.limits.no_leaks.threads);
  CHECK_FALSE(request.limits.no_leaks.children);
  CHECK(request.limits.denied == Words{"libx*"});
  CHECK(stat_of({"stat", "--no-leaks", "ls"}).limits.no_leaks.children);
  CHECK(stat_of({"stat", "--baseline", "b.json", "--tolerance", "rss=5%+1MB", "ls"}).runs == 3);
}

TEST_CASE("stat options: what makes no sense is usage", "[cli][stat]") {
  CHECK(refused({"stat"}) == 2);
  CHECK(refused({"stat", "-p", "x"}) == 2);
  CHECK(refused({"stat", "-p", "1", "ls"}) == 2);
  CHECK(refused({"stat", "--max-rss", "many", "ls"}) == 2);
  CHECK(refused({"stat", "--max-rsss", "1", "ls"}) == 2);
  CHECK(refused({"stat", "--no-leaks=files", "ls"}) == 2);
  CHECK(refused({"stat", "--fail-on-regression", "10%", "ls"}) == 2);
  CHECK(refused({"stat", "--baseline", "x", "--tolerance", "size=1", "ls"}) == 2);
  CHECK(refused({"stat", "--runs", "0", "ls"}) == 2);
  CHECK(refused({"stat", "--for", "1", "ls"}) == 2);
  CHECK(refused({"stat", "-p", "1", "--runs", "2"}) == 2);
  CHECK(refused({"stat", "-p", ""}) == 2);
}

TEST_CASE("stat options: a process by number", "[cli][stat]") {
  const auto request = stat_of({"stat", "-p", "4192", "--for", "0.5", "--reset-peak"});
  CHECK(request.pid == 4192);
  CHECK(request.watch_for == std::chrono::milliseconds(500));
  CHECK(request.reset_peak);
  CHECK(request.argv.empty());
}

TEST_CASE("fds, watch and diff options", "[cli][stat]") {
  CHECK(parsed<FdsRequest>({"fds", "4192", "--queues"}).queues);
  CHECK(parsed<FdsRequest>({"fds", "4192", "-o", "x.csv"}).csv);
  CHECK(refused({"fds"}) == 2);
  CHECK(refused({"fds", "4192", "--csv", "--json"}) == 2);
  const auto watch = parsed<WatchRequest>({"watch", "4192", "--interval", "0.5", "--for", "60"});
  CHECK(watch.interval == std::chrono::milliseconds(500));
  CHECK(watch.watch_for == std::chrono::milliseconds(60'000));
  CHECK(refused({"watch", "4192", "--interval", "0"}) == 2);
  CHECK(watch.stream_format == StreamFormat::jsonl);
  CHECK(parsed<WatchRequest>({"watch", "4192", "--stream", "x", "--stream-format", "text"})
            .stream_format == StreamFormat::text);
  CHECK(refused({"watch", "4192", "--stream-format", "text"}) == 2);
  CHECK(refused({"watch", "4192", "--stream", "x", "--stream-format", "xml"}) == 2);
  CHECK(stat_of({"stat", "--children", "-v", "ls"}).children);
  const auto diff = parsed<DiffRequest>({"diff", "a.json", "4192", "--fail-on", "libs>0"});
  CHECK(diff.before == "a.json");
  CHECK(diff.after == "4192");
  CHECK(diff.gates.size() == 1);
  CHECK(refused({"diff", "a.json"}) == 2);
}

}  // namespace
}  // namespace tracso
