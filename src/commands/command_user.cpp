#include "commands/command_user.hpp"

#include "base/text.hpp"
#include "os/live_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

namespace tracso {
namespace {

// One more than setgroups(2) takes is of no use.
constexpr std::size_t most_groups = 65536;

std::string content(const char* path) {
  constexpr std::size_t most = std::size_t{64} << 20U;
  const os::LiveFiles files;
  const auto file = files.open({path});
  std::string text;
  std::array<char, 65536> piece{};
  while (file && text.size() < most) {
    const auto got = (*file)->read_at(text.size(), std::as_writable_bytes(std::span(piece)));
    if (!got || *got == 0) {
      break;
    }
    text.append(piece.data(), *got);
  }
  return text;
}

std::optional<std::uint32_t> id_of(std::string_view digits) {
  const auto number = parse_unsigned(digits);
  return number && *number < UINT32_MAX ? std::optional(static_cast<std::uint32_t>(*number))
                                        : std::nullopt;
}

}  // namespace

Result<launch::CommandUser> find_user(std::string_view user,
                                      std::string_view passwd,
                                      std::string_view group) {
  std::optional<launch::CommandUser> found;
  std::string name;
  const auto number = id_of(user);
  for (const auto line : split(passwd, '\n')) {
    const auto fields = split(line, ':');
    const auto user_id = fields.size() > 3 ? id_of(fields[2]) : std::nullopt;
    const auto group_id = fields.size() > 3 ? id_of(fields[3]) : std::nullopt;
    if (user_id && group_id && !found && (fields[0] == user || (number && *user_id == *number))) {
      found = launch::CommandUser{*user_id, *group_id, {}};
      name = fields[0];
    }
  }
  if (!found && number) {
    return launch::CommandUser{*number, *number, {}};
  }
  if (!found) {
    return Error{ErrorKind::usage,
                 "run the command as",
                 std::string(user),
                 "there is no such user",
                 "names are those of /etc/passwd; a number needs no entry there"};
  }
  found->groups.push_back(found->group);
  for (const auto line : split(group, '\n')) {
    const auto fields = split(line, ':');
    const auto id = fields.size() > 3 ? id_of(fields[2]) : std::nullopt;
    const auto members = id ? split(fields[3], ',') : std::vector<std::string_view>();
    if (id && *id != found->group && found->groups.size() < most_groups &&
        std::find(members.begin(), members.end(), name) != members.end()) {
      found->groups.push_back(*id);
    }
  }
  return *found;
}

Result<launch::CommandUser> user_for_command(std::string_view user) {
  auto found = find_user(user, content("/etc/passwd"), content("/etc/group"));
  if (found && ::geteuid() != 0 && found->user != ::geteuid()) {
    return Error{ErrorKind::denied,
                 "run the command as",
                 std::string(user),
                 "only root may run it as another user",
                 "sudo tracso calls -u USER CMD"};
  }
  return found;
}

}  // namespace tracso
