// What a session does about the processes that its command has started.

#include "launch/privileges.hpp"
#include "launch/session.hpp"

#include <fmt/format.h>

namespace tracso::launch {

void Session::on_child_executed(std::int32_t pid) {
  children_.executed(pid);
  const auto door = options_.open(pid);
  if (door && lacks_privileges(**door)) {
    note({"privileges-withheld",
          fmt::format("process {}, a child, is set-user-ID and runs without the privileges of its "
                      "owner",
                      pid),
          "it may behave otherwise than without tracso",
          "--no-follow lets children go untraced"});
  }
}

void Session::on_child_exiting(const Event& event) {
  if (options_.on_child_exit) {
    options_.on_child_exit(event.value, event.thread);
  }
  look_at_child(event.value, event.thread, true);
  process_.resume(event.thread);
}

void Session::look_at_child(std::int32_t pid, std::int32_t thread, bool stopped) {
  if (!children_.is_open(pid)) {
    return;
  }
  const auto child = options_.open(thread);
  if (!child) {
    return;
  }
  Moment moment{MomentKind::exit_stop, pid, thread, Clock::now() - start_, stopped};
  moment.kind = stopped ? MomentKind::exit_stop : MomentKind::last_look;
  const auto main = options_.on_child ? files_of_command(process_.pid()) : std::nullopt;
  if (auto look = looks_.look(**child, main, moment)) {
    children_.looked_at(pid, std::move(*look));
  }
}

void Session::look_at_living() {
  for (const pid_t pid : process_.children()) {
    look_at_child(pid, pid, false);
  }
}

std::optional<CodeFiles> Session::files_of_command(pid_t thread) const {
  const auto door = options_.open(thread);
  return door ? read_code_files(**door) : std::nullopt;
}

}  // namespace tracso::launch
