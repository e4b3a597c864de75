#include "collect/mount_table.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso {
namespace {

bool is_remote(std::string_view type) {
  static constexpr std::array<std::string_view, 12> types{"nfs",
                                                          "nfs4",
                                                          "cifs",
                                                          "smb3",
                                                          "smbfs",
                                                          "afs",
                                                          "ceph",
                                                          "lustre",
                                                          "gpfs",
                                                          "beegfs",
                                                          "9p",
                                                          "glusterfs"};
  return type.starts_with("fuse.s3") || type == "fuse.sshfs" || type == "fuse.glusterfs" ||
         type == "fuse.gcsfuse" || std::find(types.begin(), types.end(), type) != types.end();
}

// "\040" and the like stand for space, tab, newline and backslash.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = text[i] == '\\' && i + 3 < text.size()
                           ? parse_unsigned(text.substr(i + 1, 3), 8)
                           : std::nullopt;
    out += octal && *octal < 256 ? static_cast<char>(*octal) : text[i];
    i += octal ? 3 : 0;
  }
  return out;
}

bool is_below(std::string_view path, std::string_view directory) {
  return directory == "/" || (path.starts_with(directory) &&
                              (path.size() == directory.size() || path[directory.size()] == '/'));
}

}  // namespace

std::vector<RemoteMount> parse_remote_mounts(std::string_view text) {
  std::vector<RemoteMount> mounts;
  bool any = false;
  for (const std::string_view line : split(text, '\n')) {
    const auto words = split_words(line, " ");
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || dash == words.end() || std::next(dash) == words.end()) {
      continue;
    }
    const std::string type(*std::next(dash));
    any = any || is_remote(type);
    mounts.push_back({unescaped(words[4]), is_remote(type) ? type : ""});
  }
  return any ? mounts : std::vector<RemoteMount>();
}

std::string file_system_of(std::string_view path, const std::vector<RemoteMount>& mounts) {
  const RemoteMount* nearest = nullptr;
  for (const RemoteMount& mount : mounts) {
    // Of two mounts at one place the later one is seen.
    if (is_below(path, mount.directory) &&
        (nearest == nullptr || mount.directory.size() >= nearest->directory.size())) {
      nearest = &mount;
    }
  }
  return nearest == nullptr ? "" : nearest->type;
}

}  // namespace tracso
