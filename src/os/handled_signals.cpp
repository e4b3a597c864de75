#include "os/handled_signals.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

namespace tracso::os {
namespace {

constexpr int last_signal = 64;

// A handler of these (faulthandler.enable(), a crash reporter) reports, and then lets them end the
// process.
bool ends_after_its_handler(int number) {
  constexpr std::array fatal{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  return std::find(fatal.begin(), fatal.end(), number) != fatal.end();
}

bool may_be_sent(int number, std::uint64_t caught) {
  return number > 0 && number <= last_signal && (caught >> (number - 1) & 1U) != 0 &&
         !ends_after_its_handler(number);
}

}  // namespace

int signal_number(std::string_view name) {
  if (const auto number = parse_unsigned(name)) {
    return *number <= last_signal ? static_cast<int>(*number) : 0;
  }
  const auto wanted = lower_case(name);
  for (int number = 1; number <= last_signal; ++number) {
    const char* known = sigabbrev_np(number);
    const auto word = known == nullptr ? "" : lower_case(known);
    if (!word.empty() && (wanted == word || wanted == "sig" + word)) {
      return number;
    }
  }
  return 0;
}

std::string signal_name(int number) {
  const char* known = sigabbrev_np(number);
  return known == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", known);
}

Result<SignalledProcess> SignalledProcess::open(std::int32_t pid) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) {
    return errno_error(errno, "signal process", std::to_string(pid));
  }
  return SignalledProcess(pid, std::move(fd));
}

Result<Done> SignalledProcess::may_take(int number, std::string_view status) const {
  const auto mask = proc::status_value(status, "SigCgt");
  const auto caught = mask ? parse_unsigned(trim(*mask), 16).value_or(0) : 0;
  if (!may_be_sent(number, caught)) {
    std::vector<std::string> names;
    for (int other = 1; other <= last_signal; ++other) {
      if (may_be_sent(other, caught)) {
        names.push_back(signal_name(other));
      }
    }
    return Error{
        ErrorKind::denied,
        fmt::format("send {} to", signal_name(number)),
        fmt::format("process {}", pid_),
        ends_after_its_handler(number) ? "it ends a process also where there is a handler"
                                       : "it has no handler for that, which could end it",
        names.empty() ? "it has a handler for none" : "it has handlers for " + join(names, ", ")};
  }
  return Done{};
}

Result<Done> SignalledProcess::send(int number, std::string_view status) const {
  if (const auto may = may_take(number, status); !may) {
    return may.error();
  }
  if (syscall(SYS_pidfd_send_signal, fd_.get(), number, nullptr, 0) != 0) {
    auto error = errno_error(errno, "signal process", std::to_string(pid_));
    error.kind = errno == ESRCH ? ErrorKind::interrupted : error.kind;
    return error;
  }
  return Done{};
}

}  // namespace tracso::os
