#pragma once
// The directories that searches go through. Each is looked at once, and each name in it once; a
// directory that is not there costs nothing after the first look.

#include "loader/file_probe.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tracso::loader {

enum class DirectoryId : std::uint32_t {};
enum class NameId : std::uint32_t {};

/// What looking for a name in a directory and its hwcaps subdirectories gave.
struct DirectoryAnswer {
  enum class Kind : std::uint8_t { absent, found, fatal, stop };
  Kind kind = Kind::absent;
  const FileProbe* probe = nullptr;        ///< of found and fatal
  const FileProbe* passed_over = nullptr;  ///< the last file there that the loader did not want
  std::size_t subdirectory = 0;            ///< 0: the directory itself; else 1 + its index
};

class SearchDirectories {
 public:
  /// `subdirectories` are those of Hwcaps; they must outlive this object.
  SearchDirectories(FileProbes& probes, const std::vector<std::string>& subdirectories)
      : probes_(probes), subdirectories_(subdirectories) {}

  /// `text` as the loader writes it, ending in a slash or empty; `absolute` the same from the root.
  DirectoryId add(const std::string& text, const std::string& absolute);
  NameId name(std::string_view text);

  const std::string& text(DirectoryId id) const { return at(id).text; }

  bool exists(DirectoryId id);
  /// The same number for two names of one directory (/lib and /usr/lib, where one is a link).
  std::uint32_t identity(DirectoryId id);

  /// Refuses or takes a usable file.
  using Wanted = std::function<bool(const FileProbe&)>;

  /// The loader's look: subdirectories first, then the directory; `is_wanted` has the last word.
  DirectoryAnswer look(DirectoryId id, NameId name, const Wanted& is_wanted);
  /// The same for any usable file, remembered.
  const DirectoryAnswer& look(DirectoryId id, NameId name);
  /// The file in the directory itself, if there is one; null if not.
  const FileProbe* plain(DirectoryId id, NameId name);

 private:
  struct Directory {
    std::string text, absolute;
    std::optional<bool> exists;
    std::uint32_t identity = 0;
    std::vector<std::size_t> subdirectories;  // indexes of those that are there
    std::size_t misses = 0;
    std::optional<std::unordered_set<std::string>> listing;
  };

  Directory& at(DirectoryId id) { return directories_[static_cast<std::size_t>(id)]; }

  const Directory& at(DirectoryId id) const { return directories_[static_cast<std::size_t>(id)]; }

  void examine(Directory& directory);
  void find_subdirectories(Directory& directory);
  bool may_hold(Directory& directory, const std::string& name);
  /// True: the answer is final.
  bool try_file(DirectoryAnswer& answer,
                std::size_t place,
                const FileProbe& probe,
                const Wanted& w);

  FileProbes& probes_;
  const std::vector<std::string>& subdirectories_;
  std::vector<Directory> directories_;
  std::unordered_map<std::string, DirectoryId> known_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> identities_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::unordered_map<std::uint64_t, DirectoryAnswer> answers_;
};

}  // namespace tracso::loader
