#include "cli/unknown_option.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso {
namespace {

// "-p 4192" of py-spy, strace and ps, where the process stands by itself here.
std::string process_option(std::string_view command, std::string_view name) {
  constexpr std::array<std::string_view, 6> by_itself{"", "dump", "fds", "watch", "record", "diff"};
  const bool is_process = name == "-p" || name == "--pid";
  if (!is_process || std::find(by_itself.begin(), by_itself.end(), command) == by_itself.end()) {
    return "";
  }
  return fmt::format("the process stands by itself: tracso {}{}4192{}",
                     command,
                     command.empty() ? "" : " ",
                     command == "record" ? " -o case.tar.gz"
                     : command == "diff" ? " 4193"
                                         : "");
}

// How long to look: calls has ltrace's and perf's letter, what reads costs a word.
std::string duration_option(std::string_view name, const std::vector<std::string>& names) {
  const auto has = [&](const char* one) {
    return std::find(names.begin(), names.end(), one) != names.end();
  };
  if (name == "--for" && has("--calls")) {
    return "for how long calls are counted: --calls SECONDS; what grows meanwhile: tracso stat -p "
           "PID --for SECONDS";
  }
  if (name == "-d" || name == "--duration") {
    return has("--for")        ? "for how long: --for SECONDS"
           : has("--calls")    ? "for how long calls are counted: --calls SECONDS"
           : has("--interval") ? "how many looks, and how far apart: --count N --interval SECONDS"
                               : "";
  }
  return name == "--for" && has("--duration") ? "for how long: -d SECONDS" : "";
}

std::string close_names(const std::string& name, const std::vector<std::string>& names) {
  // Of a single letter every other is as close.
  return name.size() <= 2 ? "" : join(did_you_mean(name, names, 2), " or ");
}

}  // namespace

Leave unknown_option(std::string_view command,
                     const std::string& word,
                     const std::vector<std::string>& names) {
  const std::string name = word.substr(0, word.find('='));
  const std::string what = fmt::format("unknown option '{}'", printable(name));
  for (const std::string& hint : {process_option(command, name), duration_option(name, names)}) {
    if (!hint.empty()) {
      return usage_error(what, hint);
    }
  }
  const std::string close = close_names(name, names);
  return usage_error(
      what,
      !close.empty()
          ? fmt::format("did you mean {}?", close)
          : fmt::format("'tracso {}{}-h' lists the options", command, command.empty() ? "" : " "));
}

std::optional<Leave> unknown_among(std::string_view command,
                                   const std::vector<std::string>& ours,
                                   const std::vector<std::string>& known,
                                   const std::vector<std::string>& names) {
  const auto has = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (const std::string& word : ours) {
    const bool joined = word.size() > 2 && word[1] != '-' && has(word.substr(0, 2));  // "-p4192"
    if (word.size() > 1 && word.starts_with('-') && word != "--" && !joined &&
        !has(word.substr(0, word.find('=')))) {
      return unknown_option(command, word, names);
    }
  }
  return std::nullopt;
}

}  // namespace tracso
