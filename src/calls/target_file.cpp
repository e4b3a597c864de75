#include "calls/target_file.hpp"

namespace tracso::calls {

Result<std::unique_ptr<File>> open_file_of(const Target& target, const Mapping& mapping) {
  auto exact =
      target.process->open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
  if (exact || mapping.deleted) {
    return exact;
  }
  auto file = target.files->open({mapping.name});
  const auto status = file ? (*file)->status() : Result<FileStatus>(file.error());
  return status && status->inode == mapping.inode ? std::move(file) : std::move(exact);
}

}  // namespace tracso::calls
