#include "cli/dump_options.hpp"

#include "base/text.hpp"
#include "cli/terminal.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace tracso {
namespace {

std::optional<std::chrono::milliseconds> milliseconds_of(const std::string& seconds) {
  const auto value = parse_decimal(seconds);
  if (!value || *value > 1e6) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*value * 1000));
}

}  // namespace

void add_dump(CLI::App& app, DumpWords& words) {
  CLI::App* dump = app.add_subcommand(
      "dump",
      "what every thread of PID is doing: system call, lock, Python stack; nothing is stopped");
  dump->add_option("PID", words.pid, "the process")->required();
  CLI::Range range(std::size_t{1}, std::size_t{1'000'000'000});
  dump->add_option("--count", words.count, "looks (1)")
      ->check(range.description(""))
      ->type_name("N");
  dump->add_option("--interval", words.interval, "time between two looks (1)")
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
      ->check(CLI::IsMember({"auto", "always", "never"}));
  dump->add_option("--timeout", words.timeout, "limit of reading one look (5)")
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
  const auto interval = milliseconds_of(words.interval);
  if (!interval) {
    return Wrong{
        fmt::format("--interval '{}' is not a number of seconds", printable(words.interval)),
        "tracso dump --count 3 --interval 0.5 PID"};
  }
  const auto timeout = milliseconds_of(words.timeout);
  if (!timeout || timeout->count() == 0) {
    return Wrong{fmt::format("--timeout '{}' is not a number of seconds", printable(words.timeout)),
                 "tracso dump --timeout 10 PID"};
  }
  const auto choice = words.color == "always"  ? ColorChoice::always
                      : words.color == "never" ? ColorChoice::never
                                               : ColorChoice::automatic;
  const Terminal terminal = look_at_terminal(choice);
  const bool to_file = !words.output.empty() && words.output != "-";
  DumpRequest request;
  request.pid = static_cast<std::int32_t>(*pid);
  request.count = words.count;
  request.interval = *interval;
  request.timeout = *timeout;
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
