#pragma once
// Which words an option takes as its value, and how a wrong use is told: what, on what, why, and
// what to type instead. CLI11's own sentences name its types and ranges, which say little to a
// person.

#include "cli/cli11_names.hpp"
#include "cli/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// For CLI11's check(): one of these words; completions read them from the description.
CLI::Validator one_of(const std::vector<std::string>& words);

/// For CLI11's transform(): digits, a number from `least` to `most`. CLI::Range alone takes "-1"
/// for a very large number and "010" for 8.
CLI::Validator number_between(std::uint64_t least, std::uint64_t most);

/// For CLI11's check(): a PID as `ps` prints it.
CLI::Validator process_number();

/// For CLI11's check(): "2", "0.5", a time from `least` to `most` seconds. CLI::Range alone takes
/// "nan", which lies in any range.
CLI::Validator seconds_between(double least, double most);

/// In seconds, for times that nothing else narrows.
inline constexpr double shortest_time = 0.001, longest_time = 1e6;

/// The words that one_of() was given for this option; empty: it takes others.
std::vector<std::string> choices_of(const CLI::Option& option);

/// "--depth=": nothing behind the sign, and CLI11 would take the next word for the value.
/// `ours`: the words before a CMD; `names`: every option that may stand among them.
std::optional<Leave> empty_behind_sign(const std::vector<std::string>& ours,
                                       const std::vector<std::string>& names);

/// What CLI11 refused of a known option or of a word that is none: status 2. `command`: the app
/// that was being parsed; `ours`: the words as typed, without a CMD.
Leave wrong_use(const CLI::App& command,
                const CLI::ParseError& error,
                const std::vector<std::string>& ours);

/// How an option is used, for a hint: "tracso --depth 3 PID", "tracso stat --runs 3 CMD".
std::string use_of(const CLI::App& command, const CLI::Option& option);

}  // namespace tracso
