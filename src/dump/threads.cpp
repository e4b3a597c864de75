#include "dump/threads.hpp"

#include "base/text.hpp"
#include "proc/status.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tracso::dump {
namespace {

// The last number of NSpid is the innermost namespace's. A process in ours has one number.
std::int32_t own_number(const ProcessSource& process, std::int32_t thread) {
  const auto status = process.read(fmt::format("task/{}/status", thread));
  const auto line = status ? proc::status_value(*status, "NSpid") : std::nullopt;
  const auto numbers = split_words(line.value_or(""), "\t ");
  const auto last = numbers.empty() ? std::nullopt : parse_signed(numbers.back());
  return last && *last > 0 && *last <= INT32_MAX ? static_cast<std::int32_t>(*last) : thread;
}

std::vector<std::int32_t> numbers_of(const std::vector<std::string>& names) {
  std::vector<std::int32_t> numbers;
  for (const auto& name : names) {
    const auto number = parse_unsigned(name);
    if (number && *number <= INT32_MAX) {
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
  }
  return numbers;
}

}  // namespace

std::optional<proc::ThreadCall> look_at_call(const ProcessSource& process, std::int32_t thread) {
  const auto text = process.read(fmt::format("task/{}/syscall", thread));
  return text ? proc::parse_thread_call(*text) : std::nullopt;
}

std::vector<python::WordWait> word_waits(const std::vector<KernelView>& views) {
  std::vector<python::WordWait> waits;
  for (const auto& view : views) {
    if (view.call && !view.call->running && view.call->number >= 0 &&
        proc::call_kind(view.call->number).role == proc::CallRole::futex) {
      waits.push_back({view.id, view.call->arguments[0]});
    }
  }
  return waits;
}

Result<std::vector<KernelView>> look_at_threads(const ProcessSource& process, bool& denied) {
  const auto names = process.list("task");
  if (!names) {
    return names.error();
  }
  auto numbers = numbers_of(*names);
  const auto main = process.pid();
  std::sort(numbers.begin(), numbers.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(a != main, a) < std::pair(b != main, b);
  });
  const bool other_namespace = !numbers.empty() && own_number(process, main) != main;
  std::vector<KernelView> views;
  for (const auto number : numbers) {
    const auto text = process.read(fmt::format("task/{}/stat", number));
    const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
    if (!stat) {
      continue;
    }
    KernelView view{number,
                    other_namespace ? own_number(process, number) : number,
                    stat->name,
                    stat->state,
                    std::nullopt};
    const auto call = process.read(fmt::format("task/{}/syscall", number));
    view.call = call ? proc::parse_thread_call(*call) : std::nullopt;
    denied = denied || (!call && call.error().kind == ErrorKind::denied);
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace tracso::dump
