#include "python/gdb_script.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace tracso;
using namespace tracso::python;

namespace {

GdbScriptInput an_input() {
  GdbScriptInput input;
  input.pid = 4711;
  for (std::size_t i = 0; i < input.functions.size(); ++i) {
    input.functions[i] = 0x7f0000001000 + i * 0x10;
  }
  input.current_state = 0x7f0000002000;
  input.eval = 0x7f0000003000;
  input.eval_bytes = 0x500;
  input.own = 0x7f0000000000;
  input.own_end = 0x7f0000100000;
  return input;
}

bool has_line(const std::string& script, std::string_view wanted) {
  const auto lines = split(script, '\n');
  return std::any_of(
      lines.begin(), lines.end(), [&](std::string_view line) { return trim(line) == wanted; });
}

std::size_t position(const std::string& script, std::string_view text) {
  const auto at = script.find(text);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return at;
}

}  // namespace

TEST_CASE("gdb script: functions are addresses, never symbols", "[python][gdb]") {
  const auto script = gdb_script(an_input());
  CHECK(has_line(script, "set $PyGILState_Check = 0x7f0000001000"));
  CHECK(has_line(script, "set $Py_DecRef = 0x7f00000010e0"));
  CHECK(has_line(script, "set $own_end = 0x7f0000100000"));
  CHECK(has_line(script, "set $eval_end = 0x7f0000003500"));
  for (const auto name : gdb_functions) {
    for (auto at = script.find(name); at != std::string::npos; at = script.find(name, at + 1)) {
      INFO(script.substr(at > 40 ? at - 40 : 0, 80));
      CHECK(script[at - 1] == '$');
    }
  }
}

TEST_CASE("gdb script: no string literal reaches a call", "[python][gdb]") {
  // gdb would call malloc() in the target for it.
  const std::string script = gdb_script(an_input());
  for (const auto line : split(script, '\n')) {
    if (!trim(line).starts_with("shell")) {
      INFO(line);
      CHECK(line.find('"') == std::string_view::npos);
      CHECK(line.find('\'') == std::string_view::npos);
    }
  }
}

TEST_CASE("gdb script: no placeholder is left", "[python][gdb]") {
  CHECK(gdb_script(an_input()).find('@') == std::string::npos);
}

TEST_CASE("gdb script: the target is asked for by its number", "[python][gdb]") {
  CHECK(has_line(gdb_script(an_input()), "attach 4711"));
}

TEST_CASE("gdb script: nothing is called before the gate", "[python][gdb]") {
  const auto script = gdb_script(an_input());
  const auto attach = position(script, "attach 4711");
  const auto gate = script.find("shell read word <&3", attach);
  REQUIRE(gate != std::string::npos);
  CHECK(script.find("(*)", attach) == std::string::npos);
  CHECK(script.find("tracso_work", attach) > gate);
  CHECK(position(script, "echo TRACSO: attached") < gate);
}

TEST_CASE("gdb script: registers are tried before anything that depends on them", "[python][gdb]") {
  const auto script = gdb_script(an_input());
  CHECK(position(script, "thread apply 1 -q -s tracso_try_registers") <
        position(script, "echo TRACSO: attached"));
}

TEST_CASE("gdb script: a second gate stands between the safe point and the call", "[python][gdb]") {
  const auto script = gdb_script(an_input());
  const auto safe_point = position(script, "echo TRACSO: safe point");
  const auto gate = script.find("shell read word <&3", safe_point);
  CHECK(gate < script.find("tracso_run", safe_point));
}

TEST_CASE("gdb script: the place is tested after the wait", "[python][gdb]") {
  // After an interrupt gdb goes on with the script wherever the target stands.
  const auto script = gdb_script(an_input());
  const auto wait = position(script, "  continue\n");
  const auto test = position(script, "if $_thread == 1 && $pc == $PyCallable_Check");
  CHECK(wait < test);
  CHECK(test < position(script, "echo TRACSO: safe point"));
  CHECK(position(script, "echo TRACSO: waiting") < wait);
}

TEST_CASE("gdb script: what is known of the lock depends on the version", "[python][gdb]") {
  auto input = an_input();
  SECTION("until 3.11 one variable tells") {
    input.lock = LockKnowledge::current_state;
    CHECK(has_line(gdb_script(input), "set $current_state = 0x7f0000002000"));
    CHECK(has_line(gdb_script(input), "set $ask_each = 0"));
  }
  SECTION("without that function every thread is asked") {
    input.lock = LockKnowledge::current_state;
    input.current_state = 0;
    CHECK(has_line(gdb_script(input), "set $ask_each = 1"));
  }
  SECTION("from 3.12 on every thread is asked") {
    input.lock = LockKnowledge::each_thread;
    CHECK(has_line(gdb_script(input), "set $current_state = 0x0"));
    CHECK(has_line(gdb_script(input), "set $ask_each = 1"));
    CHECK(has_line(gdb_script(input), "set $no_lock = 0"));
  }
  SECTION("a free-threaded build has no lock") {
    input.lock = LockKnowledge::no_lock;
    CHECK(has_line(gdb_script(input), "set $no_lock = 1"));
  }
}

TEST_CASE("gdb script: old registers come with a description of their own", "[python][gdb]") {
  auto input = an_input();
  CHECK(gdb_script(input).find("tdesc") == std::string::npos);
  input.registers = Registers::legacy;
  CHECK(has_line(gdb_script(input), "set tdesc filename /proc/self/fd/6"));
  const auto xml = legacy_registers();
  for (const std::string_view name :
       {"rax", "r15", "rip", "st7", "xmm15", "mxcsr", "orig_rax", "gs_base"}) {
    INFO(name);
    CHECK(xml.find("name=\"" + std::string(name) + "\"") != std::string::npos);
  }
  CHECK(xml.find("xmm16") == std::string::npos);
  CHECK(xml.find("r16") == std::string::npos);
}

TEST_CASE("injected code: the names of the C API stand where the script looks", "[python][gdb]") {
  const auto code = injected_code();
  CHECK(std::string(code.c_str()) == "modules");
  CHECK(std::string(code.c_str() + 8) == "r");
  CHECK(code.substr(16, 2) == "\nt");
  CHECK(code.back() == '\0');
  CHECK(code.find('\0', 16) == code.size() - 1);
  const auto script = gdb_script(an_input());
  CHECK(script.find("$names + 16, 257") != std::string::npos);
  CHECK(script.find("(void*)0, " + std::to_string(code.size()) + ")") != std::string::npos);
}

TEST_CASE("injected code: nothing is imported and no builtin is named", "[python][gdb]") {
  const auto code = injected_code().substr(16);
  for (const std::string_view word :
       {"import", "open(", "getattr", "isinstance", "len(", "type(", "str(", "list(", "print"}) {
    INFO(word);
    CHECK(code.find(word) == std::string::npos);
  }
}
