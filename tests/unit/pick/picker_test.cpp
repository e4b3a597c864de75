#include "pick/picker.hpp"

#include "support/catch.hpp"

using namespace tracso;
using namespace tracso::pick;
using tracso::proc::ProcessEntry;

namespace {

std::vector<ProcessEntry> some() {
  return {{10, "root", 5000, "init", "/sbin/init", "", ""},
          {20, "www", 9000, "python3", "python3 app.py --port 80", "3.11", "docker 0123456789ab"},
          {30, "ana", 1000, "bash", "-bash", "", ""},
          {40, "ana", 9000, "jupyter", "/usr/bin/python3 /usr/bin/jupyter Übung", "3.12", ""}};
}

std::vector<std::int32_t> pids(const Picker& picker) {
  std::vector<std::int32_t> out;
  for (const std::size_t at : picker.shown()) {
    out.push_back(picker.entry(at).pid);
  }
  return out;
}

using Pids = std::vector<std::int32_t>;

Key key(Key::Kind kind, std::string text = "", std::size_t row = 0) {
  return {kind, std::move(text), row};
}

}  // namespace

TEST_CASE("picker: largest memory first, equal ones by pid", "[pick]") {
  CHECK(pids(Picker(some())) == Pids{20, 40, 10, 30});
}

TEST_CASE("picker: every word must match, anywhere, in any case", "[pick]") {
  Picker picker(some());
  const auto with = [&](const char* filter) {
    picker.set_filter(filter);
    return pids(picker);
  };
  CHECK(with("PYTHON") == Pids{20, 40});
  CHECK(with("python ana") == Pids{40});
  CHECK(with("3.11") == Pids{20});
  CHECK(with("0123456789ab") == Pids{20});
  CHECK(with("30") == Pids{30});
  CHECK(with("nobody").empty());
  CHECK(picker.selected() == nullptr);
  CHECK(picker.press(key(Key::Kind::accept)) == Outcome::going_on);
  CHECK(with("  ") == Pids{20, 40, 10, 30});
}

TEST_CASE("picker: typing edits the filter by whole characters and words", "[pick]") {
  Picker picker(some());
  for (const char* letter : {"j", "u", "p", " ", "Ü"}) {
    picker.press(key(Key::Kind::text, letter));
  }
  CHECK(picker.filter() == "jup Ü");
  CHECK(pids(picker) == Pids{40});
  picker.press(key(Key::Kind::backspace));
  CHECK(picker.filter() == "jup ");
  picker.press(key(Key::Kind::delete_word));
  CHECK(picker.filter().empty());
  picker.press(key(Key::Kind::backspace));
  CHECK(picker.filter().empty());
}

TEST_CASE("picker: keys of order, each can be turned round", "[pick]") {
  Picker picker(some());
  const auto next = [&] {
    picker.press(key(Key::Kind::next_sort));
    return pids(picker);
  };
  CHECK(next() == Pids{10, 20, 30, 40});
  CHECK(next() == Pids{30, 40, 10, 20});  // user
  CHECK(next() == Pids{40, 20, 10, 30});  // newest Python first, none last
  picker.press(key(Key::Kind::previous_sort));
  CHECK(picker.sort() == SortKey::user);
  picker.press(key(Key::Kind::reverse_sort));
  CHECK(pids(picker) == Pids{20, 10, 40, 30});
}

TEST_CASE("picker: the selection stays in view and within the list", "[pick]") {
  std::vector<ProcessEntry> many;
  for (std::int32_t pid = 1; pid <= 100; ++pid) {
    many.push_back({pid, "", 0, "p", "p", "", ""});
  }
  Picker picker(many);
  picker.set_height(10);
  picker.press(key(Key::Kind::up));
  CHECK(picker.cursor() == 0);
  picker.press(key(Key::Kind::page_down));
  CHECK(picker.cursor() == 10);
  CHECK(picker.top() == 1);
  picker.press(key(Key::Kind::end));
  CHECK(picker.selected()->pid == 100);
  CHECK(picker.top() == 90);
  picker.set_height(40);  // a larger screen is filled
  CHECK(picker.top() == 60);
  picker.press(key(Key::Kind::home));
  CHECK(picker.top() == 0);
  CHECK(picker.press(key(Key::Kind::click, "", 5)) == Outcome::going_on);
  CHECK(picker.selected()->pid == 6);
  CHECK(picker.press(key(Key::Kind::double_click, "", 7)) == Outcome::accepted);
  CHECK(picker.selected()->pid == 8);
  CHECK(picker.press(key(Key::Kind::double_click, "", 77)) == Outcome::going_on);
}

TEST_CASE("picker: a new list keeps the filter and the selected process", "[pick]") {
  Picker picker(some());
  picker.set_height(10);
  picker.set_filter("ana");
  picker.press(key(Key::Kind::down));
  REQUIRE(picker.selected()->pid == 30);
  auto later = some();
  later.erase(later.begin());
  later.push_back({50, "ana", 99999, "new", "new", "", ""});
  picker.replace(later);
  CHECK(pids(picker) == Pids{50, 40, 30});
  CHECK(picker.selected()->pid == 30);
}

TEST_CASE("picker: Pythons that are found later, those in view first", "[pick]") {
  auto entries = some();
  for (ProcessEntry& entry : entries) {
    entry.python.clear();
    entry.python_asked = false;
  }
  Picker picker(entries);
  picker.set_height(2);  // 20 and 40 are in view
  CHECK(picker.unknown_python() == std::size_t{1});
  picker.set_python(1, "3.11");
  CHECK(picker.unknown_python() == std::size_t{3});
  picker.set_python(3, "3.12");
  CHECK(picker.unknown_python() == std::size_t{0});
  picker.set_python(0, "");
  picker.set_python(2, "");
  CHECK_FALSE(picker.unknown_python());
  picker.set_filter("3.12");
  CHECK(pids(picker) == Pids{40});
}

TEST_CASE("picker: what is found later joins the filter, and the selection stays", "[pick]") {
  auto entries = some();
  entries[3].python.clear();
  entries[3].python_asked = false;
  Picker picker(entries);
  picker.set_height(10);
  picker.set_filter("3.1");
  REQUIRE(pids(picker) == Pids{20});
  picker.set_python(3, "3.12");
  picker.reorder();
  CHECK(pids(picker) == Pids{20, 40});
  picker.press(key(Key::Kind::down));
  picker.reorder();
  CHECK(picker.selected()->pid == 40);
}
