// A recording from somewhere else: the archive, its index, and the pipeline that reads through it.

#include "tracso/snapshot.hpp"

#include "os/archive.hpp"
#include "os/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

void look_through(const tracso::os::Recording& recording) {
  const auto doors = tracso::os::replay(recording);
  static_cast<void>(
      tracso::take_snapshot({doors.process.get(), doors.files.get(), doors.commands.get()}, {}));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto parts = tracso::os::open_archive(bytes)) {
    if (const auto recording = tracso::os::unpack_recording(*parts)) {
      look_through(*recording);
    }
  }
  // The index alone, without the checksum of gzip in the way.
  const std::string text(bytes);
  if (const auto recording = tracso::os::unpack_recording(
          {{"recording.json", text}, {"data.bin", text}, {"maps", text}})) {
    look_through(*recording);
  }
  return 0;
}
