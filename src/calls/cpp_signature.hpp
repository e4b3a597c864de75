#pragma once
// What a C++ name says about arguments. It says their types, but not everything about where they
// are: neither whether a function of a class has an object (static ones have none), nor, but for
// templates, whether the result comes back through a hidden pointer. Where a guess would be needed
// for the first nothing is said; the second is seen when the function has returned
// (argument_text.cpp).

#include "calls/prototypes.hpp"

#include <optional>
#include <string_view>

namespace tracso::calls {

/// Of a demangled name: "Foo::bar(int, char const*) const". nullopt: it is no function, or one of
/// which it is not clear whether it has an object. What comes by value and is neither a number nor
/// a string of libstdc++ ends the arguments that are known (Prototype::more).
std::optional<Prototype> cpp_signature(std::string_view name);

/// What is copied of any call of a C++ function: of each integer register what it leads to, as a
/// text and as a std::string.
std::vector<tracso_capture_node> cpp_nodes();

}  // namespace tracso::calls
