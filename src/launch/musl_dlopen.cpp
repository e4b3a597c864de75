#include "launch/musl_dlopen.hpp"

#include "launch/dlopen_call.hpp"
#include "launch/loader_errors.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace tracso::launch {
namespace {

constexpr std::size_t most_nested_calls = 64;
constexpr std::array<std::string_view, 3> dlopen_beginnings = {
    "Error loading shared library ", "Error loading dependencies for ", "Error relocating "};

}  // namespace

// Calls that lie deeper on the stack have returned, or were left by a jump.
void MuslDlopens::begin(const ProcessSource& process,
                        pid_t thread,
                        const tracee::Registers& registers) {
  auto& calls = open_[thread];
  std::erase_if(calls, [&](const MuslDlopen& call) { return call.stack <= registers.stack(); });
  const auto words = stack_words(process, registers.stack(), 1, registers.word());
  if (!words.empty() && calls.size() < most_nested_calls) {
    calls.push_back(
        {registers.stack(), words.front(), registers.argument(thread, 0).value_or(0), 0});
  }
  ++count_;
}

// The first call only counts: it has no room.
void MuslDlopens::print(const ProcessSource& process,
                        pid_t thread,
                        const tracee::Registers& registers) {
  MuslDlopen* call = innermost(thread, registers.stack());
  const std::uint64_t room = registers.argument(thread, 0).value_or(0);
  if (call != nullptr && room != 0 &&
      refuses_dlopen(loader_text(process, registers.argument(thread, 2).value_or(0)))) {
    call->words = room;
  }
}

MuslDlopen* MuslDlopens::innermost(pid_t thread, std::uint64_t stack) {
  const auto calls = open_.find(thread);
  MuslDlopen* found = nullptr;
  if (calls != open_.end()) {
    for (MuslDlopen& call : calls->second) {
      found = call.stack > stack ? &call : found;
    }
  }
  return found;
}

bool refuses_dlopen(std::string_view format) {
  return std::any_of(dlopen_beginnings.begin(),
                     dlopen_beginnings.end(),
                     [&](std::string_view beginning) { return format.starts_with(beginning); });
}

FailedLoad musl_refusal(std::string_view words) {
  FailedLoad failure;
  for (const std::string_view beginning : dlopen_beginnings) {
    if (words.starts_with(beginning)) {
      const std::string_view rest = words.substr(beginning.size());
      const auto colon = rest.find(": ");
      failure.name = rest.substr(0, colon);
      failure.reason = colon == std::string_view::npos ? words : rest.substr(colon + 2);
      return failure;
    }
  }
  failure.reason = words;
  return failure;
}

}  // namespace tracso::launch
