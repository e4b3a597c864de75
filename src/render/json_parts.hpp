#pragma once
// The pieces of a document that several kinds of documents hold. Keys keep the order in which they
// are written.

#include "tracso/answers.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso {

struct UntracedCalls;

using Json = nlohmann::ordered_json;

/// An empty object with room for that many keys.
Json object_of(std::size_t keys);
/// A key that the object does not have yet: it is not looked for.
void put(Json& into, std::string_view key, Json value);
/// The text, or null where it is empty. Bytes that are not UTF-8 become U+FFFD, and `key`_hex holds
/// all bytes.
void put_text(Json& into, std::string_view key, std::string_view bytes);
/// As put_text, but "" stays "".
void put_bytes(Json& into, std::string_view key, std::string_view bytes);
/// An array; `key`_hex, an array of as many, is there if any of them is not UTF-8.
void put_texts(Json& into, std::string_view key, const std::vector<std::string>& texts);

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// An array with an object for each row, into which `fill(object, row)` writes.
template <class Rows, class Fill>
Json objects_of(const Rows& rows, const Fill& fill) {
  Json out = Json::array();
  for (const auto& row : rows) {
    Json one = Json::object();
    fill(one, row);
    out.push_back(std::move(one));
  }
  return out;
}

/// "schema", "kind", "version".
Json document(std::string_view kind);
Json node_json(const Trace& trace, const Summary& summary, NodeId id);
Json edge_json(const Trace& trace, const Summary& summary, EdgeId id);
/// Each place that the loader asks, in order.
Json search_json(const std::vector<SearchStep>& search);
/// What --run or stat ran; null: nothing.
Json command_json(const std::optional<CommandInfo>& command);
Json notices_json(const std::vector<Notice>& notices);
/// What tracso calls could not trace.
Json untraced_calls_json(const UntracedCalls& untraced);
/// The node's id in the document.
Json id_json(const Summary& summary, NodeId id);
Json ids_json(const Summary& summary, const std::vector<NodeId>& ids);
/// With a final newline; indented by two, or all in one line.
std::string printed(const Json& document, bool compact = false);

}  // namespace tracso
