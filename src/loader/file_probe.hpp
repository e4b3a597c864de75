#pragma once
// What the loader makes of a file before it maps it: open it, look at its header, take it, pass it
// over, or give up (glibc elf/dl-load.c, open_verify).

#include "tracso/dynamic_section.hpp"
#include "tracso/target.hpp"

#include "loader/loader_traits.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tracso::loader {

/// One look at one path.
struct FileProbe {
  enum class Verdict : std::uint8_t {
    usable,
    absent,
    denied,       ///< passed over like an absent one
    wrong_class,  ///< 32/64 bit, another machine or system: passed over; words say which
    broken,       ///< there, but it does not open: ends the list that is searched
    fatal         ///< ends the load; words are the loader's
  };
  Verdict verdict = Verdict::absent;
  TargetPath path;
  FileStatus status;
  std::string words;
};

/// A file that has been read before anybody searched for it.
struct SeenFile {
  std::string path;                   ///< from the root
  std::optional<FileStatus> at_path;  ///< what stood at the path then; nullopt: not known
  FileStatus status;                  ///< of the very file
  std::string start;                  ///< its first bytes
};

/// The check of an ELF header: what a loader for `wanted` says of a file that starts so. `header`
/// is the first 64 bytes, or fewer if the file has fewer. Sets verdict and words of the probe.
void check_header(std::span<const std::byte> header, const ProgramKind& wanted, FileProbe& probe);

/// Looks at each path once. The file that was found usable last stays open, for who reads it next.
class FileProbes {
 public:
  FileProbes(const FileSystem& files, const ProgramKind& wanted, const LoaderTraits& traits)
      : files_(files),
        wanted_(wanted),
        reads_abi_notes_(traits.reads_abi_notes),
        kernel_(traits.kernel) {}

  /// The path from the root. The reference stays good as long as the object.
  const FileProbe& at(const std::string& path);
  /// The same, but the file is closed again.
  const FileProbe& peek(const std::string& path);
  /// The file behind a usable probe: the open one, or opened again.
  Result<std::unique_ptr<File>> open(const FileProbe& probe);

  /// A file of that status and of these first bytes need not be opened again: whoever finds it,
  /// finds it as it was. What stood at its path then stands there.
  void add_seen(SeenFile file);

  const FileSystem& files() const { return files_; }

  const ProgramKind& wanted() const { return wanted_; }

 private:
  FileProbe look(const std::string& path, std::unique_ptr<File>& file) const;
  std::optional<FileProbe> look_at_seen(const std::string& path) const;
  void judge(FileProbe& probe, const File& file, std::span<const std::byte> start) const;
  void look_at_odd_file(FileProbe& probe, const Error& error) const;

  const FileSystem& files_;
  ProgramKind wanted_;
  bool reads_abi_notes_;
  std::uint32_t kernel_;
  std::unordered_map<std::string, FileProbe> known_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, SeenFile> seen_;  // by device and inode
  std::unordered_map<std::string, FileStatus> at_path_;
  std::unique_ptr<File> last_file_;
  const FileProbe* last_ = nullptr;
};

/// Same device and inode. All zero: no file, the same as none.
bool is_same_file(const FileStatus& left, const FileStatus& right);

}  // namespace tracso::loader
