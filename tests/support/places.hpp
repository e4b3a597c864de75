#pragma once
// Where the tests find things. One file knows the absolute paths of this build, so that all others
// compile to the same bytes wherever the project lies.

#include <string>
#include <string_view>

namespace tracso::test {

/// Absolute path of a file below tests/.
std::string tests_file(std::string_view name);

/// Absolute path of the program under test.
const std::string& tracso_binary();

/// A folder that belongs to this test process alone, removed when it ends. ctest runs a process per
/// case, several at once: what two cases build under one name would get in each other's way.
const std::string& scratch_folder();

}  // namespace tracso::test
