#pragma once
// The options of `tracso dump`.

#include "cli/cli11_names.hpp"
#include "commands/dump_command.hpp"

#include <cstdint>
#include <string>

namespace tracso {

struct DumpWords {
  std::string pid, interval = "1", output, color = "auto", timeout = "5", signal;
  std::uint64_t count = 1;
  bool json = false, native = false, demangle = false;
};

/// `words` must outlive the parsing.
void add_dump(CLI::App& app, DumpWords& words);

/// The request; or what is wrong and what to try, in that order.
std::variant<DumpRequest, std::pair<std::string, std::string>> dump_request(const DumpWords& words);

}  // namespace tracso
