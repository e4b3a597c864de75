#pragma once
// Programs into which no agent can get, told before they are started.

#include "tracso/result.hpp"
#include "tracso/target.hpp"

#include <optional>

namespace tracso::calls {

/// Why the calls of this program cannot be traced: statically linked, of another processor, built
/// with a sanitizer. nullopt: nothing speaks against it, or it cannot be read (its start will say
/// more). A script stands for its interpreter.
std::optional<Error> refusal(const FileSystem& files, const TargetPath& program);

/// The same of an open program.
std::optional<Error> refusal_of_file(const File& file, const TargetPath& program);
/// What of that is true of the engine too, which works from outside: another processor. And where
/// nothing would be seen: `imports` alone of a statically linked program.
std::optional<Error> engine_refusal(const FileSystem& files,
                                    const TargetPath& program,
                                    bool imports_only);

/// The program that the kernel starts for a file: the interpreter of a script ("#!"), the file
/// itself otherwise.
TargetPath started_program(const FileSystem& files, const TargetPath& file);

}  // namespace tracso::calls
