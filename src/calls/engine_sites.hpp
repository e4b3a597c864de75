#pragma once
// What the engine can see called: imported functions, entry points, system calls, each once.

#include "calls/call_lines.hpp"
#include "calls/prototype_finder.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tracso::calls {

struct EngineSite {
  CallSite line;
  std::string caller_path, callee_path;
  std::uint8_t errors = 0;     ///< enum tracso_error_when
  bool never_returns = false;  ///< or in a way that no breakpoint may see
};

class EngineSites {
 public:
  explicit EngineSites(std::shared_ptr<PrototypeFinder> prototypes)
      : prototypes_(std::move(prototypes)) {}

  /// Their numbers. `caller` and `callee` are paths. An entry point is named with its library
  /// unless it is in the program.
  std::uint32_t import(const std::string& symbol,
                       const std::string& caller,
                       const std::string& callee);
  std::uint32_t entry(const std::string& symbol, const std::string& library, bool in_program);
  /// The entry point as it is called from that library.
  std::uint32_t entry_from(std::uint32_t entry, std::string_view caller);
  std::uint32_t system_call(std::uint64_t number, const std::string& caller);

  const EngineSite& at(std::uint32_t number) const { return sites_[number]; }

 private:
  using Key = std::tuple<int, std::string, std::string, std::string>;

  std::uint32_t add(Key key, EngineSite site);

  std::shared_ptr<PrototypeFinder> prototypes_;
  std::map<Key, std::uint32_t> numbers_;
  std::vector<EngineSite> sites_;
};

}  // namespace tracso::calls
