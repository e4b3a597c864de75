#include "cli/examples.hpp"

#include <array>
#include <utility>

namespace tracso {
namespace {

const std::vector<Example> of_the_program{
    {"tracso 4192", "what process 4192 has loaded, and why"},
    {"tracso --run python3 -c 'import ssl'", "run a command, report it at its end"},
    {"tracso --why libssl.so.3", "who brought it, by which rule (last trace)"},
    {"tracso --findings 4192", "what is wrong in it, and what to do"},
    {"tracso --who libssl", "which processes have it, in which version"},
    {"tracso --bindings 4192", "whose functions are really called"},
    {"tracso /usr/bin/gdb", "what a program would load"},
    {"tracso --json 4192 | jq '.totals'", "everything, for scripts"},
    {"tracso 4192 -o graph.svg", "a picture (Graphviz)"},
    {"tracso help attribution", "the guide: 'tracso help' lists its topics"}};

const std::vector<Example> of_stat{
    {"tracso stat python3 -c 'import ssl'", "what a command costs, to its very end"},
    {"tracso stat --max-peak 500M --no-leaks python3 -c 'import ssl'",
     "exit 1 if it takes more, or leaves something open"},
    {"tracso stat --runs 3 --save-baseline base.json python3 -c 'import ssl'",
     "write the figures down"},
    {"tracso stat --baseline base.json --fail-on-regression 10% python3 -c 'import ssl'",
     "... and later compare with them"},
    {"tracso stat -p 4192 --for 1", "what grows in a process"},
    {"tracso stat --attribution=objects --for 1 -p 4192", "... by type of Python object"}};

const std::vector<Example> of_calls{
    {"tracso calls ls -l", "each call of ls itself, as ltrace shows them"},
    {"tracso calls -e 'open*+read' -T -o calls.txt ls", "those of all its libraries, with times"},
    {"tracso calls -c ls -l", "a table: every function that any library called"},
    {"tracso calls --group libraries python3 -c 'import ssl'",
     "which library uses which, and for how long"},
    {"tracso calls -o calls.svg ls -l", "the same as a picture (Graphviz)"},
    {"tracso calls --callee 'libcrypto.so*' python3 -c 'import ssl'", "only calls into that one"},
    {"tracso calls -e 'malloc+free-@libc.so*' ls",
     "as ltrace filters: function@library that calls"},
    {"tracso calls -c -p 4192 -d 1", "of a process that runs, for a second"},
    {"tracso calls --json ls | jq .function", "each call as an object on a line of its own"},
    {"tracso calls -c --json ls", "the table for scripts; the command's output goes to stderr"},
    {"tracso calls -S -x 'qsort*' sort /etc/passwd",
     "functions inside a library or program, and system calls"}};

const std::vector<Example> of_dump{
    {"tracso dump 4192", "what each thread does and waits for, with Python's frames"},
    {"tracso dump --native -C 4192", "... and with machine code's"},
    {"tracso dump --count 3 --interval 0.2 4192", "three looks: does anything move?"},
    {"tracso dump --json 4192 | jq '.threads[].name'", "for scripts"}};

const std::vector<Example> of_fds{
    {"tracso fds 4192", "every descriptor: what it is, and who has the other end"},
    {"tracso fds --queues 4192", "... and how many bytes wait there unread"},
    {"tracso fds --rate 1 4192", "... and how many pass each second"},
    {"tracso fds --csv 4192 > descriptors.csv", "for a spreadsheet"}};

const std::vector<Example> of_watch{
    {"tracso watch 4192 --for 60", "memory, descriptors, threads and cpu, live; what grows"},
    {"tracso watch 4192 --for 60 | jq '.rss'", "JSON Lines where it is no terminal"},
    {"tracso watch --for 60 --stream memory.log --stream-format text 4192", "a log beside it"}};

const std::vector<Example> of_diff{
    {"tracso record 4192 -o before.tar.gz", "write down what is there now"},
    {"tracso diff before.tar.gz 4192", "... and what has changed since"},
    {"tracso diff --fail-on 'libs>0' before.tar.gz 4192", "exit 1 if a library was added"}};

const std::vector<Example> of_record{
    {"tracso record 4192 -o case.tar.gz", "all that a report of process 4192 needs"},
    {"tracso --from case.tar.gz --why libc.so.6", "... asked elsewhere"}};

}  // namespace

std::vector<Example> examples_of(std::string_view command) {
  const std::array<std::pair<std::string_view, const std::vector<Example>*>, 8> tables{
      {{"", &of_the_program},
       {"stat", &of_stat},
       {"calls", &of_calls},
       {"dump", &of_dump},
       {"fds", &of_fds},
       {"watch", &of_watch},
       {"diff", &of_diff},
       {"record", &of_record}}};
  for (const auto& [name, table] : tables) {
    if (name == command) {
      return *table;
    }
  }
  return {};
}

std::vector<std::string_view> usage_of(std::string_view command) {
  using Lines = std::vector<std::string_view>;
  return command.empty() ? Lines{"tracso [options] [TARGET]",
                                 "tracso [options] --run CMD [ARG...]",
                                 "tracso COMMAND [options] ..."}
         : command == "stat"
             ? Lines{"tracso stat [options] CMD [ARG...]", "tracso stat [options] -p PID"}
         : command == "calls"  ? Lines{"tracso calls [options] CMD [ARG...]",
                                      "tracso calls [options] -p PID [-d SECONDS]"}
         : command == "dump"   ? Lines{"tracso dump [options] PID"}
         : command == "fds"    ? Lines{"tracso fds [options] PID"}
         : command == "watch"  ? Lines{"tracso watch [options] PID"}
         : command == "diff"   ? Lines{"tracso diff [options] OLD NEW"}
         : command == "record" ? Lines{"tracso record [options] PID -o DEST"}
         : command == "help"   ? Lines{"tracso help [TOPIC]"}
                               : Lines{};
}

}  // namespace tracso
