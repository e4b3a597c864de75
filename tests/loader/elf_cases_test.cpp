// Every row of elf_cases.sh that a resolver of files can answer: the right file by the right rule.
// The rows have been judged by the real loaders of this machine before.

#include "base/text.hpp"
#include "elf/native_reader.hpp"
#include "loader/resolver.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"
#include "support/loader_cases.hpp"

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

namespace tracso::loader {
namespace {

using test::LoaderCase;

struct Answer {
  std::string text = "NOT-REQUESTED";
  const ResolvedEdge* edge = nullptr;
};

std::string answer_text(const Resolution& resolution, const ResolvedEdge& edge) {
  if (edge.to) {
    const auto& object = resolution.objects[*edge.to];
    return object.role == ResolvedObject::Role::program ? "EXE" : object.l_name;
  }
  return edge.fatal.empty() ? "MISSING" : "FATAL:" + edge.fatal;
}

Answer find_answer(const Resolution& resolution, const LoaderCase& row) {
  Answer answer;
  for (const auto& edge : resolution.edges) {
    const auto& from = resolution.objects[edge.from];
    const bool is_program = from.role == ResolvedObject::Role::program;
    const std::string& requester = is_program ? row.root : from.l_name;
    if (requester == row.requester && edge.needed == row.needed) {
      answer = {answer_text(resolution, edge), &edge};
    }
  }
  return answer;
}

// The words of "LAUNCHER... PROGRAM arguments", from the program on.
std::vector<std::string> arguments_of(const LoaderCase& row) {
  std::vector<std::string> arguments;
  const auto at = row.launch.find(row.root);
  if (at != std::string::npos) {
    for (const auto word : split_words(std::string_view(row.launch).substr(at), " ")) {
      arguments.emplace_back(word);
    }
  }
  return arguments;
}

// "ld.so --library-path DIR PROGRAM"
void read_launcher(const LoaderCase& row, LoadEnvironment& environment) {
  constexpr std::string_view option = " --library-path ";
  const auto at = row.launch.find(option);
  if (at != std::string::npos) {
    const std::string rest = row.launch.substr(at + option.size());
    environment.interpreter = TargetPath{row.launch.substr(0, at)};
    environment.library_path = rest.substr(0, rest.find(' '));
    environment.library_path_setting = "--library-path";
  }
}

LoadEnvironment environment_of(const LoaderCase& row, const FileSystem& files) {
  std::vector<Variable> variables;
  if (const auto equals = row.environment.find('='); equals != std::string::npos) {
    variables.emplace_back(row.environment.substr(0, equals), row.environment.substr(equals + 1));
  }
  auto environment =
      make_load_environment(files, variables, row.working_directory, row.kind == "suid");
  read_launcher(row, environment);
  return environment;
}

// What the program of the proc rows does with its arguments, as far as it is about loading.
void replay(Resolver& resolver, const LoaderCase& row) {
  const auto arguments = arguments_of(row);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    std::size_t caller = 0;
    std::string_view name = word;
    if (word.starts_with("cd:")) {
      resolver.set_working_directory(std::string(word.substr(3)));
      continue;
    }
    if (word.starts_with("rm:") || word.starts_with("mv:") || word.starts_with("setllp:")) {
      continue;
    }
    if (word.starts_with("via:")) {
      name = word.substr(4);
      const auto& objects = resolver.resolution().objects;
      for (std::size_t k = 0; k < objects.size(); ++k) {
        caller = objects[k].elf->dynamic.soname == "libcaller.so" ? k : caller;
      }
    } else if (word.starts_with("ns:")) {
      name = word.substr(3);
    }
    resolver.dlopen(caller, name);
  }
}

// "runpath (cwd)" -> rule runpath, detail with "cwd" in it.
struct ExpectedRule {
  Rule rule = Rule::none;
  std::vector<std::string> details;
};

ExpectedRule expected_rule(const LoaderCase& row) {
  static const std::map<std::string, Rule> rules = {
      {"runpath", Rule::runpath},
      {"rpath", Rule::rpath},
      {"LD_LIBRARY_PATH", Rule::env},
      {"--library-path", Rule::env},
      {"direct", Rule::direct},
      {"already loaded", Rule::already_loaded},
      {"ld.so.cache", Rule::cache},
      {"default dir", Rule::default_dir},
      {"reserved name", Rule::reserved},
  };
  std::string how = row.how;
  for (const std::string_view lead : {"preload, ", "dlopen, "}) {
    how = how.starts_with(lead) ? how.substr(lead.size()) : how;
  }
  ExpectedRule expected;
  for (const auto& [words, rule] : rules) {
    if (how.starts_with(words)) {
      expected.rule = rule;
    }
  }
  if (how == "preload" || how.starts_with("ORIGIN of the caller")) {
    expected.rule = Rule::direct;
  }
  const std::vector<std::pair<std::string_view, std::string>> details = {
      {"path of exe", "inherited from exe"},
      {"(cwd", "cwd"},
      {"(hwcaps)", "hwcaps x86-64-v"},
      {"legacy hwcaps", "legacy hwcaps tls"},
      {"(inode)", "inode"},
      {"(interpreter)", "interpreter"},
      {"SONAME)", "soname"},
      {"(LD_PRELOAD", "LD_PRELOAD"},
      {"(/etc/ld.so.preload)", "/etc/ld.so.preload"},
  };
  for (const auto& [words, detail] : details) {
    if (how.find(words) != std::string::npos && !row.how.starts_with("preload")) {
      expected.details.push_back(detail);
    }
  }
  return expected;
}

void check_answer(const Resolution& resolution, const LoaderCase& row) {
  const Answer answer = find_answer(resolution, row);
  // The one error of musl is not in the rows.
  const bool is_musl_error = row.kind == "musl" && answer.text == "FATAL:Exec format error";
  CHECK((is_musl_error ? "MISSING" : answer.text) == row.expected);
  if (answer.edge == nullptr || !answer.edge->to) {
    return;
  }
  const ExpectedRule expected = expected_rule(row);
  INFO("rule " << static_cast<int>(answer.edge->rule) << ", detail '" << answer.edge->detail
               << "'");
  CHECK(answer.edge->rule == expected.rule);
  for (const auto& detail : expected.details) {
    CHECK(answer.edge->detail.find(detail) != std::string::npos);
  }
  if (expected.details.empty()) {
    CHECK(answer.edge->detail == "");
  }
  REQUIRE(!answer.edge->search.empty());
}

std::unique_ptr<FileSystem> files_of(const LoaderCase& row) {
  if (row.kind != "chroot") {
    return std::make_unique<os::LiveFiles>(row.working_directory);
  }
  const auto words = split_words(row.launch, " ");
  auto root = os::open_root(std::string(words.at(1)));
  REQUIRE(root);
  return std::move(*root);
}

void check_row(const LoaderCase& row) {
  const auto files = files_of(row);
  const auto reader = elf::make_native_reader();
  Resolver resolver(*files, *reader, environment_of(row, *files));
  REQUIRE(resolver.start(TargetPath{row.root}));
  if (row.kind == "proc") {
    replay(resolver, row);
  }
  check_answer(resolver.resolution(), row);
}

// As another user: the answer comes through a pipe.
std::string answer_as_nobody(const LoaderCase& row) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) {
    return "no pipe";
  }
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned nobody = 65534;
    const bool changed =
        ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
    const os::LiveFiles files(row.working_directory);
    const auto reader = elf::make_native_reader();
    Resolver resolver(files, *reader, environment_of(row, files));
    std::string text = "cannot become nobody";
    if (changed && resolver.start(TargetPath{row.root})) {
      text = find_answer(resolver.resolution(), row).text;
    }
    const auto written = ::write(ends[1], text.data(), text.size());
    ::_exit(written > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text(4096, '\0');
  const auto got = ::read(ends[0], text.data(), text.size());
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

// What only the records of the living process know.
bool is_about_records(const LoaderCase& row) {
  return row.name == "p09_deleted_after_load";
}

std::map<std::string, int> rows_by_kind() {
  std::map<std::string, int> counts;
  for (const auto& row : test::loader_cases()) {
    ++counts[row.kind];
  }
  return counts;
}

}  // namespace

TEST_CASE("loader cases: the machine can build and judge every kind", "[loader][cases]") {
  const auto counts = rows_by_kind();
  // Root, gcc, gcc -m32, musl-gcc and ldconfig: a kind without rows would be a silent skip.
  for (const auto* kind : {"exec", "proc", "chroot", "suid", "user", "musl"}) {
    INFO(kind << " rows are missing: is this root, with gcc, gcc-multilib and musl-tools?");
    CHECK(counts.count(kind) == 1);
  }
  for (const auto& row : test::loader_cases()) {
    INFO(row.name << " [" << row.kind << "] " << row.requester << " needs " << row.needed
                  << ": the loader gave " << row.actual << ", not " << row.expected);
    CHECK(row.verdict == "PASS");
  }
}

TEST_CASE("loader cases: the resolver gives the loader's file by the loader's rule",
          "[loader][cases]") {
  std::map<std::string, int> seen;
  for (const auto& row : test::loader_cases()) {
    if (row.kind == "ns" || row.kind == "user" || is_about_records(row)) {
      continue;
    }
    const std::string number = std::to_string(++seen[row.name]);
    DYNAMIC_SECTION(row.name << " " << number) {
      INFO(row.requester << " needs " << row.needed << " [" << row.how << "]");
      check_row(row);
    }
  }
}

TEST_CASE("loader cases: what another user may not read is passed over", "[loader][cases]") {
  for (const auto& row : test::loader_cases()) {
    if (row.kind == "user") {
      DYNAMIC_SECTION(row.name) {
        CHECK(answer_as_nobody(row) == row.expected);
      }
    }
  }
}

}  // namespace tracso::loader
