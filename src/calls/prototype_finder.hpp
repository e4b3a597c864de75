#pragma once
// Who knows what a function's arguments are: configuration files of the user, then the table that
// tracso carries, then the name itself where it is a C++ one.

#include "calls/prototypes.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

class PrototypeFinder {
 public:
  /// `own`: asked first; may be nullptr.
  explicit PrototypeFinder(std::shared_ptr<const Prototypes> own = nullptr)
      : own_(std::move(own)) {}

  /// nullptr: nothing is known of it. It lives as long as this.
  const Prototype* find(std::string_view symbol);

  /// What the agent has to copy, sorted by name; functions that need nothing are left out, and what
  /// is more than it can keep.
  std::vector<tracso_capture_rule> capture_rules() const;

 private:
  std::shared_ptr<const Prototypes> own_;
  std::map<std::string, std::unique_ptr<Prototype>, std::less<>> by_name_;  // nullptr: says nothing
};

}  // namespace tracso::calls
