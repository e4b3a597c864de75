#pragma once
// The loaded objects of one namespace, findable by what the loader compares: names and files.

#include "tracso/target.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace tracso::loader {

/// By which of its names an object was found.
enum class MatchedBy : std::uint8_t { name, soname };

struct NameMatch {
  std::size_t object = 0;
  MatchedBy by = MatchedBy::name;
};

/// Where two objects have a name, the one with the lower index, which was loaded first, is found.
class LoadedList {
 public:
  void add_name(std::size_t object, std::string_view name, MatchedBy by = MatchedBy::name);
  void add_file(std::size_t object, const FileStatus& status);
  std::optional<NameMatch> find(std::string_view name) const;
  std::optional<std::size_t> find(const FileStatus& status) const;

 private:
  std::unordered_map<std::string, NameMatch> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> files_;
};

}  // namespace tracso::loader
