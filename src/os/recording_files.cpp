#include "base/result.hpp"
#include "base/text.hpp"
#include "os/archive.hpp"
#include "os/disk.hpp"
#include "os/recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace tracso::os {

Result<Done> write_recording(const Recording& recording, const std::string& destination) {
  const auto parts = pack_recording(recording);
  if (!destination.ends_with('/')) {
    auto archive = make_archive(parts);
    if (!archive) {
      return archive.error();
    }
    if (destination == "-") {
      return write_descriptor(STDOUT_FILENO, *archive, "stdout");
    }

    // Into a device, a FIFO or what a link names it is written; only a file of its own is replaced.
    struct stat there {};

    const bool special = ::lstat(destination.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
    return special ? write_output_file(destination, *archive)
                   : write_private_file(destination, *archive);
  }
  if (::mkdir(destination.c_str(), 0700) != 0 && errno != EEXIST) {
    return errno_error(errno, "make the folder", destination);
  }
  for (const auto& [name, content] : parts) {
    if (auto done = write_private_file(destination + name, content); !done) {
      return done;
    }
  }
  return Done{};
}

Result<Recording> read_recording(const std::string& path) {
  struct stat status {};

  if (::stat(path.c_str(), &status) != 0) {
    return errno_error(errno, "open", path);
  }
  if (!S_ISDIR(status.st_mode)) {
    auto bytes = read_disk_file(path);
    if (!bytes) {
      return bytes.error();
    }
    auto parts = open_archive(*bytes);
    return parts ? unpack_recording(*parts) : Result<Recording>(parts.error());
  }
  std::map<std::string, std::string> parts;
  for (const char* name : {"recording.json", "data.bin", "maps", "smaps"}) {
    if (auto content = read_disk_file(path + "/" + name)) {
      parts[name] = std::move(*content);
    }
  }
  return unpack_recording(parts);
}

}  // namespace tracso::os
