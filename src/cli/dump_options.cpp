#include "cli/dump_options.hpp"

#include "base/text.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

// Of a text that seconds_between() let pass.
std::chrono::milliseconds milliseconds_of(const std::string& seconds) {
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(parse_decimal(seconds).value_or(0) * 1000));
}

}  // namespace

void add_dump(CLI::App& app, DumpWords& words) {
  CLI::App* dump = app.add_subcommand(
      "dump",
      "what every thread of PID is doing: system call, lock, Python stack; nothing is stopped");
  dump->add_option("PID", words.pid, "the process")->required();
  dump->add_option("--count", words.count, "looks (1)")
      ->transform(number_between(1, 1'000'000'000))
      ->type_name("N");
  dump->add_option("--interval", words.interval, "time between two looks (1)")
      ->check(seconds_between(0, longest_time))
      ->type_name("SECONDS");
  dump->add_flag("--native",
                 words.native,
                 "native stacks too: holds each thread for a moment, one after the other");
  dump->add_flag("-C,--demangle", words.demangle, "with --native: C++ names as in the source");
  dump->add_option("--signal",
                   words.signal,
                   "then send it NAME (USR1), where it has a handler that reports (faulthandler)")
      ->type_name("NAME");
  dump->add_flag("--json", words.json, "a document; several looks: one line each");
  dump->add_option("-o,--output", words.output, "write there; - is the standard output")
      ->type_name("FILE");
  dump->add_option("--color", words.color, "auto, always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
  dump->add_option("--timeout", words.timeout, "limit of reading one look (5)")
      ->check(seconds_between(shortest_time, longest_time))
      ->type_name("SECONDS");
}

std::variant<DumpRequest, std::pair<std::string, std::string>> dump_request(
    const DumpWords& words) {
  using Wrong = std::pair<std::string, std::string>;
  const auto pid = parse_unsigned(words.pid);
  if (!pid || *pid == 0 || *pid > INT32_MAX) {
    return Wrong{fmt::format("'{}' is not a process number", printable(words.pid)),
                 "a number as 'ps' prints it: tracso dump 4192"};
  }
  const auto choice = words.color == "always"  ? ColorChoice::always
                      : words.color == "never" ? ColorChoice::never
                                               : ColorChoice::automatic;
  const Terminal terminal = look_at_terminal(choice);
  const bool to_file = !words.output.empty() && words.output != "-";
  DumpRequest request;
  request.pid = static_cast<std::int32_t>(*pid);
  request.count = words.count;
  request.interval = milliseconds_of(words.interval);
  request.timeout = milliseconds_of(words.timeout);
  request.signal = words.signal;
  request.native = words.native;
  request.demangle = words.demangle;
  request.json = words.json || lower_case(words.output).ends_with(".json");
  request.file = words.output.empty() ? std::nullopt : std::optional(words.output);
  request.render.color = terminal.color && (!to_file || words.color == "always");
  request.render.unicode = terminal.unicode;
  request.render.width = to_file ? 0 : terminal.width;
  return request;
}

}  // namespace tracso
