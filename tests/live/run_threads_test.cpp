// Many threads that import at once: every chain of imports is whole, or it is said that it is not.

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/run_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

using namespace tracso;
using namespace tracso::test;

namespace {

// The number in "... could not be read whole at 3 loads"; 0: there is no such notice.
std::size_t told_incomplete(const launch::RunResult& result) {
  for (const Notice& notice : result.notices) {
    if (notice.code == "imports-incomplete") {
      const auto at = notice.text.find_first_of("0123456789");
      return at == std::string::npos ? 0 : std::strtoul(notice.text.c_str() + at, nullptr, 10);
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("run loads: 36 importing threads under a 2 ms timer lose no chain silently",
          "[live][run][loads][threads]") {
  // Half of the threads import extension modules themselves, half by way of a module of their own.
  const std::string script = write_file("many_importers.py", R"(
import glob, importlib, os, signal, sys, tempfile, threading, _struct
folder = os.path.join(sys.prefix, "lib", "python%d.%d" % sys.version_info[:2], "lib-dynload")
names = sorted({os.path.basename(path).split(".")[0] for path in glob.glob(folder + "/*.so")})
names = [n for n in names if not n.startswith(("xx", "_test", "_xx", "_interp", "_ctypes_test")) and n not in sys.modules]
here = tempfile.mkdtemp()
sys.path.insert(0, here)
for i in range(20):
    with open("%s/outer_%d.py" % (here, i), "w") as f: f.write("import inner_%d\n" % i)
    with open("%s/inner_%d.py" % (here, i), "w") as f:
        f.write("import sys\nfor name in sys.shares[%d]:\n  try: __import__(name)\n  except ImportError: pass\n" % i)
sys.shares = [names[i::36] for i in range(36)]
barrier = threading.Barrier(36)
def run(i):
    barrier.wait()
    if i < 20: return importlib.import_module("outer_%d" % i)
    for name in sys.shares[i]:
        try: importlib.import_module(name)
        except ImportError: pass
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
threads = [threading.Thread(target=run, args=(i,)) for i in range(36)]
[t.start() for t in threads]; [t.join() for t in threads]
signal.setitimer(signal.ITIMER_REAL, 0)
import shutil; shutil.rmtree(here)
print(sum(n in sys.modules for n in names) > 10)
)");
  // The oldest and the newest way to find the imports under way; all with TRACSO_LONG=1.
  const std::vector<std::string> all = python_programs();
  const bool is_long = std::getenv("TRACSO_LONG") != nullptr;
  for (const std::string& program : is_long ? all : std::vector{all.front(), all.back()}) {
    const SeenRun ran =
        run({program, script}, [](launch::RunOptions& options) { options.record_loads = true; });
    CAPTURE(program, ran.err);
    REQUIRE(ran.result);
    if (ran.out != "True\n") {
      continue;  // it has no such modules, or no such functions (2.7)
    }
    std::size_t lost = 0;
    for (const launch::LoadRecord& load : ran.result->loads) {
      const bool extension = load.cause == launch::LoadCause::dlopen &&
                             load.name.find("/lib-dynload/") != std::string::npos;
      const std::string_view file = base_name(load.name);
      const std::string module(file.substr(0, file.find('.')));
      const bool whole = !load.imports.empty() && load.imports.back().module == module;
      lost += extension && !whole ? 1 : 0;
    }
    CHECK(lost <= told_incomplete(*ran.result));
  }
}
