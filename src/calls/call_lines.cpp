#include "calls/call_lines.hpp"

#include "base/demangle.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "calls/error_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

namespace tracso::calls {
namespace {

// The result is the error number itself.
bool returns_error_number(std::string_view symbol) {
  return symbol.starts_with("pthread_") || symbol.starts_with("posix_") || symbol.ends_with("_r") ||
         symbol == "clock_nanosleep";
}

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::int64_t ns_per_microsecond = 1000;

std::string clock_text(std::int64_t epoch_ns, bool microseconds) {
  const std::time_t seconds = epoch_ns / ns_per_second;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  const auto text = fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
  return microseconds
             ? fmt::format("{}.{:06} ", text, epoch_ns % ns_per_second / ns_per_microsecond)
             : text + " ";
}

std::string error_text(std::int64_t number) {
  constexpr std::int64_t most = 4095;  // an error number of the kernel
  // The kernel's own, which a program never sees: the call is begun again, or EINTR comes of it.
  constexpr std::array<std::int64_t, 4> restarts{512, 513, 514, 516};
  if (std::find(restarts.begin(), restarts.end(), number) != restarts.end()) {
    return " (interrupted by a signal)";
  }
  const char* name =
      number > 0 && number <= most ? ::strerrorname_np(static_cast<int>(number)) : nullptr;
  return name == nullptr ? "" : fmt::format(" {} ({})", name, errno_text(static_cast<int>(number)));
}

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  const char* words = ::sigdescr_np(signal);
  return name == nullptr ? fmt::format("--- signal {} ---", signal)
                         : fmt::format("--- SIG{} ({}) ---", name, words == nullptr ? "?" : words);
}

}  // namespace

bool never_returns(std::string_view symbol) {
  constexpr std::array names{"exit",
                             "_exit",
                             "_Exit",
                             "quick_exit",
                             "abort",
                             "longjmp",
                             "_longjmp",
                             "siglongjmp",
                             "__longjmp_chk",
                             "pthread_exit",
                             "thrd_exit",
                             "__cxa_throw",
                             "__cxa_rethrow",
                             "_Unwind_Resume",
                             "SYS_exit",
                             "SYS_exit_group"};
  return std::find(names.begin(), names.end(), symbol) != names.end();
}

std::int64_t failure_number(const CallEvent& result, const CallSite& site) {
  if (site.system_call) {
    return result.result.error_number;
  }
  const auto value = result.result.integer;
  const auto when = error_rule(site.symbol);
  if (!site.into_c_library || !means_failure(value, when)) {
    return 0;
  }
  const bool is_number = when == tracso_int_not_zero;
  if (is_number && !returns_error_number(site.symbol)) {
    return 0;
  }
  return is_number ? static_cast<std::int32_t>(value) : result.result.error_number;
}

std::string failure_text(const CallEvent& result, const CallSite& site) {
  const auto number = failure_number(result, site);
  return number == 0 ? "" : error_text(number);
}

std::string CallLines::name_of(const CallSite& site) const {
  const auto name = printable(options_.demangle ? demangled(site.symbol) : site.symbol);
  return site.library.empty() ? name : name + "@" + printable(site.library);
}

std::string CallLines::time_text(std::uint64_t ticks) {
  const auto after = static_cast<double>(static_cast<std::int64_t>(ticks - time_.tick));
  const auto epoch_ns = time_.epoch_ns + static_cast<std::int64_t>(after * time_.ns_per_tick);
  const auto since = static_cast<std::int64_t>(ticks - last_ticks_.value_or(ticks));
  const auto passed = static_cast<std::int64_t>(static_cast<double>(since) * time_.ns_per_tick);
  last_ticks_ = ticks;
  switch (options_.time) {
    case LineTime::relative:
      return fmt::format("{:3}.{:06} ",
                         std::max<std::int64_t>(passed, 0) / ns_per_second,
                         std::max<std::int64_t>(passed, 0) % ns_per_second / ns_per_microsecond);
    case LineTime::seconds:
      return clock_text(epoch_ns, false);
    case LineTime::microseconds:
      return clock_text(epoch_ns, true);
    case LineTime::epoch:
      return fmt::format(
          "{}.{:06} ", epoch_ns / ns_per_second, epoch_ns % ns_per_second / ns_per_microsecond);
    default:
      return "";
  }
}

std::string CallLines::took_text(const CallEvent& event) const {
  if (!options_.took) {
    return "";
  }
  const auto ns = static_cast<double>(event.result.took) * time_.ns_per_tick;
  return fmt::format(" <{:.6f}>", ns / static_cast<double>(ns_per_second));
}

void CallLines::begin_line(const Thread& thread, const CallEvent& event, std::string_view from) {
  if (open_) {
    end_line(" <unfinished ...>");
  }
  if (options_.always_pid || many_) {
    line_ += fmt::format("[pid {}] ", thread.second);
  }
  line_ += time_text(event.ticks);
  if (options_.instruction && !from.empty()) {
    line_ += fmt::format("[{}] ", from);
  }
  const auto depth = std::min<std::size_t>(under_way_.depth(thread), 64);
  line_.append(options_.indent * depth, ' ');
}

void CallLines::end_line(std::string_view with) {
  line_ += with;
  done_ += line_.substr(taken_);
  done_ += '\n';
  line_.clear();
  taken_ = 0;
  open_.reset();
}

void CallLines::add_result(const std::string& text) {
  line_ += ") ";
  const auto width = display_width(line_);
  line_.append(width + 1 < options_.align ? options_.align - 1 - width : 0, ' ');
  end_line("= " + text);
}

void CallLines::add_call(const Thread& thread,
                         const CallEvent& event,
                         const CallSite& site,
                         std::string_view from) {
  under_way_.left_before(thread, event.place);
  begin_line(thread, event, from);
  const auto arguments = arguments_at_call(event, site.prototype, options_.limits);
  if (options_.caller && !site.caller.empty()) {
    line_ += printable(site.caller) + "->";
  }
  line_ += name_of(site) + "(" + arguments.before;
  if (event.kind == tracso_event_call) {
    open_ = std::pair(thread, event.place);
    under_way_.begin(thread, event);
  } else if (never_returns(site.symbol)) {
    end_line(" <no return ...>");
  } else {
    add_result("?");
  }
}

void CallLines::add_return(const Thread& thread,
                           const CallEvent& event,
                           const CallSite& site,
                           std::string_view from) {
  under_way_.left_inside(thread, event.place);
  const auto call = under_way_.end(thread, event.place, event.slot);
  auto arguments = call ? arguments_at_return(*call, event, site.prototype, options_.limits) : "";
  if (!open_ || *open_ != std::pair(thread, event.place) || !call) {
    begin_line(thread, event, from);
    line_ += "<... " + name_of(site) + " resumed> ";
    arguments.erase(0, arguments.starts_with(", ") ? 2 : 0);
  }
  line_ += arguments;
  add_result(result_text(call ? &*call : nullptr, event, site.prototype, options_.limits) +
             failure_text(event, site) + took_text(event));
}

void CallLines::meet(const Thread& thread) {
  first_ = first_ ? first_ : thread;
  many_ = many_ || *first_ != thread;
}

void CallLines::add_signal(std::uint32_t program,
                           std::int32_t thread,
                           std::uint64_t ticks,
                           int signal) {
  const Thread whose{program, thread};
  meet(whose);
  CallEvent event;
  event.ticks = ticks;
  begin_line(whose, event, "");
  end_line(signal_text(signal));
}

void CallLines::add(std::uint32_t program,
                    const CallEvent& event,
                    const CallSite& site,
                    std::string_view from) {
  const Thread thread{program, event.thread};
  meet(thread);
  if (event.kind == tracso_event_return) {
    add_return(thread, event, site, from);
  } else {
    add_call(thread, event, site, from);
  }
}

void CallLines::end(std::string_view last) {
  if (open_) {
    end_line(last.empty() ? " <unfinished ...>" : " <no return ...>");
  }
  if (!last.empty()) {
    line_ = last;
    end_line("");
  }
}

std::string CallLines::take() {
  done_ += line_.substr(taken_);
  taken_ = line_.size();
  return std::exchange(done_, std::string());
}

}  // namespace tracso::calls
