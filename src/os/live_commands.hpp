#pragma once
// Helper programs (readelf, ldconfig, dot): started clean, with a deadline, never left behind.

#include "tracso/target.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::os {

class LiveCommands final : public CommandRunner {
 public:
  Result<CommandOutput> run(const Command& command) const override;
};

/// The full path of a helper program: PATH first, then /usr/local/bin, /usr/bin, /bin and the sbin
/// folders. nullopt: not here.
std::optional<std::string> find_program(std::string_view name);

/// Our environment without LD_*, PYTHON*, GCONV_PATH and the locale, as NAME=VALUE, with LC_ALL=C.
std::vector<std::string> clean_environment();

}  // namespace tracso::os
