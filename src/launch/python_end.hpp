#pragma once
// The last moment at which a Python is whole.
//
// Py_FinalizeEx waits for threads, calls what atexit has registered, and only then collects
// garbage and destroys the modules. So its entry is too early (threads may still import) and its
// end too late. Two steps: breakpoints at the entries of finalization; when one is hit they are
// taken out, and others are put at the functions that it calls between the exit functions and the
// end of the modules. The first hit there is the moment. A process that ends in between (os._exit
// in an exit function, a signal) never gets there, and is whole at its exit stop.
//
// Which function comes in between: PyImport_Cleanup's neighbours _PyGC_CollectIfEnabled (3.6 to
// 3.9) and PyGC_Collect (3.10 and later), PyOS_FiniInterrupts (2.7). Before the first step nothing
// of this costs anything: these functions are called often, and no breakpoint is there.

#include "tracso/target.hpp"

#include "tracee/traced_process.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tracso::launch {

class PythonEnd {
 public:
  /// What a hit breakpoint means.
  enum class Step : std::uint8_t {
    not_ours,  ///< it is not one of these
    running,   ///< the program begins (Watch::begin_and_end)
    begun,     ///< finalization begins; the next breakpoints are in
    whole      ///< this is the moment; all breakpoints of this are out
  };

  enum class Watch : std::uint8_t {
    end,
    begin_and_end  ///< Py_RunMain too, of 3.8 and later: what python's own main calls
  };

  /// A function that every object exports which holds a Python.
  static constexpr std::string_view mark = "Py_Finalize";

  /// Looks for Pythons in what is mapped and watches the beginnings of their end. `stopped` is a
  /// stopped thread. false: there is none, or none that can be watched.
  bool watch(tracee::Breakpoints& breakpoints,
             const ProcessSource& process,
             pid_t stopped,
             Watch what);
  Step hit(tracee::Breakpoints& breakpoints, pid_t stopped, std::uint64_t address);

  bool has_begun() const { return begun_; }

 private:
  std::vector<std::uint64_t> mains_, beginnings_, last_moments_;
  bool begun_ = false;
};

}  // namespace tracso::launch
