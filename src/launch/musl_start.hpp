#pragma once
// What the loader of musl says of a start that fails: it prints its words and ends the program
// (ldso/dynlink.c, error_impl), so they are read from a thread that stands at the entry of
//   int vdprintf(int fd, const char *format, va_list arguments)
// which has standard error as its descriptor and one of the loader's formats.

#include "tracso/target.hpp"

#include "elf/memory_image.hpp"
#include "launch/run.hpp"
#include "tracee/registers.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace tracso::launch {

/// How far behind the thread pointer errno lies in a program of that musl; nullopt: not known on
/// this processor, or its code is another one.
std::optional<std::uint64_t> place_of_errno(const ProcessSource& process,
                                            const elf::MemoryImage& musl);

/// nullopt: the thread prints something else, or its arguments cannot be found on this processor.
/// Without `errno_place` the reason has no error number's text in it.
std::optional<FailedLoad> musl_start_error(const ProcessSource& process,
                                           pid_t thread,
                                           const tracee::Registers& registers,
                                           std::optional<std::uint64_t> errno_place);

}  // namespace tracso::launch
