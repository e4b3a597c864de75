#pragma once
// ltrace's configuration files (ltrace.conf(5)): prototypes of functions, in a language of their
// own:
//
//   typedef list = struct;
//   typedef list = struct(int, list*);
//   int walk(list*, +string[arg3], ulong);        ; a comment

#include "calls/ltrace_types.hpp"
#include "calls/prototypes.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

struct ConfigProblem {
  std::size_t line = 0;  ///< counted from 1
  std::string reason;
};

/// Reads files into a table; types that one names are known in the next. As ltrace does, and more:
/// "..." for arguments of which nothing is known, stringN for string[argN] (its older form).
class LtraceConfig {
 public:
  /// `elements`: of arrays at most, and so many structures deep (-A). `into` must outlive it.
  LtraceConfig(Prototypes& into, std::size_t elements) : into_(into), elements_(elements) {}

  /// Of one text; what has more is none, and is not read any further.
  static constexpr std::size_t most_problems = 1000;

  /// Adds what the text describes. Lines that are not understood are left out and told.
  std::vector<ConfigProblem> add(std::string_view text);

 private:
  std::string add_line(std::string_view line);  // why not; empty: done

  Prototypes& into_;
  std::size_t elements_;
  NamedTypes names_;
  std::map<std::string, Inside*, std::less<>> announced_;  // structures that may be recursive
};

}  // namespace tracso::calls
