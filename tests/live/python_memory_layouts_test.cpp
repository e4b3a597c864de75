// The table of layouts against the headers of every Python here, and against what a living one says
// of itself.

#include "base/text.hpp"
#include "python/interpreter.hpp"
#include "python/layouts.hpp"
#include "python/memory_reader.hpp"
#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/python_target.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <map>
#include <string>

using namespace tracso;
using namespace tracso::python;

namespace {

using Numbers = std::map<std::string, std::uint64_t>;

Numbers numbers_of(const Layout& row) {
  const auto& [minor, free_threaded, interpreter, object, thread, frame, code] = row;
  Numbers numbers{{"minor", minor},
                  {"free_threaded", free_threaded ? 1 : 0},
                  {"interpreter.head", interpreter.head},
                  {"interpreter.next", interpreter.next},
                  {"interpreter.id", interpreter.id},
                  {"interpreter.threads", interpreter.threads},
                  {"interpreter.modules", interpreter.modules},
                  {"interpreter.sysdict", interpreter.sysdict},
                  {"object.bytes", object.bytes},
                  {"object.type", object.type},
                  {"object.cached_keys", object.cached_keys},
                  {"object.ascii", object.ascii},
                  {"object.compact", object.compact},
                  {"thread.next", thread.next},
                  {"thread.interpreter", thread.interpreter},
                  {"thread.thread_id", thread.thread_id},
                  {"thread.native_id", thread.native_id},
                  {"thread.frame", thread.frame},
                  {"frame.previous", frame.previous},
                  {"frame.code", frame.code},
                  {"frame.instruction", frame.instruction},
                  {"frame.owner", frame.owner},
                  {"frame.locals", frame.locals},
                  {"frame.globals", frame.globals},
                  {"frame.copy", frame.copy},
                  {"frame.entry", frame.entry},
                  {"code.filename", code.filename},
                  {"code.name", code.name},
                  {"code.first_line", code.first_line},
                  {"code.qualified_name", code.qualified_name},
                  {"code.instructions", code.instructions},
                  {"code.line_table", code.line_table},
                  {"code.copies", code.copies}};
  if (thread.cframe_to) {
    numbers["thread.cframe_to"] = *thread.cframe_to;
  }
  return numbers;
}

// What all versions share, as the headers should say it.
const Numbers common = {{"body.type_name", body::type_name},
                        {"body.type_basicsize", body::type_basicsize},
                        {"body.type_flags", body::type_flags},
                        {"body.type_base", body::type_base},
                        {"body.type_dict", body::type_dict},
                        {"body.type_dictoffset", body::type_dictoffset},
                        {"body.type_mro", body::type_mro},
                        {"body.bytes_size", body::bytes_size},
                        {"body.bytes_data", body::bytes_data},
                        {"body.tuple_size", body::tuple_size},
                        {"body.tuple_items", body::tuple_items},
                        {"body.text_length", body::text_length},
                        {"body.text_hash", body::text_hash},
                        {"body.text_state", body::text_state},
                        {"body.integer_size", body::integer_size},
                        {"body.integer_digits", body::integer_digits},
                        {"body.module_dict", 0},
                        {"body.dict_used", body::dict_used},
                        {"body.dict_keys", body::dict_keys},
                        {"body.dict_values", body::dict_values},
                        {"table.log2_slots", table::log2_slots},
                        {"table.log2_index_bytes", table::log2_index_bytes},
                        {"table.kind", table::kind},
                        {"table.count", table::count},
                        {"table.indices", table::indices},
                        {"value_array.valid", value_array::valid},
                        {"value_array.first", value_array::first}};

// Compiles the printing program against the headers of a Python; empty: it has no headers.
Numbers numbers_of_headers(const std::string& folder) {
  const std::string program = test::scratch_folder() + "/python-offsets";
  test::Child compiler(
      {"cc", "-w", "-I", folder, test::tests_file("support/python_offsets.c"), "-o", program});
  Numbers numbers;
  if (compiler.wait() == 0) {
    test::Child printing({program});
    while (const auto line = printing.line()) {
      const auto parts = split(*line, '=');
      numbers[std::string(parts[0])] = parse_unsigned(parts[1]).value();
    }
  }
  ::unlink(program.c_str());
  return numbers;
}

// Patch releases of 3.14 and later move fields of the interpreter state: there the rows are only a
// first guess, and the process itself says better.
bool may_move(const std::string& name, std::uint64_t minor) {
  return minor >= 14 && name.rfind("interpreter.", 0) == 0;
}

void compare(const Numbers& printed) {
  const auto minor = printed.at("minor");
  const auto* row =
      find_layout(static_cast<std::uint32_t>(minor), printed.at("free_threaded") == 1);
  REQUIRE(row != nullptr);
  const auto table = numbers_of(*row);
  for (const auto& [name, value] : printed) {
    INFO("3." << minor << " " << name);
    if (!may_move(name, minor)) {
      const auto known = table.find(name);
      CHECK((known != table.end() ? known->second : common.at(name)) == value);
    }
  }
  for (const auto& [name, value] : table) {
    INFO("3." << minor << " " << name);
    CHECK(printed.count(name) == 1);
  }
}

}  // namespace

TEST_CASE("layouts: every row says what the headers of that version say", "[live][python]") {
  int compared = 0;
  for (const auto& python : test::pythons()) {
    test::Child asking(
        {python.program, "-c", "import sysconfig;print(sysconfig.get_path('include'))"});
    const auto folder = asking.line();
    REQUIRE(folder);
    if (::access((*folder + "/internal/pycore_pystate.h").c_str(), R_OK) != 0) {
      WARN(python.program << " " << python.label << " has no headers here");
      continue;
    }
    const auto printed = numbers_of_headers(*folder);
    INFO(python.program << " " << python.label << " " << *folder);
    REQUIRE_FALSE(printed.empty());
    compare(printed);
    ++compared;
  }
  CHECK(compared > 0);
}

TEST_CASE("layouts: what a 3.13 says of itself is what its row says", "[live][python]") {
  int compared = 0;
  for (const auto& python : test::pythons()) {
    test::Child child({python.program, "-c", "print('ready', flush=True); input()"});
    REQUIRE(child.line() == "ready");
    auto target = test::live_target(child.pid());
    REQUIRE(target);
    const auto found = find_interpreter(target->input);
    REQUIRE(found);
    REQUIRE(found->runtimes.size() == 1);
    MemoryReader memory(*target->process, {});
    std::vector<std::uint64_t> words(debug_offsets_words);
    REQUIRE(memory.read(found->runtimes[0].address, std::as_writable_bytes(std::span(words))));
    const auto said = layout_from_debug_offsets(words);
    const bool free_threaded = python.label.find("free-threaded") != std::string::npos;
    INFO(python.program << " " << python.label);
    CHECK(said.has_value() == (found->runtimes[0].minor >= 13));
    if (said) {
      const auto row = find_layout(said->minor, free_threaded);
      REQUIRE(row != nullptr);
      const auto table = numbers_of(*row);
      for (const auto& [name, value] : numbers_of(*said)) {
        INFO(name);
        CHECK((may_move(name, said->minor) || table.at(name) == value));
      }
      ++compared;
    }
  }
  if (compared == 0) {
    FAIL("no Python from 3.13 on is here: their own description was not tested");
  }
}
