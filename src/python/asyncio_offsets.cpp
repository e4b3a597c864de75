#include "python/asyncio_offsets.hpp"

#include "base/text.hpp"
#include "elf/memory_image.hpp"
#include "python/runtime_sections.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace tracso::python {
namespace {

// The structure is three: of a task, of an interpreter, of a thread; each begins with its size.
constexpr std::size_t task_size = 0, task_node = 6, interpreter_size = 7, interpreter_list = 8,
                      thread_size = 9, thread_list = 12;
constexpr std::uint64_t largest_task = 4096, largest_state = std::uint64_t{64} << 20U;

bool fits(std::uint64_t size, std::uint64_t most, std::uint64_t link) {
  return size <= most && link % 8 == 0 && link != 0 && link < size && size - link >= 16;
}

bool is_module(const Mapping& mapping) {
  return mapping.offset == 0 && base_name(mapping.name).starts_with("_asyncio.");
}

std::optional<AsyncioOffsets> offsets_in(const ProbeInput& input,
                                         MemoryReader& memory,
                                         const Mapping& mapping) {
  const auto& process = *input.target.process;
  const auto image = elf::MemoryImage::at_header(process, mapping.start);
  const auto file =
      process.open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
  const auto section = image && file ? section_in_file(**file, ".AsyncioDebug") : std::nullopt;
  std::array<std::uint64_t, asyncio_offsets_words> words{};
  if (!section || section->bytes != sizeof words ||
      !memory.read(image->bias() + section->address, std::as_writable_bytes(std::span(words)))) {
    return std::nullopt;
  }
  return asyncio_offsets(words);
}

}  // namespace

std::optional<AsyncioOffsets> asyncio_offsets(
    std::span<const std::uint64_t, asyncio_offsets_words> words) {
  if (!fits(words[task_size], largest_task, words[task_node]) ||
      !fits(words[interpreter_size], largest_state, words[interpreter_list]) ||
      !fits(words[thread_size], largest_state, words[thread_list])) {
    return std::nullopt;
  }
  return AsyncioOffsets{words[task_node], words[interpreter_list], words[thread_list]};
}

std::optional<AsyncioOffsets> find_asyncio_offsets(const ProbeInput& input,
                                                   MemoryReader& memory,
                                                   std::uint64_t interpreter) {
  const auto module = std::find_if(input.mappings.begin(), input.mappings.end(), is_module);
  if (module != input.mappings.end()) {
    return offsets_in(input, memory, *module);
  }
  const auto program = std::find_if(input.mappings.begin(),
                                    input.mappings.end(),
                                    [&](const Mapping& one) { return one.start == interpreter; });
  return program == input.mappings.end() ? std::nullopt : offsets_in(input, memory, *program);
}

}  // namespace tracso::python
