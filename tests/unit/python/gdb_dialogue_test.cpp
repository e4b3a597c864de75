#include "python/gdb_probe_dialogue.hpp"
#include "support/catch.hpp"

#include <deque>
#include <functional>

using namespace tracso;
using namespace tracso::python;
using std::chrono::milliseconds;
using End = GdbTalk::End;

namespace {

// Says its lines at their times; time passes only while somebody waits.
class FakeSession final : public GdbSession {
 public:
  struct Saying {
    milliseconds at;
    std::string text;
  };

  explicit FakeSession(std::deque<Saying> sayings) : sayings_(std::move(sayings)) {}

  GdbLine next_line(std::chrono::nanoseconds until) override {
    if (sayings_.empty()) {
      if (hangs) {
        now_ = until;
        return {GdbLine::Kind::quiet, "", now_};
      }
      return {GdbLine::Kind::ended, "", now_};
    }
    if (sayings_.front().at > until) {
      now_ = until;
      return {GdbLine::Kind::quiet, "", now_};
    }
    now_ = std::max<std::chrono::nanoseconds>(now_, sayings_.front().at);
    GdbLine line{GdbLine::Kind::text, sayings_.front().text, now_};
    sayings_.pop_front();
    return line;
  }

  void open_gate() override { did += "gate "; }

  void leave() override {
    did += "leave ";
    left_at = std::chrono::duration_cast<milliseconds>(now_);
    if (on_leave) {
      sayings_ = on_leave(left_at);
    }
  }

  Result<std::string> answer(std::size_t) const override { return std::string(); }

  std::function<std::deque<Saying>(milliseconds)> on_leave;
  bool hangs = false;
  std::string did;
  milliseconds left_at{0};

 private:
  std::deque<Saying> sayings_;
  std::chrono::nanoseconds now_{0};
};

using Sayings = std::deque<FakeSession::Saying>;

Sayings until_waiting() {
  return {{milliseconds(100), "TRACSO: attaching"},
          {milliseconds(150), "TRACSO: attached"},
          {milliseconds(200), "TRACSO: waiting"}};
}

}  // namespace

TEST_CASE("gdb dialogue: a direct call passes one gate", "[python][gdb]") {
  FakeSession session({{milliseconds(100), "TRACSO: attaching"},
                       {milliseconds(150), "TRACSO: attached"},
                       {milliseconds(160), "TRACSO: direct"},
                       {milliseconds(180), "TRACSO: result"},
                       {milliseconds(190), "TRACSO: detached"}});
  const auto talk = talk_to_gdb(session, milliseconds(5000));
  CHECK(talk.end == End::result);
  CHECK(talk.direct);
  CHECK(talk.stopped == milliseconds(90));
  CHECK(session.did == "gate ");
}

TEST_CASE("gdb dialogue: the wait for a safe point is no stop", "[python][gdb]") {
  auto sayings = until_waiting();
  sayings.push_back({milliseconds(2200), "TRACSO: safe point"});
  sayings.push_back({milliseconds(2230), "TRACSO: result"});
  sayings.push_back({milliseconds(2240), "TRACSO: detached"});
  FakeSession session(sayings);
  const auto talk = talk_to_gdb(session, milliseconds(5000));
  CHECK(talk.end == End::result);
  CHECK_FALSE(talk.direct);
  CHECK(talk.stopped == milliseconds(140));
  CHECK(session.did == "gate gate ");
}

TEST_CASE("gdb dialogue: without a safe point it leaves when the time is over", "[python][gdb]") {
  FakeSession session(until_waiting());
  session.hangs = true;
  session.on_leave = [&](milliseconds at) {
    session.hangs = false;
    return Sayings{{at + milliseconds(5), "TRACSO: no safe point"},
                   {at + milliseconds(7), "TRACSO: detached"}};
  };
  const auto talk = talk_to_gdb(session, milliseconds(3000));
  CHECK(talk.end == End::no_safe_point);
  CHECK(session.left_at == milliseconds(3200));
  CHECK(session.did == "gate leave ");
  CHECK(talk.stopped == milliseconds(102));
}

TEST_CASE("gdb dialogue: a safe point that comes after the leave is not used", "[python][gdb]") {
  FakeSession session(until_waiting());
  session.hangs = true;
  session.on_leave = [&](milliseconds at) {
    session.hangs = false;
    return Sayings{{at, "TRACSO: safe point"}, {at, "TRACSO: detached"}};
  };
  const auto talk = talk_to_gdb(session, milliseconds(3000));
  CHECK(talk.end == End::no_safe_point);
  CHECK(session.did == "gate leave ");
}

TEST_CASE("gdb dialogue: a call that does not return is left to gdb", "[python][gdb]") {
  FakeSession session({{milliseconds(100), "TRACSO: attaching"},
                       {milliseconds(150), "TRACSO: attached"},
                       {milliseconds(160), "TRACSO: direct"}});
  session.hangs = true;
  const auto talk = talk_to_gdb(session, milliseconds(1000));
  CHECK(talk.end == End::stuck);
  CHECK(session.did == "gate leave ");
  CHECK(session.left_at == milliseconds(10150));
}

TEST_CASE("gdb dialogue: a gdb that never attaches is given up", "[python][gdb]") {
  FakeSession session(Sayings{{milliseconds(100), "TRACSO: attaching"}});
  session.hangs = true;
  session.on_leave = [&](milliseconds) {
    session.hangs = false;
    return Sayings{};
  };
  const auto talk = talk_to_gdb(session, milliseconds(1000));
  CHECK(talk.end == End::not_attached);
  CHECK(session.did == "leave ");
}

TEST_CASE("gdb dialogue: gdb's own last words are kept", "[python][gdb]") {
  FakeSession session({{milliseconds(100), "TRACSO: attaching"},
                       {milliseconds(110), "/proc/self/fd/7:3: Error in sourced command file:"},
                       {milliseconds(110), "ptrace: Operation not permitted."},
                       {milliseconds(110), ""}});
  const auto talk = talk_to_gdb(session, milliseconds(1000));
  CHECK(talk.end == End::not_attached);
  CHECK(talk.last_words == "ptrace: Operation not permitted.");
}

TEST_CASE("gdb dialogue: each other end is told apart", "[python][gdb]") {
  const auto [line, end] = GENERATE(table<std::string, End>({{"registers", End::registers},
                                                             {"queue full", End::queue_full},
                                                             {"failed", End::failed},
                                                             {"raised", End::raised}}));
  FakeSession session({{milliseconds(100), "TRACSO: attaching"},
                       {milliseconds(150), "TRACSO: attached"},
                       {milliseconds(160), "TRACSO: " + line},
                       {milliseconds(190), "TRACSO: detached"}});
  CHECK(talk_to_gdb(session, milliseconds(1000)).end == end);
}

TEST_CASE("gdb dialogue: an end in the middle is no answer", "[python][gdb]") {
  FakeSession session(until_waiting());
  CHECK(talk_to_gdb(session, milliseconds(1000)).end == End::broken_off);
}
