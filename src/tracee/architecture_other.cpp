// Any other processor: programs are run and seen at their exit stop, without breakpoints.
#if !defined(__x86_64__) && !defined(__aarch64__)

#include "tracee/architecture.hpp"

namespace tracso::tracee {

std::optional<RegisterLayout> register_layout(std::size_t) {
  return std::nullopt;
}

std::optional<EntryInstruction> entry_instruction(std::span<const std::uint8_t>, std::size_t) {
  return std::nullopt;
}

std::vector<std::uint64_t> places_of_arguments(const VariableArguments&, std::size_t) {
  return {};
}

std::optional<std::uint64_t> returned_thread_offset(std::span<const std::uint8_t>) {
  return std::nullopt;
}

bool fails_after_a_stop(std::uint64_t) {
  return false;
}

std::span<const std::uint8_t> breakpoint_code() {
  return {};
}

std::optional<std::uint8_t> return_byte() {
  return std::nullopt;
}

std::uint64_t breakpoint_advance() {
  return 0;
}

}  // namespace tracso::tracee

#endif
