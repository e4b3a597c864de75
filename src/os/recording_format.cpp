#include "base/text.hpp"
#include "os/archive.hpp"
#include "os/recording.hpp"
#include "os/recording_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <new>

// Pages of files and memory lie one after the other in data.bin; the index says where.

namespace tracso::os {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "tracso-recording/1";
constexpr std::string_view text_parts[] = {
    "maps", "smaps"};  // as files of their own: people read and edit these

Json error_json(const Error& error) {
  return {{"error", static_cast<int>(error.kind)},
          {"action", bytes_to_text(error.action)},
          {"subject", bytes_to_text(error.subject)},
          {"reason", bytes_to_text(error.reason)},
          {"hint", bytes_to_text(error.hint)}};
}

Error error_from(const Json& json) {
  const int kind = number_from<int>(json.at("error"));
  const bool known = kind >= 0 && kind <= static_cast<int>(ErrorKind::internal);
  return {known ? static_cast<ErrorKind>(kind) : ErrorKind::failed,
          text_to_bytes(json.at("action").get<std::string>()),
          text_to_bytes(json.at("subject").get<std::string>()),
          text_to_bytes(json.at("reason").get<std::string>()),
          text_to_bytes(json.at("hint").get<std::string>())};
}

template <class T, class Make>
Json results_json(const std::map<std::string, Result<T>>& results, Make make) {
  Json json = Json::object();
  for (const auto& [key, result] : results) {
    json[bytes_to_text(key)] = result ? Json(make(*result)) : error_json(result.error());
  }
  return json;
}

template <class T, class Make>
void results_from(const Json& json, std::map<std::string, Result<T>>& into, Make make) {
  for (const auto& [key, value] : json.items()) {
    const bool failed = value.is_object() && value.contains("error");
    into.insert_or_assign(text_to_bytes(key),
                          failed ? Result<T>(error_from(value)) : Result<T>(make(value)));
  }
}

Json texts_json(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const auto& text : texts) {
    json.push_back(bytes_to_text(text));
  }
  return json;
}

std::vector<std::string> texts_from(const Json& json) {
  std::vector<std::string> texts;
  for (const auto& text : json) {
    texts.push_back(text_to_bytes(text.get<std::string>()));
  }
  return texts;
}

Json status_json(const FileStatus& status) {
  return Json::array({status.device,
                      status.inode,
                      status.bytes,
                      status.mode,
                      status.owner,
                      status.links,
                      status.modified_ns,
                      status.changed_ns});
}

FileStatus status_from(const Json& json) {
  FileStatus status;
  status.device = number_from<std::uint64_t>(json.at(0));
  status.inode = number_from<std::uint64_t>(json.at(1));
  status.bytes = number_from<std::uint64_t>(json.at(2));
  status.mode = number_from<std::uint32_t>(json.at(3));
  status.owner = number_from<std::uint32_t>(json.at(4));
  status.links = number_from<std::uint64_t>(json.at(5));
  status.modified_ns = number_from<std::int64_t>(json.at(6));
  status.changed_ns = number_from<std::int64_t>(json.at(7));
  return status;
}

Json output_json(const CommandOutput& output) {
  return {{"status", output.status},
          {"out", bytes_to_text(output.out)},
          {"err", bytes_to_text(output.err)}};
}

CommandOutput output_from(const Json& json) {
  return {number_from<int>(json.at("status")),
          text_to_bytes(json.at("out").get<std::string>()),
          text_to_bytes(json.at("err").get<std::string>())};
}

// [address or offset, where in data.bin, bytes] each
Json pieces_json(const std::map<std::uint64_t, std::string>& pieces, std::string& data) {
  Json json = Json::array();
  for (const auto& [at, bytes] : pieces) {
    json.push_back({at, data.size(), bytes.size()});
    data += bytes;
  }
  return json;
}

// Each byte of data.bin is of one piece: that many bytes more than it has would only fill memory.
class DataBin {
 public:
  explicit DataBin(const std::string& data) : data_(data), left_(data.size()) {}

  std::string piece(std::uint64_t start, std::uint64_t bytes) {
    if (start > data_.size() || data_.size() - start < bytes) {
      throw std::out_of_range("a piece lies outside data.bin");
    }
    if (bytes > left_) {
      throw std::out_of_range("its pieces are more than data.bin has");
    }
    left_ -= bytes;
    return data_.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(bytes));
  }

 private:
  const std::string& data_;
  std::uint64_t left_;
};

std::map<std::uint64_t, std::string> pieces_from(const Json& json, DataBin& data) {
  std::map<std::uint64_t, std::string> pieces;
  for (const auto& piece : json) {
    pieces[number_from<std::uint64_t>(piece.at(0))] = data.piece(
        number_from<std::uint64_t>(piece.at(1)), number_from<std::uint64_t>(piece.at(2)));
  }
  return pieces;
}

Json files_json(const std::vector<RecordedFile>& files, std::string& data) {
  Json json = Json::array();
  for (const auto& file : files) {
    json.push_back(
        {{"status", status_json(file.status)}, {"pieces", pieces_json(file.pieces, data)}});
  }
  return json;
}

std::string bytes_of(const Json& json) {
  return text_to_bytes(json.get<std::string>());
}

Recording recording_from(const Json& json, DataBin data) {
  Recording recording;
  recording.pid = number_from<std::int32_t>(json.at("pid"));
  recording.version = json.at("version").get<std::string>();
  recording.cpu = json.at("cpu").get<std::string>();
  results_from(json.at("texts"), recording.texts, bytes_of);
  results_from(json.at("links"), recording.links, bytes_of);
  results_from(json.at("lists"), recording.lists, texts_from);
  results_from(json.at("statuses"), recording.statuses, status_from);
  results_from(json.at("resolved"), recording.resolved, bytes_of);
  results_from(json.at("directories"), recording.directories, texts_from);
  for (const auto& file : json.at("files")) {
    recording.files.push_back(
        {status_from(file.at("status")), pieces_from(file.at("pieces"), data)});
  }
  results_from(json.at("opened"), recording.opened, [&](const Json& index) {
    const auto value = number_from<std::size_t>(index);
    if (value >= recording.files.size()) {
      throw std::out_of_range("an opened file is not among the files");
    }
    return value;
  });
  results_from(json.at("commands"), recording.commands, output_from);
  recording.memory = pieces_from(json.at("memory"), data);
  if (!json.at("python").is_null()) {
    recording.python = python_from(json.at("python"));
  }
  // Older recordings have no such key.
  if (const auto found = json.find("module_files"); found != json.end() && !found->is_null()) {
    recording.module_files = module_files_from(*found);
  }
  if (const auto found = json.find("python_pools"); found != json.end() && !found->is_null()) {
    recording.python_pools = pools_from(*found);
  }
  for (const auto& notice : json.at("python_notices")) {
    recording.python_notices.push_back(texts_from(notice));
  }
  return recording;
}

}  // namespace

std::map<std::string, std::string> pack_recording(const Recording& recording) {
  std::map<std::string, std::string> parts;
  std::string data;
  auto texts = recording.texts;
  for (const std::string_view name : text_parts) {
    const auto found = texts.find(std::string(name));
    if (found != texts.end() && found->second) {
      parts[std::string(name)] = *found->second;
      texts.erase(found);
    }
  }
  const auto same = [](const auto& value) { return Json(value); };
  Json json;
  json["format"] = format_name;
  json["version"] = recording.version;
  json["cpu"] = recording.cpu;
  json["pid"] = recording.pid;
  json["texts"] = results_json(texts, bytes_to_text);
  json["links"] = results_json(recording.links, bytes_to_text);
  json["lists"] = results_json(recording.lists, texts_json);
  json["statuses"] = results_json(recording.statuses, status_json);
  json["resolved"] = results_json(recording.resolved, bytes_to_text);
  json["directories"] = results_json(recording.directories, texts_json);
  json["files"] = files_json(recording.files, data);
  json["opened"] = results_json(recording.opened, same);
  json["commands"] = results_json(recording.commands, output_json);
  json["memory"] = pieces_json(recording.memory, data);
  json["python"] = recording.python ? python_json(*recording.python) : Json(nullptr);
  json["module_files"] =
      recording.module_files ? module_files_json(*recording.module_files) : Json(nullptr);
  json["python_pools"] =
      recording.python_pools ? pools_json(*recording.python_pools) : Json(nullptr);
  json["python_notices"] = Json::array();
  for (const auto& notice : recording.python_notices) {
    json["python_notices"].push_back(texts_json(notice));
  }
  parts["recording.json"] = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  parts["data.bin"] = std::move(data);
  return parts;
}

Result<Recording> unpack_recording(const std::map<std::string, std::string>& parts) {
  const auto malformed = [](std::string reason) {
    return Error{ErrorKind::malformed,
                 "read",
                 "the recording",
                 std::move(reason),
                 "'tracso record PID -o DEST' makes one"};
  };
  const auto index = parts.find("recording.json");
  const auto data = parts.find("data.bin");
  if (index == parts.end() || data == parts.end()) {
    return malformed("it is not a recording of tracso: recording.json or data.bin is missing");
  }
  try {
    const Json json = Json::parse(index->second);
    if (!json.is_object() || !json.contains("format") || !json["format"].is_string()) {
      return malformed("it is not a recording of tracso: recording.json does not name its format");
    }
    if (json.at("format").get<std::string>() != format_name) {
      return malformed("it is of another format: " + json.at("format").get<std::string>());
    }
    Recording recording = recording_from(json, DataBin(data->second));
    for (const std::string_view name : text_parts) {
      if (const auto part = parts.find(std::string(name)); part != parts.end()) {
        recording.texts.insert_or_assign(std::string(name), part->second);
      }
    }
    return recording;
  } catch (const std::bad_alloc&) {
    throw;                                      // says nothing about the recording
  } catch (const Json::parse_error& problem) {  // nlohmann speaks in exceptions; they end here
    return malformed(
        fmt::format("recording.json is not JSON: it goes wrong at byte {}", problem.byte));
  } catch (const Json::exception&) {
    return malformed("recording.json is damaged: a part is missing or of another kind");
  } catch (const std::exception& problem) {
    return malformed(problem.what());
  }
}

}  // namespace tracso::os
