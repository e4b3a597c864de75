#include "commands/diff_descriptors.hpp"

#include "base/text.hpp"
#include "commands/output.hpp"
#include "commands/stat_look.hpp"
#include "compare/descriptor_change.hpp"
#include "graph/fds_json.hpp"
#include "os/disk.hpp"
#include "os/live_commands.hpp"
#include "os/live_process.hpp"
#include "render/fds_text.hpp"
#include "render/stat_json.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// nullopt: it is something else, of which the comparison of traces knows what to say.
Result<std::optional<SavedDescriptors>> saved_side(const std::string& word) {
  if (is_number(word) || word == "-") {
    return std::optional<SavedDescriptors>();
  }
  const auto text = os::read_disk_file(word);
  return text ? read_fds_json(*text, word) : std::optional<SavedDescriptors>();
}

Result<std::vector<Descriptor>> live_side(const std::string& word, std::vector<Notice>& notices) {
  const auto pid = static_cast<std::int32_t>(parse_unsigned(word).value_or(0));
  const auto process = os::LiveProcess::open(pid);
  return process ? collect_descriptors(**process, descriptor_borrower(pid), notices)
                 : Result<std::vector<Descriptor>>(process.error());
}

Error no_partner(const std::string& word) {
  return {ErrorKind::usage,
          "compare descriptors with",
          word,
          "it is neither a PID nor a document of 'tracso fds --json'",
          "tracso diff old-fds.json PID"};
}

}  // namespace

std::optional<int> diff_descriptors(const DiffRequest& request) {
  std::vector<Notice> notices;
  std::vector<Descriptor> sides[2];
  const std::string* const words[2] = {&request.before, &request.after};
  Result<std::optional<SavedDescriptors>> saved[2] = {saved_side(*words[0]), saved_side(*words[1])};
  for (const auto& one : saved) {
    if (!one) {
      return fail(one.error());
    }
  }
  if (!*saved[0] && !*saved[1]) {
    return std::nullopt;
  }
  if (!request.gates.empty()) {
    return fail({ErrorKind::usage,
                 "hold descriptors against",
                 "--fail-on",
                 "its conditions are of libraries and findings",
                 "tracso stat -p PID --max-fds N"});
  }
  for (int i = 0; i < 2; ++i) {
    if (*saved[i]) {
      sides[i] = std::move((*saved[i])->descriptors);
      continue;
    }
    auto live = is_number(*words[i]) ? live_side(*words[i], notices)
                                     : Result<std::vector<Descriptor>>(no_partner(*words[i]));
    if (!live) {
      return fail(live.error());
    }
    sides[i] = std::move(*live);
  }
  const DescriptorChange change = compare_descriptors(sides[0], sides[1]);
  const std::string text =
      request.output.json
          ? descriptor_diff_json(request.before, request.after, change, notices)
          : descriptor_diff_text(request.output.render, request.before, request.after, change);
  OutputOptions options;
  options.file = request.output.file;
  const os::LiveCommands commands;
  const auto done = deliver(text, options, commands);
  return done ? 0 : fail(done.error());
}

}  // namespace tracso
