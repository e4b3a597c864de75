#include "loader/loaded_list.hpp"

namespace tracso::loader {

void LoadedList::add_name(std::size_t object, std::string_view name, MatchedBy by) {
  const auto [entry, is_new] = names_.try_emplace(std::string(name), NameMatch{object, by});
  NameMatch& known = entry->second;
  const bool is_better = object < known.object || (object == known.object && by < known.by);
  if (!is_new && is_better) {
    known = {object, by};
  }
}

void LoadedList::add_file(std::size_t object, const FileStatus& status) {
  if (status.inode != 0) {
    files_.try_emplace({status.device, status.inode}, object);
  }
}

std::optional<NameMatch> LoadedList::find(std::string_view name) const {
  const auto found = names_.find(std::string(name));
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> LoadedList::find(const FileStatus& status) const {
  const auto found = files_.find({status.device, status.inode});
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tracso::loader
