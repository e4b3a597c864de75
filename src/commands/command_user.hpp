#pragma once
// Whom a command is to run as, by the files that tell of users (passwd(5), group(5)).

#include "tracso/result.hpp"

#include "launch/spawn.hpp"

#include <string_view>

namespace tracso {

/// A name, or a number, which needs no entry. `passwd` and `group`: the files' content. usage:
/// there is no such user.
Result<launch::CommandUser> find_user(std::string_view user,
                                      std::string_view passwd,
                                      std::string_view group);

/// The same, by the files of this machine. denied: only root may.
Result<launch::CommandUser> user_for_command(std::string_view user);

}  // namespace tracso
