#pragma once
// Our own files on this machine: output, saved traces, recordings. Not a target's.

#include "tracso/result.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::os {

/// Bytes of what is read whole.
constexpr std::size_t largest_file = std::size_t{1} << 30;

/// The whole of a regular file of at most 1 GB; never blocks on a FIFO or device.
Result<std::string> read_disk_file(const std::string& path);

/// What the user named as input: a file, a pipe ("<(zcat x)"), or "-" for standard input. At most
/// so many bytes: unsupported if it has more. failed: a pipe from which nothing came for that long,
/// also for want of a writer; its hint is `hint`, or empty where the command has nothing to choose:
/// then that a writer is wanted. unsupported: a folder, a terminal, another device.
Result<std::string> read_input(const std::string& path,
                               std::chrono::milliseconds timeout,
                               const std::string& hint,
                               std::size_t most = largest_file);

/// Writes a file whole or not at all (a temporary file beside it, then rename), mode 0600.
Result<Done> write_private_file(const std::string& path, std::string_view content);

/// Writes what the user asked for with -o: whole or not at all where the path is a regular file or
/// new; straight into a device, FIFO or link to one ("/dev/stdout"). usage: a FIFO that nobody has
/// open for reading.
Result<Done> write_output_file(const std::string& path, std::string_view content);

/// Whether write_output_file may hope: for a command's side effects it must be known before. The
/// same errors.
Result<Done> check_output_file(const std::string& path);

/// Writes to a descriptor. interrupted: nobody reads any more (a closed pipe).
Result<Done> write_descriptor(int fd, std::string_view content, std::string_view name);

/// The folder where a user's tools keep state ("$XDG_STATE_HOME/tracso"), made with mode 0700 if it
/// is not there. not_found: neither XDG_STATE_HOME nor HOME is set.
Result<std::string> state_folder();

/// The number of this boot (random_boot_id of proc_sys_kernel(5)); empty: not known.
std::string boot_id();

}  // namespace tracso::os
