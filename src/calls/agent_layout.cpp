#include "calls/agent_layout.hpp"

#include "base/text.hpp"
#include "calls/agent_image.hpp"
#include "calls/arena.hpp"
#include "calls/target_file.hpp"
#include "elf/symbols.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace tracso::calls {
namespace {

// The agent as a file.
class ImageFile final : public File {
 public:
  Result<FileStatus> status() const override {
    FileStatus status;
    status.bytes = agent_image().size();
    return status;
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const auto image = agent_image();
    const auto room = offset < image.size() ? image.size() - offset : 0;
    const auto count = std::min<std::size_t>(room, into.size());
    std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  }
};

// Address in the process of a function that one of its libraries exports; 0: none does.
class Exports {
 public:
  Exports(const Target& target, const std::vector<Mapping>& mappings)
      : target_(target), mappings_(mappings) {}

  std::uint64_t find(std::string_view library, std::string_view symbol) const {
    for (const auto& mapping : mappings_) {
      if (mapping.offset != 0 || !mapping.has_file() ||
          !base_name(mapping.name).starts_with(library)) {
        continue;
      }
      const auto file = open_file_of(target_, mapping);
      auto table = file ? elf::SymbolTable::open(**file, mapping.name)
                        : Result<elf::SymbolTable>(file.error());
      const auto address =
          table ? table->address_of(symbol) : Result<std::optional<std::uint64_t>>(table.error());
      if (address && *address) {
        return mapping.start + **address;
      }
    }
    return 0;
  }

 private:
  const Target& target_;
  const std::vector<Mapping>& mappings_;
};

// The same bytes as those that this program would bring.
bool is_same_agent(const ProcessSource& process, const Mapping& mapping) {
  const auto image = agent_image();
  const auto bytes = std::min<std::uint64_t>(mapping.end - mapping.start, image.size());
  std::vector<std::byte> there(bytes);
  return process.read_memory(mapping.start, there) &&
         std::equal(there.begin(), there.end(), image.begin());
}

template <class T>
T read_as(const ProcessSource& process, std::uint64_t address) {
  T value{};
  if (!process.read_memory(address, std::as_writable_bytes(std::span(&value, 1)))) {
    value = T{};
  }
  return value;
}

}  // namespace

Result<LoaderFunctions> find_loader_functions(const Target& target,
                                              const std::vector<Mapping>& mappings) {
  constexpr std::uint64_t stays = RTLD_NODELETE, from_inside = 0x80000000;  // __RTLD_DLOPEN
  const Exports exports(target, mappings);
  LoaderFunctions functions;
  functions.dlopen_flags = RTLD_NOW | stays;
  functions.errno_location = exports.find("libc", "__errno_location");
  for (const char* library : {"libc.so", "libc-2", "libdl"}) {  // before 2.34 in libdl
    functions.dlopen = functions.dlopen != 0 ? functions.dlopen : exports.find(library, "dlopen");
    functions.dlerror =
        functions.dlerror != 0 ? functions.dlerror : exports.find(library, "dlerror");
  }
  if (functions.dlopen == 0) {
    functions.dlopen = exports.find("libc", "__libc_dlopen_mode");
    functions.dlopen_flags |= from_inside;
    functions.dlerror = 0;
  }
  if (functions.dlopen == 0 || functions.errno_location == 0) {
    return Error{ErrorKind::unsupported,
                 "attach to process",
                 std::to_string(target.process->pid()),
                 "dlopen cannot be found in its C library",
                 ""};
  }
  return functions;
}

Result<AgentLayout> agent_layout() {
  const ImageFile file;
  AgentLayout layout;
  auto table = elf::SymbolTable::open(file, "the agent");
  if (!table) {
    return table.error();
  }
  const auto offset = [&](std::string_view name) {
    const auto found = table->address_of(name);
    return found && *found ? **found : 0;
  };
  layout.attach = offset("tracso_agent_attach");
  layout.detach = offset("tracso_agent_detach");
  layout.state = offset("tracso_agent_state");
  if (layout.attach == 0 || layout.detach == 0 || layout.state == 0) {
    return Error{ErrorKind::internal, "read", "the agent", "it lacks its functions", ""};
  }
  return layout;
}

std::optional<ResidentAgent> find_resident_agent(const ProcessSource& process,
                                                 const std::vector<Mapping>& mappings,
                                                 const AgentLayout& layout) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [](const Mapping& mapping) {
    return mapping.offset == 0 && base_name(mapping.name).find("tracso-agent") != std::string::npos;
  });
  if (found == mappings.end()) {
    return std::nullopt;
  }
  ResidentAgent agent;
  agent.base = found->start;
  agent.same = is_same_agent(process, *found);
  if (!agent.same) {
    return agent;
  }
  agent.state = read_as<tracso_agent_state>(process, agent.base + layout.state);
  if (agent.state.setup != 0 && agent.state.active != 0) {
    const auto tracer =
        read_as<std::int32_t>(process, agent.state.setup + offsetof(tracso_setup, tracer));
    const auto started =
        read_as<std::uint64_t>(process, agent.state.setup + offsetof(tracso_setup, tracer_started));
    agent.tracer = tracer > 0 && started != 0 && start_time(tracer) == started ? tracer : 0;
  }
  return agent;
}

}  // namespace tracso::calls
