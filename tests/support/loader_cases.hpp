#pragma once
// The cases of tests/loader/elf_cases.sh: small ELF files, each with what the real loader answers.

#include <string>
#include <vector>

namespace tracso::test {

/// One row: `requester` needs `needed` when `root` is started as `launch` says.
struct LoaderCase {
  std::string verdict;  ///< "PASS": the loader of this machine gave `expected`
  std::string actual;   ///< what the loader gave
  std::string name;
  std::string kind;  ///< exec, proc, chroot, ns, user, suid, musl
  std::string environment, working_directory, root, requester, needed;
  std::string expected;  ///< l_name, EXE, MISSING or FATAL:words
  std::string how;       ///< the rule, in words
  std::string launch;
};

/// All rows, from one run of the script in a directory that is removed at the end. Empty if the
/// script fails.
const std::vector<LoaderCase>& loader_cases();

/// The value of "NAME=value" in the row's environment, which holds at most one variable.
std::string case_variable(const LoaderCase& row, const std::string& name);

}  // namespace tracso::test
