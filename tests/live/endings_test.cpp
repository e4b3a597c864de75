// How answers end: where they go when nobody takes them, and what is said when they cannot be had.

#include "support/catch.hpp"
#include "support/places.hpp"
#include "support/run_program.hpp"

#include <string>

namespace tracso::test {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// A line of bash, where $T is tracso and the folder is where it works.
ProgramRun shell(const TemporaryFolder& folder, const std::string& line) {
  return run_program({"/bin/bash", "-c", line}, {{"T=" + tracso_binary()}, folder.path()});
}

}  // namespace

TEST_CASE("endings: a recording goes to stdout, and to no file of that name", "[live][endings]") {
  const TemporaryFolder folder;
  const ProgramRun ran = shell(folder, "$T record $$ -o - | $T --csv --from -; test ! -e ./-");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(has(ran.out, "libc"));
  CHECK(shell(folder, "$T record $$ -o - >/dev/full").status == 2);
}

TEST_CASE("endings: what cannot be written is no success", "[live][endings]") {
  const TemporaryFolder folder;
  for (const char* words : {"calls --json /bin/true",
                            "calls --csv /bin/true",
                            "--version",
                            "--help",
                            "help costs",
                            "--explain list",
                            "--json /bin/ls"}) {
    for (const char* where : {">&-", ">/dev/full"}) {
      const ProgramRun ran = shell(folder, std::string("$T ") + words + " " + where);
      INFO(words << " " << where << ": " << ran.err);
      CHECK(ran.status == 2);
      CHECK(has(ran.err, "cannot write stdout"));
    }
    const ProgramRun pipe =
        shell(folder, std::string("$T ") + words + " | true; exit ${PIPESTATUS[0]}");
    INFO(pipe.err);
    CHECK(pipe.status == 0);
    CHECK_FALSE(has(pipe.err, "cannot write"));
  }
}

TEST_CASE("endings: a process that ends between two looks is told by status 3", "[live][endings]") {
  const TemporaryFolder folder;
  const ProgramRun ran = shell(folder,
                               "sleep 100 & p=$!; $T dump $p --count 1000000 --interval 0.01 | "
                               "{ read -r first; kill $p; cat >/dev/null; echo \"$first\"; }; "
                               "exit ${PIPESTATUS[0]}");
  INFO(ran.err);
  CHECK(ran.status == 3);
  CHECK(has(ran.out, "sleep"));
}

TEST_CASE("endings: a small file that unpacks to much costs no memory", "[live][endings]") {
  const TemporaryFolder folder;
  const ProgramRun ran =
      shell(folder, "head -c 300000000 /dev/zero | gzip -1 >bomb; $T --from bomb");
  INFO(ran.err);
  CHECK(ran.status == 6);
  CHECK(has(ran.err, "more than 256 MB"));
}

TEST_CASE("endings: another tar is no recording", "[live][endings]") {
  const TemporaryFolder folder;
  write_file(folder / "recording.json", "{}");
  write_file(folder / "data.bin", "");
  const ProgramRun ran =
      shell(folder, "tar czf t.tar.gz recording.json data.bin; $T --from t.tar.gz");
  CHECK(ran.status == 6);
  CHECK(has(ran.err, "not a recording of tracso"));
  CHECK_FALSE(has(ran.err, "json.exception"));
}

TEST_CASE("endings: a FIFO that nobody serves is not waited for without end", "[live][endings]") {
  const TemporaryFolder folder;
  const ProgramRun read = shell(folder, "mkfifo f; timeout 20 $T --timeout 0.2 --from f");
  INFO(read.err);
  CHECK(read.status == 2);
  CHECK(has(read.err, "--timeout"));
  // These have no such option.
  for (const char* command : {"calls -F f true", "diff f f"}) {
    const ProgramRun other = shell(folder, std::string("timeout 20 $T ") + command);
    INFO(other.err);
    CHECK(other.status == 2);
    CHECK(has(other.err, "nobody has written to it for 5000 ms"));
    CHECK(has(other.err, "hint: what writes to a pipe has to be started before"));
    CHECK_FALSE(has(other.err, "--timeout"));
  }
  const ProgramRun written = shell(folder, "mkfifo g; timeout 20 $T /bin/ls -o g");
  INFO(written.err);
  CHECK(written.status == 2);
  CHECK(has(written.err, "nobody reads from that FIFO"));
  const ProgramRun served = shell(folder, "$T --json /bin/ls >f & $T --csv --from f");
  INFO(served.err);
  CHECK(served.status == 0);
}

}  // namespace tracso::test
