// What is recorded of each load is what glibc's loader says itself, in the same run.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/loader_words.hpp"
#include "support/plugin_programs.hpp"
#include "support/run_program.hpp"
#include "support/run_support.hpp"

#include <algorithm>
#include <filesystem>

using namespace tracso;
using namespace tracso::test;

namespace {

using launch::LoadCause;
using launch::LoadRecord;

bool is_told(const LoadRecord& load) {
  const bool loader_or_vdso = load.name.find("/ld-linux") != std::string::npos ||
                              load.name.find("linux-vdso") != std::string::npos;
  return !load.name.empty() && !loader_or_vdso;
}

std::string name_of(const std::vector<LoadRecord>& loads, std::uint64_t dynamic) {
  const auto load = std::find_if(
      loads.begin(), loads.end(), [&](const LoadRecord& l) { return l.dynamic == dynamic; });
  return load == loads.end() ? "?" : load->name;
}

// The words of the process that the run was about.
std::string words_of(const std::string& prefix, std::int32_t pid) {
  return read_file(prefix + "." + std::to_string(pid));
}

void check_against_loader(const Arguments& command) {
  const TemporaryFolder folder;
  const std::string prefix = folder / "words";
  Arguments argv = {"env", "LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + prefix};
  argv.insert(argv.end(), command.begin(), command.end());
  const SeenRun ran = run(argv, [](launch::RunOptions& options) { options.record_loads = true; });
  REQUIRE(ran.result);
  const auto& loads = ran.result->loads;
  const auto told = parse_loader_words(words_of(prefix, ran.result->pid));
  CAPTURE(command, ran.out, loads.size(), told.size());
  REQUIRE_FALSE(told.empty());

  auto truth = told.begin();
  for (const LoadRecord& load : loads) {
    if (!is_told(load)) {
      continue;
    }
    // What came and went within a dlopen that failed is only told there.
    truth = std::find_if(truth, told.end(), [&](const ToldLoad& t) {
      // Another object may have had the address before.
      const bool is_it = t.dynamic == load.dynamic && base_name(t.file) == base_name(load.name);
      return is_it || !t.destroyed;
    });
    CAPTURE(load.name);
    REQUIRE(truth != told.end());
    CHECK(truth->dynamic == load.dynamic);
    CHECK(truth->destroyed == load.unloaded.has_value());
    CHECK(truth->by_dlopen == (load.cause == LoadCause::dlopen));
    const std::string requester = name_of(loads, load.requester);
    CHECK((requester == truth->requester || (requester.empty() && truth->requester == command[0])));
    ++truth;
  }
  CHECK(std::all_of(truth, told.end(), [](const ToldLoad& t) { return t.destroyed; }));
}

}  // namespace

TEST_CASE("run loads: agree with the loader for plugins", "[live][run][loads]") {
  const auto made = plugin_programs("truth");
  check_against_loader({made.program,
                        "open:" + (made / "plugin.so"),
                        "plugin:" + (made / "inner.so"),
                        "open:" + (made / "needy.so"),
                        "open:" + (made / "undefined.so"),
                        "open:" + (made / "old.so"),
                        "close:" + (made / "inner.so"),
                        "plugin:" + (made / "inner.so")});
}

TEST_CASE("run loads: agree with the loader for pythons", "[live][run][loads]") {
  for (const std::string& program : python_programs()) {
    check_against_loader(
        {program, "-c", "import ctypes, ssl, sqlite3; ctypes.CDLL('libutil.so.1')"});
  }
}

TEST_CASE("run loads: agree with the loader for a program of many libraries",
          "[live][run][loads]") {
  check_against_loader({need_program({"/usr/bin/gdb"}), "-nx", "-batch"});
}
