// The living rows of elf_cases.sh: which object a name led to, by the loader's own records.

#include "base/text.hpp"
#include "support/c_programs.hpp"
#include "support/catch.hpp"
#include "support/loader_cases.hpp"

#include <algorithm>
#include <filesystem>

namespace tracso {
namespace {

using test::LinkMapView;
using test::LoaderCase;

/// The row's command, in its directory and with its variable, held after its work.
std::vector<std::string> command_of(const LoaderCase& row) {
  std::vector<std::string> command = {
      "/bin/sh", "-c", "cd \"$0\" && exec env \"$@\"", row.working_directory, "ELFCASE_HOLD=60"};
  if (!row.environment.empty()) {
    command.push_back(row.environment);
  }
  for (const auto word : split_words(row.launch, " ")) {
    command.emplace_back(word);
  }
  return command;
}

const std::string& shown_name(const LinkMapView& view, std::size_t entry, const LoaderCase& row) {
  const auto& record = view.maps->entries[entry];
  return record.position == 0 && record.space == 0 ? row.root : record.name;
}

/// Some rows remove their library; the loader that judged them has done so already.
void restore_removed(const LoaderCase& row) {
  const auto at = row.launch.find(" rm:");
  if (at != std::string::npos) {
    const std::string removed = row.launch.substr(at + 4);
    const std::string original = removed.substr(0, removed.rfind(".tmp"));
    std::filesystem::copy_file(
        original, removed, std::filesystem::copy_options::overwrite_existing);
  }
}

/// By a DT_NEEDED of the requester; empty: it has none of that name.
std::string by_needed(const LinkMapView& view, const LoaderCase& row) {
  for (const auto& match : view.matches) {
    if (shown_name(view, match.requester, row) == row.requester &&
        view.sections[match.requester]->needed[match.needed].name == row.needed) {
      return match.target ? view.maps->entries[*match.target].name : "MISSING";
    }
  }
  return "";
}

/// By dlopen: the object that was asked for by that name, which keeps its tokens.
std::string by_dlopen(const LinkMapView& view, const LoaderCase& row) {
  for (const auto& entry : view.maps->entries) {
    const auto& names = entry.requested;
    if (std::find(names.begin(), names.end(), row.needed) != names.end()) {
      CHECK(entry.direct_opens > 0);
      return entry.name;
    }
  }
  return "MISSING";
}

}  // namespace

TEST_CASE("link map: the living rows of the loader cases", "[live][linkmap][cases]") {
  std::size_t checked = 0, spaces = 0;
  for (const auto& row : test::loader_cases()) {
    if (row.kind != "proc" && row.kind != "ns") {
      continue;
    }
    INFO(row.name << ": " << row.requester << " needs " << row.needed << ", " << row.launch);
    restore_removed(row);
    test::Child child(command_of(row));
    std::optional<std::string> line;
    do {
      line = child.line();
    } while (line && *line != "READY");
    REQUIRE(line);
    const auto view = test::look_at(child.pid());
    REQUIRE(view.maps);
    CHECK(view.maps->consistent);
    REQUIRE(view.maps->private_reason == "");
    const auto needed = by_needed(view, row);
    CHECK((needed.empty() ? by_dlopen(view, row) : needed) == row.expected);
    ++checked;
    spaces += row.kind == "ns" ? 1 : 0;
  }
  CHECK(checked >= 15);
  if (spaces == 0) {
    WARN("no row of kind ns: mount namespaces need root");
  }
}

}  // namespace tracso
