#include "launch/loader_errors.hpp"

#include "elf/memory_image.hpp"

#include <algorithm>
#include <system_error>

namespace tracso::launch {
namespace {

// In the frame of _dl_open: struct dl_exception { const char *objname, *errstring; char *buffer; },
// and struct dl_open_args in its versions.
constexpr std::size_t words_of_frame = 48;
constexpr std::size_t words_of_exception = 3;
constexpr std::size_t least_words_of_arguments = 8, words_of_arguments = 14;

std::uint64_t argument(const tracee::Registers& registers, pid_t thread, std::size_t number) {
  return registers.argument(thread, number).value_or(0);
}

// As dlerror(3) puts it.
std::string with_number(std::string reason, std::uint64_t error_number) {
  const auto number = static_cast<std::int32_t>(static_cast<std::uint32_t>(error_number));
  return number > 0 ? reason + ": " + std::generic_category().message(number) : reason;
}

}  // namespace

std::string loader_text(const ProcessSource& process, std::uint64_t address) {
  return address == 0 ? "" : elf::read_text(process, address).value_or("(unreadable)");
}

FailedLoad signalled_error(const ProcessSource& process,
                           pid_t thread,
                           const tracee::Registers& registers) {
  FailedLoad failure;
  failure.name = loader_text(process, argument(registers, thread, 1));
  failure.reason = with_number(loader_text(process, argument(registers, thread, 3)),
                               argument(registers, thread, 0));
  return failure;
}

FailedLoad signalled_exception(const ProcessSource& process,
                               pid_t thread,
                               const tracee::Registers& registers) {
  FailedLoad failure;
  const auto exception = stack_words(process, argument(registers, thread, 1), 2, registers.word());
  if (exception.size() == 2) {
    failure.name = loader_text(process, exception[0]);
    failure.reason =
        with_number(loader_text(process, exception[1]), argument(registers, thread, 0));
  }
  return failure;
}

FailedLoad formatted_exception(const ProcessSource& process,
                               pid_t thread,
                               const tracee::Registers& registers) {
  FailedLoad failure;
  failure.name = loader_text(process, argument(registers, thread, 1));
  const std::string format = loader_text(process, argument(registers, thread, 2));
  std::size_t number = 3;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format.compare(at, 2, "%s") == 0) {  // it knows no other
      failure.reason += loader_text(process, argument(registers, thread, number++));
      ++at;
    } else {
      failure.reason += format[at];
    }
  }
  return failure;
}

bool is_warning(std::string_view words) {
  return words.starts_with("no version information available") ||
         words.starts_with("weak version `");
}

std::optional<DlopenCall> signalling_call(
    const ProcessSource& process,
    pid_t thread,
    const tracee::Registers& registers,
    const std::function<bool(const DlopenCall&)>& has_caller) {
  const std::size_t word = registers.word();
  const std::uint64_t exception = argument(registers, thread, 1);
  const std::uint64_t stack = registers.stack();
  const bool has_occasion = registers.argument(thread, 2).value_or(1) != 0;
  if (has_occasion || exception < stack || exception - stack > words_of_frame * word) {
    return std::nullopt;
  }
  // Compilers put the arguments behind the exception (seen of glibc 2.31 to 2.41) or before (2.43).
  const auto has_name = [&](const DlopenCall& call) {
    return !loader_text(process, call.name).empty();
  };
  const auto behind = find_dlopen_call(
      stack_words(process, exception + words_of_exception * word, words_of_arguments, word),
      [&](const DlopenCall& call) { return call.word <= 1 && has_name(call); });
  if (behind) {
    return behind;
  }
  const std::uint64_t reach = std::min<std::uint64_t>(exception, words_of_arguments * word);
  const std::uint64_t start = std::max(stack, exception - reach);
  const auto count = static_cast<std::size_t>((exception - start) / word);
  return find_dlopen_call(stack_words(process, start, count, word), [&](const DlopenCall& call) {
    return call.word + least_words_of_arguments <= count && has_name(call) && has_caller(call);
  });
}

}  // namespace tracso::launch
