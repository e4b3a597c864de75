#pragma once
// What the injected code wrote: "tracso 1 ", the text of sys.version, then name, __file__ and
// origin of every module. A field is "LENGTH:BYTES" or "-" for none, so any byte may be in it.

#include "tracso/python_probe.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tracso::python {

struct GdbAnswer {
  std::string version;  ///< "3.11.2"; empty: sys.version was not a text
  std::vector<PythonModule> modules;
  bool operator==(const GdbAnswer&) const = default;
};

/// Rows without a name are left out, a file with a NUL in it is no file. malformed: not that form,
/// or cut short.
Result<GdbAnswer> parse_gdb_result(std::string_view bytes);

/// UTF-8 with the lone surrogates U+DC80..U+DCFF turned back into the bytes 0x80..0xff that they
/// stand for (PEP 383).
std::string bytes_of_surrogates(std::string_view text);

}  // namespace tracso::python
