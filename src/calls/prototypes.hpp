#pragma once
// What the arguments and results of library functions are, by role: so that a line says
// open("/etc/passwd", O_RDONLY) and not four numbers. The table is prototypes.txt, whose head says
// how a line is written.

#include "tracso/result.hpp"

#include "agent/shared_layout.h"
#include "calls/types.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::calls {

struct Prototype {
  Type result;
  std::vector<Type> arguments;
  bool more = false;               ///< further arguments of which nothing is known
  bool returns_in_memory = false;  ///< a hidden first argument says where
  /// Told by a C++ name, which does not say all (cpp_signature.hpp): the second, whether there may
  /// be a hidden first argument.
  bool from_name = false, may_return_in_memory = false;
  /// What lies behind pointers in structures and arrays; in the order in which it is copied.
  std::vector<tracso_capture_node> nodes = {};
};

class Prototypes {
 public:
  /// malformed: the first line that is not understood, by its number.
  static Result<Prototypes> parse(std::string_view text);
  /// The table that tracso carries.
  static const Prototypes& built_in();

  /// Adds a function; one that is there already is described anew.
  void set(std::string_view symbol, Prototype prototype);
  /// For types of functions that will be added; they live as long as this.
  ValueSet& add_set();
  Inside& add_inside();

  /// nullptr: nothing is known of it.
  const Prototype* find(std::string_view symbol) const;

  std::size_t size() const { return functions_.size(); }

  const std::map<std::string, Prototype, std::less<>>& functions() const { return functions_; }

 private:
  std::map<std::string, std::unique_ptr<ValueSet>, std::less<>> sets_;
  std::map<std::string, Prototype, std::less<>> functions_;
  std::vector<std::unique_ptr<ValueSet>> more_sets_;
  std::vector<std::unique_ptr<Inside>> insides_;
};

}  // namespace tracso::calls
