#pragma once
// Is this a Python process, and where does its runtime lie? Answered from what is mapped and what
// it exports, never from how the program is called: an embedded Python has no "python" in its name.

#include "tracso/python_probe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tracso::python {

enum class Implementation : std::uint8_t { none, cpython, pypy };

/// One CPython runtime: the variable _PyRuntime of one mapped object.
struct Runtime {
  std::string object;         ///< path of the object that holds it; empty: none known
  std::uint64_t header = 0;   ///< where that object's ELF header is mapped, for further look-ups
  std::uint64_t address = 0;  ///< of _PyRuntime
  std::string how;            ///< "symbol", "section", "symbol table", "cookie"
  std::uint32_t version = 0;  ///< Py_Version (PY_VERSION_HEX) of 3.11 and later; 0: not known
  std::uint32_t minor = 0;    ///< 11 of "3.11", from Py_Version or the name; 0: not known
  bool operator==(const Runtime&) const = default;
};

/// What was recognized. A CPython before 3.7 has no _PyRuntime: runtimes is empty, version is
/// what its name says.
struct Interpreter {
  Implementation implementation = Implementation::none;
  std::string version;            ///< "3.11.2", "3.9", "2.7"; empty: not known
  std::string object;             ///< path of the object that is the interpreter; empty: none
  std::vector<Runtime> runtimes;  ///< program first, then in the order of addresses
  bool operator==(const Interpreter&) const = default;
};

/// Looks at the mapped objects. No Python is not an error: Implementation::none. Fails with denied
/// where memory may not be read, interrupted when the process ended, unsupported for 32-bit.
Result<Interpreter> find_interpreter(const ProbeInput& input);

/// PY_VERSION_HEX as text: 0x030b02f0 is "3.11.2", 0x030f00a1 "3.15.0a1" (PEP 440); empty for 0.
std::string version_text(std::uint32_t version);

}  // namespace tracso::python
