#include "cli/options.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

using namespace tracso;
using Words = std::vector<std::string>;
using Form = CallsRequest::Form;

namespace {

CallsRequest parsed(Words words) {
  words.insert(words.begin(), "calls");
  words.insert(words.end(), {"ls", "-T"});
  auto result = parse_options(words);
  REQUIRE(std::holds_alternative<Request>(result));
  auto& request = std::get<Request>(result);
  REQUIRE(std::holds_alternative<CallsRequest>(request));
  return std::get<CallsRequest>(request);
}

std::string refusal(Words words) {
  words.insert(words.begin(), "calls");
  words.push_back("ls");
  const auto result = parse_options(words);
  REQUIRE(std::holds_alternative<Leave>(result));
  CHECK(std::get<Leave>(result).status == 2);
  return std::get<Leave>(result).err;
}

}  // namespace

TEST_CASE("calls options: lines of the program itself, unless a table or a filter is asked for",
          "[cli]") {
  const auto plain = parsed({});
  CHECK(plain.form == Form::lines);
  CHECK(plain.command == Words{"ls", "-T"});
  REQUIRE(plain.filter.rules.size() == 1);
  CHECK(plain.filter.rules[0].library == "MAIN");
  CHECK_FALSE(plain.lines.caller);
  CHECK_FALSE(plain.lines.took);
  const auto filtered = parsed({"-e", "open*"});
  CHECK(filtered.form == Form::lines);
  CHECK(filtered.filter.rules.size() == 1);
  CHECK(filtered.lines.caller);
  for (const Words& table :
       {Words{"-c"}, {"--group", "caller"}, {"--exact"}, {"--count"}, {"--limit", "0"}}) {
    const auto request = parsed(table);
    CHECK(request.form == Form::text);
    CHECK(request.filter.rules.empty());
  }
  CHECK(parsed({"--json"}).form == Form::records);
  CHECK(parsed({"--json", "-o", "x"}).form == Form::records);
  CHECK(parsed({"-o", "x.jsonl"}).form == Form::records);
  CHECK(parsed({"-o", "x.NDJSON"}).form == Form::records);
  for (const Words& words : {Words{"-c"}, {"--count"}, {"--group", "caller"}, {"--limit", "3"}}) {
    Words with_json = words;
    with_json.emplace_back("--json");
    CHECK(parsed(with_json).form == Form::json);
  }
  CHECK(parsed({"--json", "-o", "x.json"}).form == Form::json);
  CHECK_FALSE(refusal({"-c", "-o", "x.jsonl"}).empty());
  CHECK(parsed({"--csv"}).form == Form::csv);
  CHECK(parsed({"-o", "x.json"}).form == Form::json);
  CHECK(parsed({"-o", "x.txt"}).form == Form::lines);
}

TEST_CASE("calls options: ltrace's letters", "[cli]") {
  const auto lines =
      parsed({"-tt", "-T", "-i", "-C", "-n", "2", "-a", "30", "-s", "99", "-f", "--drop", "-b"})
          .lines;
  CHECK(lines.time == calls::LineTime::microseconds);
  CHECK(lines.took);
  CHECK(lines.instruction);
  CHECK(lines.demangle);
  CHECK(lines.indent == 2);
  CHECK(lines.align == 30);
  CHECK(lines.limits.text_bytes == 99);
  CHECK(lines.limits.elements == 4);
  CHECK(parsed({"-A", "2"}).lines.limits.elements == 2);
  CHECK(parsed({"-F", "a", "--config", "b"}).configurations == Words{"a", "b"});
  CHECK(lines.always_pid);
  CHECK(parsed({"-t"}).lines.time == calls::LineTime::seconds);
  CHECK(parsed({"-t", "-t", "-t"}).lines.time == calls::LineTime::epoch);
  CHECK(parsed({"-r"}).lines.time == calls::LineTime::relative);
  CHECK(parsed({"-L", "-e", "open"}).form == Form::lines);
}

TEST_CASE("calls options: -x and -S are seen from outside", "[cli]") {
  using Engine = CallsRequest::Engine;
  CHECK(parsed({}).engine == Engine::automatic);
  CHECK(parsed({"--engine", "agent"}).engine == Engine::agent);
  const auto calls = parsed({"-S"});
  CHECK(calls.engine == Engine::ptrace);
  CHECK(calls.system_calls);
  CHECK_FALSE(calls.no_imports);
  CHECK_FALSE(calls.entries);
  REQUIRE(calls.filter.rules.size() == 1);
  CHECK(calls.filter.rules[0].library == "MAIN");
  const auto entries = parsed({"-L", "-x", "work+inner@MAIN", "-x", "SSL_*", "-b"});
  CHECK(entries.engine == Engine::ptrace);
  CHECK(entries.no_imports);
  CHECK(entries.no_signals);
  REQUIRE(entries.entries);
  CHECK(entries.entries->rules.size() == 3);
  const auto other = parsed({"-u", "nobody"});
  CHECK(other.engine == Engine::ptrace);
  CHECK(other.user == "nobody");
  CHECK_FALSE(other.no_imports);
  CHECK(parsed({"-x", "f", "-e", "open*"}).lines.caller);
  CHECK(parsed({"-c", "-S"}).filter.rules.size() == 1);
  for (const Words& words : {Words{"-S", "--count"},
                             {"-x", "f", "--intra"},
                             {"--engine", "ptrace", "--drop"},
                             {"--engine", "agent", "-S"},
                             {"-u", "nobody", "--engine", "agent"},
                             {"--engine", "other"},
                             {"-x", "/f/"}}) {
    CHECK_FALSE(refusal(words).empty());
  }
}

TEST_CASE("calls options: the file's name chooses a picture", "[cli]") {
  const auto dot = parsed({"-o", "x.dot"});
  CHECK(dot.form == CallsRequest::Form::dot);
  CHECK(dot.image.empty());
  CHECK(dot.group == CallGroup::libraries);
  CHECK(parsed({"-o", "x.SVG"}).image == "svg");
  CHECK(parsed({"--count", "-o", "x.png"}).form == CallsRequest::Form::dot);
  CHECK(parsed({"--json", "-o", "x.json"}).form == CallsRequest::Form::json);
  CHECK(refusal({"-o", "x.dot", "--group", "thread"}).find("a picture shows libraries") !=
        std::string::npos);
  CHECK(refusal({"-o", "x.svg", "-T"}).find("about lines") != std::string::npos);
}

TEST_CASE("calls options: what would be ignored is refused", "[cli]") {
  for (const Words& words : {Words{"-d", "1"}, {"-L"}}) {
    const auto text = refusal(words);
    INFO(text);
    CHECK(text.find("tracso: " + words.front()) == 0);
    CHECK(text.find("hint: ") != std::string::npos);
  }
  CHECK(parsed({"-s", "16384"}).lines.limits.text_bytes == 16384);
  for (const char* bytes : {"16385", "1000000", "-1"}) {
    CHECK(refusal({"-s", bytes}).find("16384") != std::string::npos);
  }
  for (const Words& words : {Words{"-c", "-T"},
                             {"-c", "-t"},
                             {"-c", "--json", "-i"},
                             {"-c", "-F", "f"},
                             {"-c", "-A", "3"},
                             {"--group", "caller", "-n", "3"},
                             {"-c", "-s", "99"},
                             {"-c", "--drop"}}) {
    CHECK(refusal(words).find("about lines") != std::string::npos);
  }
  for (const Words& words :
       {Words{"--json", "-n", "2"}, {"--json", "-a", "30"}, {"-o", "x.jsonl", "-r"}}) {
    CHECK(refusal(words).find("lines of JSON") != std::string::npos);
  }
  CHECK(refusal({"-p", "1", "--for", "3"}).find("-d SECONDS") != std::string::npos);
}

TEST_CASE("calls options: processes instead of a command", "[cli]") {
  const auto run = [](Words words) {
    words.insert(words.begin(), "calls");
    return parse_options(words);
  };
  const auto request = run({"-p", "12", "-p", "13", "-d", "0.5", "-c"});
  REQUIRE(std::holds_alternative<Request>(request));
  const auto& calls = std::get<CallsRequest>(std::get<Request>(request));
  CHECK(calls.processes == std::vector<std::int32_t>{12, 13});
  CHECK(calls.seconds == std::chrono::milliseconds(500));
  CHECK(calls.command.empty());
  const auto outside = run({"-p", "12", "-S"});
  REQUIRE(std::holds_alternative<Request>(outside));
  CHECK(std::get<CallsRequest>(std::get<Request>(outside)).system_calls);
  CHECK(std::get<CallsRequest>(std::get<Request>(outside)).no_imports);
  const auto twice = run({"-p", "12", "-p", "13", "-p", "12", "-c"});
  REQUIRE(std::holds_alternative<Request>(twice));
  CHECK(std::get<CallsRequest>(std::get<Request>(twice)).processes ==
        std::vector<std::int32_t>{12, 13});
  for (const Words& words : {Words{"-p", "1", "ls"},
                             {"-f", "-p", "1"},
                             {"-p", "0"},
                             {"-p", "x"},
                             {"-p", "1", "-d", "0"},
                             {"-p", "1", "-d", "nan"},
                             {"-p", "1", "-d", "inf"},
                             {"-p", "1", "-x", "main"},
                             {"-p", "1", "--engine", "ptrace"},
                             {"-p", "1", "-S", "-e", "open"},
                             {"-p", "1", "-p", "2", "-S"}}) {
    const auto refused = run(words);
    REQUIRE(std::holds_alternative<Leave>(refused));
    CHECK(std::get<Leave>(refused).status == 2);
  }
}
