#include "graph/fds_json.hpp"

#include "graph/json_item.hpp"

#include <string>

namespace tracso {
namespace {

using Saved = std::optional<SavedDescriptors>;

constexpr std::size_t largest_fds = std::size_t{256} << 20U;
constexpr std::size_t deepest_fds = 16;

DescriptorKind read_kind(const JsonItem& item) {
  const std::string word = item.text("kind");
  for (std::size_t i = 0; i <= static_cast<std::size_t>(DescriptorKind::other); ++i) {
    if (descriptor_kind_name(static_cast<DescriptorKind>(i)) == word) {
      return static_cast<DescriptorKind>(i);
    }
  }
  return DescriptorKind::other;  // of a later version
}

Descriptor read_descriptor(const JsonItem& item) {
  Descriptor one;
  one.fd = item.number<std::int32_t>("fd");
  one.kind = read_kind(item);
  one.link = item.text("link");
  one.target = item.text("target");
  one.detail = item.text("detail");
  one.deleted = item.flag("deleted");
  one.bytes_waiting = item.optional_number<std::uint64_t>("bytes_waiting");
  one.bytes_unsent = item.optional_number<std::uint64_t>("bytes_unsent");
  for (const JsonItem& peer : item.items("peer")) {
    one.peers.push_back({peer.number<std::int32_t>("pid"),
                         peer.text("name"),
                         peer.optional_number<std::int32_t>("fd").value_or(-1)});
  }
  return one;
}

}  // namespace

Result<Saved> read_fds_json(std::string_view text, std::string_view name) {
  const JsonShape shape = json_shape(text);
  if (text.size() > largest_fds || shape.depth > deepest_fds || shape.values > most_json_values) {
    return Saved();
  }
  const auto parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  JsonProblem problem;
  const JsonItem document(&parsed, "", &problem);
  if (!parsed.is_object() || document.text("schema") != "tracso/1" ||
      document.text("kind") != "fds") {
    return Saved();
  }
  SavedDescriptors saved;
  saved.pid = document.number<std::int32_t>("pid");
  for (const JsonItem& item : document.items("descriptors")) {
    saved.descriptors.push_back(read_descriptor(item));
  }
  if (problem.any()) {
    return Error{ErrorKind::malformed,
                 "read document",
                 std::string(name),
                 problem.text(),
                 "tracso fds --json PID > FILE makes one"};
  }
  return Saved(std::move(saved));
}

}  // namespace tracso
