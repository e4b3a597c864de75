#include "python/gdb_probe_dialogue.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace tracso::python {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr seconds to_start{10};  // gdb and its attach; 0.2 s on a quiet machine
constexpr seconds to_call{10};   // the calls; some 50 ms, more for tens of thousands of modules
constexpr seconds to_go{5};      // from our wish to leave to its end

class Talk {
 public:
  Talk(GdbSession& session, nanoseconds patience) : session_(session), patience_(patience) {}

  GdbTalk run();

 private:
  void hear(const GdbLine& line);
  void stage(std::string_view name, nanoseconds at);
  void attached(nanoseconds at);
  void stands_still(nanoseconds at);
  void runs(nanoseconds at);
  bool give_up(nanoseconds at);

  GdbSession& session_;
  nanoseconds patience_;
  nanoseconds deadline_ = to_start;
  std::optional<nanoseconds> still_since_;
  bool left_ = false, waiting_ = false, attached_ = false;
  GdbTalk talk_;
};

void Talk::stands_still(nanoseconds at) {
  still_since_ = still_since_.value_or(at);
}

void Talk::runs(nanoseconds at) {
  if (still_since_) {
    talk_.stopped += at - *still_since_;
    still_since_.reset();
  }
}

void Talk::attached(nanoseconds at) {
  attached_ = true;
  talk_.end = GdbTalk::End::broken_off;
  deadline_ = at + std::max<nanoseconds>(to_call, patience_);
  if (!left_) {
    session_.open_gate();
  }
}

void Talk::stage(std::string_view name, nanoseconds at) {
  waiting_ = name == gdb_protocol::waiting;
  if (name == "attaching") {
    stands_still(at);
  } else if (name == gdb_protocol::attached) {
    attached(at);
  } else if (waiting_) {
    runs(at);
    deadline_ = at + patience_;
  } else if (name == "safe point") {
    stands_still(at);
    deadline_ = at + to_call;
    if (left_) {
      talk_.end = GdbTalk::End::no_safe_point;  // it came too late: the gate is closed
    } else {
      session_.open_gate();
    }
  } else if (name == "no safe point") {
    stands_still(at);
    talk_.end = GdbTalk::End::no_safe_point;
  } else if (name == "detached") {
    runs(at);
    deadline_ = at + to_go;
  }
  talk_.direct = talk_.direct || name == "direct";
  constexpr std::pair<std::string_view, GdbTalk::End> ends[] = {
      {"registers", GdbTalk::End::registers},
      {"queue full", GdbTalk::End::queue_full},
      {"failed", GdbTalk::End::failed},
      {"raised", GdbTalk::End::raised},
      {"result", GdbTalk::End::result}};
  for (const auto& [word, end] : ends) {
    talk_.end = name == word ? end : talk_.end;
  }
}

void Talk::hear(const GdbLine& line) {
  std::string_view text = line.text;
  if (text.starts_with(gdb_protocol::mark)) {
    text.remove_prefix(gdb_protocol::mark.size());
    stage(text, line.at);
  } else if (const auto words = trim(text); !words.empty()) {
    talk_.last_words = std::string(words);
  }
}

// The deadline of the stage is over; true: so is the talk.
bool Talk::give_up(nanoseconds at) {
  if (left_) {
    // A result that was written is good even if gdb is slow to go.
    if (talk_.end != GdbTalk::End::result && attached_) {
      talk_.end = GdbTalk::End::stuck;
    }
    return true;
  }
  left_ = true;
  session_.leave();
  deadline_ = at + to_go;
  return false;
}

GdbTalk Talk::run() {
  while (true) {
    const GdbLine line = session_.next_line(deadline_);
    if (line.kind == GdbLine::Kind::text) {
      hear(line);
    } else if (line.kind == GdbLine::Kind::ended) {
      runs(line.at);
      return talk_;
    } else if (give_up(line.at)) {
      runs(line.at);
      return talk_;
    }
  }
}

}  // namespace

GdbTalk talk_to_gdb(GdbSession& session, std::chrono::milliseconds patience) {
  return Talk(session, patience).run();
}

}  // namespace tracso::python
