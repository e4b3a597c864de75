#include "calls/call_lines.hpp"

#include "support/catch.hpp"

#include <cerrno>
#include <string>

using namespace tracso::calls;

namespace {

CallEvent call(std::uint64_t place, std::uint32_t slot = 0, std::int32_t thread = 1) {
  CallEvent event;
  event.kind = tracso_event_call;
  event.place = place;
  event.slot = slot;
  event.thread = thread;
  return event;
}

CallEvent back(std::uint64_t place,
               std::uint64_t value = 0,
               std::uint32_t slot = 0,
               std::int32_t thread = 1) {
  CallEvent event = call(place, slot, thread);
  event.kind = tracso_event_return;
  event.result.integer = value;
  return event;
}

CallSite site(const std::string& symbol) {
  return {symbol, "prog", true, Prototypes::built_in().find(symbol)};
}

LineOptions plain() {
  LineOptions options;
  options.caller = false;
  options.align = 0;
  return options;
}

}  // namespace

TEST_CASE("call lines: a call and its return are one line, results aligned", "[calls]") {
  auto options = plain();
  options.align = 20;
  CallLines lines(options);
  lines.add(0, call(1000), site("getpid"), "");
  CHECK(lines.take() == "getpid(");
  lines.add(0, back(1000, 77), site("getpid"), "");
  CHECK(lines.take() == ")           = 77\n");
}

TEST_CASE("call lines: calls inside a call leave it unfinished", "[calls]") {
  CallLines lines(plain());
  lines.add(0, call(1000), site("free"), "");
  lines.add(0, call(900, 1), site("getpid"), "");
  lines.add(0, back(900, 5, 1), site("getpid"), "");
  lines.add(0, back(1000), site("free"), "");
  CHECK(lines.take() ==
        "free(nil <unfinished ...>\n"
        "getpid() = 5\n"
        "<... free resumed> ) = <void>\n");
}

TEST_CASE("call lines: depth indents; what longjmp left behind does not", "[calls]") {
  auto options = plain();
  options.indent = 2;
  CallLines lines(options);
  for (const std::uint64_t place : {1000U, 900U, 800U}) {
    lines.add(0, call(place), site("getpid"), "");
  }
  lines.add(0, call(900), site("getuid"), "");
  lines.add(0, back(900, 1), site("getuid"), "");
  CHECK(lines.take() ==
        "getpid( <unfinished ...>\n  getpid( <unfinished ...>\n    getpid( <unfinished ...>\n"
        "  getuid() = 1\n");
}

TEST_CASE("call lines: threads interleave and are named", "[calls]") {
  CallLines lines(plain());
  lines.add(0, call(1000, 0, 1), site("getpid"), "");
  lines.add(0, call(5000, 0, 2), site("getuid"), "");
  lines.add(0, back(1000, 3, 0, 1), site("getpid"), "");
  lines.add(0, back(5000, 4, 0, 2), site("getuid"), "");
  CHECK(lines.take() ==
        "getpid( <unfinished ...>\n"
        "[pid 2] getuid( <unfinished ...>\n"
        "[pid 1] <... getpid resumed> ) = 3\n"
        "[pid 2] <... getuid resumed> ) = 4\n");
}

TEST_CASE("call lines: a return of which the call was not seen", "[calls]") {
  CallLines lines(plain());
  lines.add(0, back(1000, 3), site("fork"), "");
  lines.add(0, back(1000, 3), site("read"), "");
  CHECK(lines.take() == "<... fork resumed> ) = 3\n<... read resumed> ) = 3\n");
}

TEST_CASE("call lines: calls that do not come back", "[calls]") {
  CallLines lines(plain());
  auto only = call(1000);
  only.kind = tracso_event_only;
  lines.add(0, only, site("exit"), "");
  lines.add(0, only, site("dlclose"), "");
  lines.add(0, call(1000), site("getpid"), "");
  lines.end("+++ exited (status 0) +++");
  CHECK(lines.take() ==
        "exit(0 <no return ...>\n"
        "dlclose(nil) = ?\n"
        "getpid( <no return ...>\n"
        "+++ exited (status 0) +++\n");
}

TEST_CASE("call lines: failures say why", "[calls]") {
  auto result = back(1, ~std::uint64_t{0});
  result.result.error_number = ENOENT;
  CHECK(failure_text(result, site("open")) == " ENOENT (no such file or directory)");
  auto other = site("open");
  other.into_c_library = false;
  CHECK(failure_text(result, other).empty());
  CHECK(failure_text(result, site("getenv")).empty());
  result.result.error_number = 123456;
  CHECK(failure_text(result, site("open")).empty());
  CHECK(failure_text(back(1, 3), site("open")).empty());
  CHECK(failure_text(back(1, EBUSY), site("pthread_mutex_trylock")) ==
        " EBUSY (device or resource busy)");
}

TEST_CASE("call lines: times, place, caller, C++ names", "[calls]") {
  LineOptions options;
  options.align = 0;
  options.time = LineTime::epoch;
  options.took = true;
  options.instruction = true;
  options.demangle = true;
  CallLines lines(options);
  lines.set_time({0, 1'000'000'000'000'000, 1.0});
  auto one = call(1000);
  one.ticks = 2'000'000;
  auto end = back(1000);
  end.result.took = 1'500'000;
  const auto name = site("_ZN3foo3barEi");
  lines.add(0, one, name, "prog+0x10");
  lines.add(0, end, name, "");
  CHECK(lines.take() ==
        "1000000.002000 [prog+0x10] prog->foo::bar(int)(0, 0, 0, 0) = 0 <0.001500>\n");
}

TEST_CASE("call lines: names that a terminal would obey are escaped", "[calls]") {
  LineOptions options;
  options.align = 0;
  CallLines lines(options);
  lines.add(0, call(1), {"a\x1b[2J", "b\n", false, nullptr}, "");
  lines.add(0, back(1), {"a\x1b[2J", "b\n", false, nullptr}, "");
  const auto text = lines.take();
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\n') == text.size() - 1);
}
