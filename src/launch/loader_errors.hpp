#pragma once
// What glibc's loader is about to signal, read from a thread that stands at the entry of one of the
// functions by which it does so (elf/dl-exception.c, elf/dl-catch.c; since 2.26).
//
// A dlopen that fails ends in _dl_signal_exception, called from _dl_open itself, whose frame is the
// next one on the stack. Calls before that one are on the way to it, others are about dlsym.

#include "tracso/target.hpp"

#include "launch/dlopen_call.hpp"
#include "launch/run.hpp"
#include "tracee/registers.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::launch {

/// The text at an address; empty at 0, "(unreadable)" where there is none of at most 4096 bytes.
std::string loader_text(const ProcessSource& process, std::uint64_t address);

/// Name and reason out of
/// _dl_signal_error (int number, const char *object, const char *occasion, const char *error)
FailedLoad signalled_error(const ProcessSource& process,
                           pid_t thread,
                           const tracee::Registers& registers);

/// Name and reason out of
/// _dl_signal_exception (int number, struct dl_exception *, const char *occasion)
FailedLoad signalled_exception(const ProcessSource& process,
                               pid_t thread,
                               const tracee::Registers& registers);

/// Name and reason out of
/// _dl_exception_create_format (struct dl_exception *, const char *object, const char *format, ...)
FailedLoad formatted_exception(const ProcessSource& process,
                               pid_t thread,
                               const tracee::Registers& registers);

/// The words are a warning: the loader prints them and goes on (match_symbol in elf/dl-version.c).
bool is_warning(std::string_view words);

/// At the entry of _dl_signal_exception: the dlopen that ends with it; nullopt: none does.
/// `has_caller` decides in doubt.
std::optional<DlopenCall> signalling_call(const ProcessSource& process,
                                          pid_t thread,
                                          const tracee::Registers& registers,
                                          const std::function<bool(const DlopenCall&)>& has_caller);

}  // namespace tracso::launch
