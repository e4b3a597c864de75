#include "os/recording.hpp"

#include "os/archive.hpp"
#include "support/catch.hpp"
#include "support/fake_target.hpp"

namespace tracso::os {
namespace {

std::string read(const File& file, std::uint64_t offset, std::size_t count) {
  std::string text(count, '\0');
  const auto got = file.read_at(offset, std::as_writable_bytes(std::span(text)));
  return got ? text.substr(0, *got) : "error: " + got.error().reason;
}

std::string memory(const ProcessSource& process, std::uint64_t address, std::size_t count) {
  std::string text(count, '\0');
  return process.read_memory(address, std::as_writable_bytes(std::span(text))) ? text : "error";
}

// A run that reads a bit of everything, through the recorder.
Recording record_a_run(test::FakeTarget& fake) {
  fake.process.texts["maps"] =
      "00400000-00401000 r-xp 00000000 08:01 7 /bin/\xff"
      "app\n";
  fake.process.texts["environ"] = std::string("SECRET=1\0LD_PRELOAD=/x.so\0PYTHONPATH=/p\0", 40);
  fake.process.texts["cmdline"] = std::string("python3\0--password=x\0", 21);
  fake.process.links["exe"] = "/bin/app";
  fake.process.lists["task"] = {"1", "2"};
  fake.process.memory[0x1000] = "0123456789abcdef";
  fake.files.files["/lib/a.so"] = std::string(10000, 'a') + "tail";
  fake.process.mapped[0x400000] = "mapped content";
  fake.commands.outputs["ldconfig -p"] = {0, "out\xe9", ""};
  Recording recording;
  const auto doors = record_through(fake.target(), recording);
  CHECK(doors.process->read("maps"));
  CHECK(doors.process->read("environ"));
  CHECK(doors.process->read("cmdline"));
  CHECK_FALSE(doors.process->read("smaps"));
  CHECK(doors.process->read_link("exe"));
  CHECK(doors.process->list("task"));
  CHECK(memory(*doors.process, 0x1004, 4) == "4567");
  CHECK(read(**doors.process->open_mapped({0x400000, 0x401000, 1, 7}), 0, 6) == "mapped");
  CHECK(doors.files->status({"/lib/a.so"}));
  CHECK_FALSE(doors.files->status({"/lib/none.so"}));
  CHECK(read(**doors.files->open({"/lib/a.so"}), 9998, 100) == "aatail");
  CHECK(doors.commands->run({{"ldconfig", "-p"}, ""}));
  recording.python_pools = PoolsByMapping{{0x7f0000000000, 1 << 20}, {0x7f0000400000, 16384}};
  return recording;
}

void check_replay(const Recording& recording) {
  const auto doors = replay(recording);
  CHECK(doors.process->pid() == 4711);
  CHECK(recording.python_pools ==
        PoolsByMapping{{0x7f0000000000, 1 << 20}, {0x7f0000400000, 16384}});
  CHECK(*doors.process->read("maps") ==
        "00400000-00401000 r-xp 00000000 08:01 7 /bin/\xff"
        "app\n");
  CHECK(*doors.process->read_link("exe") == "/bin/app");
  CHECK(doors.process->list("task")->size() == 2);
  CHECK(memory(*doors.process, 0x1005, 2) == "56");
  CHECK(memory(*doors.process, 0x1005, 4) == "error");
  CHECK(read(**doors.process->open_mapped({0x400000, 0x401000, 1, 7}), 0, 6) == "mapped");
  CHECK(doors.files->status({"/lib/a.so"})->bytes == 10004);
  CHECK(doors.files->status({"/lib/none.so"}).error().kind == ErrorKind::not_found);
  CHECK(read(**doors.files->open({"/lib/a.so"}), 9999, 100) == "atail");
  CHECK(doors.commands->run({{"ldconfig", "-p"}, ""})->out == "out\xe9");
}

TEST_CASE("recording: what was read is read again, the rest is refused", "[os][recording]") {
  test::FakeTarget fake;
  const Recording recording = record_a_run(fake);
  check_replay(recording);
  const auto doors = replay(recording);
  CHECK(doors.process->read("stat").error().reason == "it is not in this recording");
  CHECK(read(**doors.files->open({"/lib/a.so"}), 0, 4).find("not in this recording") !=
        std::string::npos);
}

TEST_CASE("recording: no secret of the environment or the command line is kept",
          "[os][recording]") {
  test::FakeTarget fake;
  const Recording recording = record_a_run(fake);
  CHECK(*recording.texts.at("environ") == std::string("LD_PRELOAD=/x.so\0PYTHONPATH=/p\0", 31));
  CHECK(*recording.texts.at("cmdline") == std::string("python3\0", 8));
  for (const auto& [name, content] : pack_recording(recording)) {
    CHECK(content.find("password") == std::string::npos);
    CHECK(content.find("SECRET") == std::string::npos);
  }
}

TEST_CASE("recording: survives being written down and read back", "[os][recording]") {
  test::FakeTarget fake;
  Recording recording = record_a_run(fake);
  recording.python =
      PythonFacts{"cpython",
                  "3.11.2",
                  {{"ssl", "/usr/lib/\xffssl.py", "x"}, {"sys", std::nullopt, "built-in"}},
                  "memory",
                  "table 3.11",
                  {},
                  false,
                  true};
  recording.module_files =
      ModuleFiles{{{{"_ssl", "ssl", "/usr/lib/\xffssl.py", 100}}, {1, "/x: gone"}},
                  {{{"_ssl", "python\xff 3"}}, {2, "/y: refused"}}};
  const auto archive = make_archive(pack_recording(recording));
  REQUIRE(archive);
  const auto parts = open_archive(*archive);
  REQUIRE(parts);
  const auto again = unpack_recording(*parts);
  REQUIRE(again);
  check_replay(*again);
  REQUIRE(again->python);
  CHECK(again->python->modules == recording.python->modules);
  CHECK(again->module_files == recording.module_files);
}

TEST_CASE("recording: an older one says nothing of files beside the modules", "[os][recording]") {
  test::FakeTarget fake;
  auto parts = pack_recording(record_a_run(fake));
  auto& index = parts["recording.json"];
  const std::string key = "\"module_files\"";
  REQUIRE(index.find(key) != std::string::npos);
  index.replace(index.find(key), key.size(), "\"another\"");
  const auto again = unpack_recording(parts);
  REQUIRE(again);
  CHECK_FALSE(again->module_files);
}

// The index of a recording, with one text replaced by another.
std::string reason_of_spoilt(const std::string& from, const std::string& to) {
  test::FakeTarget fake;
  auto parts = pack_recording(record_a_run(fake));
  std::string& index = parts["recording.json"];
  REQUIRE(index.find(from) != std::string::npos);
  index.replace(index.find(from), from.size(), to);
  const auto read = unpack_recording(parts);
  REQUIRE_FALSE(read);
  CHECK(read.error().kind == ErrorKind::malformed);
  return read.error().reason;
}

TEST_CASE("recording: a number that cannot stand there is an error", "[os][recording]") {
  for (const char* number : {"1e308", "-1e308", "4294967296", "1.5", "\"1\"", "null", "1e999"}) {
    INFO(number);
    CHECK_FALSE(reason_of_spoilt("\"pid\": 4711", std::string("\"pid\": ") + number).empty());
  }
  CHECK(reason_of_spoilt("\"pid\": 4711", "\"pid\": 1e308") ==
        "a number in recording.json cannot be what stands there");
}

TEST_CASE("recording: pieces that lie over each other cannot fill memory", "[os][recording]") {
  std::string many = "\"memory\": [[0, 0, 1]";
  for (int i = 1; i < 100'000; ++i) {
    many += ",[" + std::to_string(i) + ", 0, 1]";
  }
  CHECK(reason_of_spoilt("\"memory\": [", many + ",") == "its pieces are more than data.bin has");
}

TEST_CASE("recording: damage is an error, not a crash", "[os][recording]") {
  test::FakeTarget fake;
  auto parts = pack_recording(record_a_run(fake));
  CHECK_FALSE(unpack_recording({}));
  auto cut = parts;
  cut["data.bin"].resize(3);
  CHECK(unpack_recording(cut).error().kind == ErrorKind::malformed);
  auto nonsense = parts;
  nonsense["recording.json"] = "{\"format\":7}";
  CHECK_FALSE(unpack_recording(nonsense));
  const auto archive = make_archive(parts);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, archive->size() / 2, archive->size() - 1}) {
    CHECK_FALSE(open_archive(std::string_view(*archive).substr(0, length)));
  }
  CHECK_FALSE(open_archive("not gzip at all"));
}

}  // namespace
}  // namespace tracso::os
