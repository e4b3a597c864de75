#include "elf/file_tables.hpp"

#include <span>

namespace tracso::elf {

Result<std::vector<std::byte>> FileTables::table(std::uint64_t address, std::uint64_t bytes) const {
  const auto place = image_.locate(address);
  if (!place || bytes > place->room) {
    return image_.fault("a table of its dynamic section leads out of the file");
  }
  if (bytes > most_table_bytes) {
    return image_.fault(too_many);
  }
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  std::size_t done = 0;
  while (done < content.size()) {
    const auto got = image_.read(place->offset + done, std::span(content).subspan(done));
    if (!got || *got == 0) {
      return got ? image_.fault("cannot read file data") : got.error();
    }
    done += *got;
  }
  return content;
}

Result<std::vector<std::uint32_t>> FileTables::numbers(std::uint64_t address,
                                                       std::uint64_t count) const {
  if (count > most_symbols) {
    return image_.fault(too_many);
  }
  const auto bytes = table(address, count * 4);
  if (!bytes) {
    return bytes.error();
  }
  const ByteView view = image_.encoding().view(*bytes);
  std::vector<std::uint32_t> found(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = view.get<std::uint32_t>(4 * i).value_or(0);
  }
  return found;
}

}  // namespace tracso::elf
