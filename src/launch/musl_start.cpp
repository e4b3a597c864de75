#include "launch/musl_start.hpp"

#include "base/byte_view.hpp"
#include "launch/loader_errors.hpp"
#include "launch/musl_dlopen.hpp"
#include "tracee/architecture.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

namespace tracso::launch {
namespace {

constexpr std::size_t start_code_bytes = 16;
// No format of the loader has more.
constexpr std::size_t most_arguments = 3;

std::uint64_t word_at(const ProcessSource& process, std::uint64_t address) {
  std::array<std::byte, 8> bytes{};
  if (!process.read_memory(address, bytes)) {
    return 0;
  }
  return ByteView(bytes).get<std::uint64_t>(0).value_or(0);
}

std::string error_text(const ProcessSource& process,
                       const tracee::Registers& registers,
                       std::optional<std::uint64_t> errno_place) {
  const std::uint64_t thread = registers.thread_pointer();
  std::array<std::byte, 4> bytes{};
  if (!errno_place || thread == 0 || !process.read_memory(thread + *errno_place, bytes)) {
    return "(its error number could not be read)";
  }
  const auto number = ByteView(bytes).get<std::int32_t>(0).value_or(0);
  return std::generic_category().message(number);
}

}  // namespace

std::optional<std::uint64_t> place_of_errno(const ProcessSource& process,
                                            const elf::MemoryImage& musl) {
  const auto symbol = musl.symbol(process, "__errno_location");
  std::array<std::byte, start_code_bytes> bytes{};
  if (!symbol || !process.read_memory(symbol->address, bytes)) {
    return std::nullopt;
  }
  std::array<std::uint8_t, start_code_bytes> code{};
  std::transform(bytes.begin(), bytes.end(), code.begin(), [](std::byte byte) {
    return std::to_integer<std::uint8_t>(byte);
  });
  return tracee::returned_thread_offset(code);
}

std::optional<FailedLoad> musl_start_error(const ProcessSource& process,
                                           pid_t thread,
                                           const tracee::Registers& registers,
                                           std::optional<std::uint64_t> errno_place) {
  const auto descriptor = registers.argument(thread, 0).value_or(0);
  const std::string format = loader_text(process, registers.argument(thread, 1).value_or(0));
  if (registers.word() != 8 || static_cast<std::uint32_t>(descriptor) != STDERR_FILENO ||
      !refuses_dlopen(format)) {
    return std::nullopt;
  }
  tracee::VariableArguments list{};
  if (!process.read_memory(registers.argument(thread, 2).value_or(0), list)) {
    return std::nullopt;
  }
  const auto places = tracee::places_of_arguments(list, most_arguments);
  std::string words;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    const std::string_view piece = std::string_view(format).substr(at, 2);
    if (piece == "%m") {
      words += error_text(process, registers, errno_place);
      ++at;
    } else if (piece == "%s" || piece == "%d") {
      if (next == places.size()) {
        return std::nullopt;
      }
      const std::uint64_t value = word_at(process, places[next++]);
      words += piece == "%s" ? loader_text(process, value)
                             : std::to_string(static_cast<std::int32_t>(value));
      ++at;
    } else {
      words += format[at];
    }
  }
  return musl_refusal(words);
}

}  // namespace tracso::launch
