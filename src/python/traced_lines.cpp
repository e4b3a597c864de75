#include "python/traced_lines.hpp"

#include "elf/memory_image.hpp"
#include "python/block_reader.hpp"
#include "python/runtime_sections.hpp"
#include "python/runtimes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

namespace tracso::python {
namespace {

constexpr const char* reading_lines = "read the traced lines of";
constexpr int readings_of_lines = 4;
constexpr std::uint64_t most_buckets = std::uint64_t{1} << 26U, most_traces = 20'000'000;
constexpr std::size_t most_domains = 64, most_traced_lines = 1'000'000;

// struct _PyTraceMalloc_Config: initialized, tracing, max_nframe, each an int.
struct Config {
  std::int32_t initialized = 0, tracing = 0, most_frames = 0;
};

constexpr std::int32_t most_frames_allowed = 65535;

// _PyRuntimeState.tracemalloc (Include/internal/pycore_runtime_structs.h; 3.12 and 3.13:
// pycore_runtime.h), and in there.
struct TracesPlace {
  std::uint32_t minor = 0, at = 0;
};

constexpr std::array<TracesPlace, 4> traces_places = {
    {{12, 2768}, {13, 10080}, {14, 10296}, {14, 26288}}};  // the last: a debug build
constexpr std::uint32_t traces_at = 184, domains_at = 192;

// _Py_hashtable_t: 3.8 (buckets, entries, table, bytes of a key) and since (entries, buckets,
// table). Its entries: next, hash, then key and value: themselves in 3.8, pointers since.
constexpr std::uint32_t buckets_at = 16, key_bytes_at = 24, entry_head = 16, value_at = 24;
// A traceback: hash, number of frames, then frames of 12 bytes: file name (str) and line.
constexpr std::uint32_t frame_count_at = 8, frames_at = 12, line_at = 8;

// Where the tables of one interpreter lie.
struct Tables {
  std::uint64_t traces = 0;   // of blocks of Python's allocators
  std::uint64_t domains = 0;  // of other tables, by number: numpy has one
};

struct Sum {
  std::uint64_t blocks = 0, bytes = 0;
};

using ByTraceback = std::unordered_map<std::uint64_t, Sum>;

class Reading {
 public:
  explicit Reading(const ProbeInput& input)
      : input_(input),
        process_(*input.target.process),
        words_(process_, read_limits()),
        blocks_(process_, block_limits()) {}

  Result<TracedLines> read();

 private:
  ReadLimits read_limits() const {
    ReadLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + input_.timeout;
    return limits;
  }

  BlockLimits block_limits() const {
    BlockLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + input_.timeout;
    return limits;
  }

  Error error(ErrorKind kind, std::string reason) const {
    return {kind, reading_lines, fmt::format("process {}", process_.pid()), std::move(reason), ""};
  }

  Result<Tables> tables_of(const LivingRuntime& runtime);
  Result<Tables> tables_in_file(const LivingRuntime& runtime);
  std::optional<std::uint64_t> local_symbol(const Runtime& runtime, std::string_view name);
  bool walk(std::uint64_t table, bool of_domains, ByTraceback& into);
  bool add(std::uint64_t entry, std::uint64_t key_bytes, bool of_domains, ByTraceback& into);
  TracedLines described(const ByTraceback& sums, const Layout& layout);

  std::uint64_t word(std::uint64_t address) {
    return blocks_.value<std::uint64_t>(address).value_or(0);
  }

  const ProbeInput& input_;
  const ProcessSource& process_;
  MemoryReader words_;
  BlockReader blocks_;
  std::uint32_t minor_ = 0;
  std::uint64_t traces_seen_ = 0, traces_expected_ = 0;
};

Error not_running(const Error& like) {
  Error error = like;
  error.kind = ErrorKind::not_found;
  error.reason = "tracemalloc does not run in it";
  error.hint = "python3 -X tracemalloc, or PYTHONTRACEMALLOC=1";
  return error;
}

bool is_plausible(const Config& config) {
  return config.initialized >= 0 && config.initialized <= 2 && config.tracing >= 0 &&
         config.tracing <= 1 && config.most_frames >= 1 &&
         config.most_frames <= most_frames_allowed;
}

// A variable of the interpreter that no other object can see: only its symbol table has it.
std::optional<std::uint64_t> Reading::local_symbol(const Runtime& runtime, std::string_view name) {
  const auto mapping =
      std::find_if(input_.mappings.begin(), input_.mappings.end(), [&](const Mapping& one) {
        return one.start == runtime.header;
      });
  const auto image = elf::MemoryImage::at_header(process_, runtime.header);
  if (mapping == input_.mappings.end() || !image) {
    return std::nullopt;
  }
  const auto file =
      process_.open_mapped({mapping->start, mapping->end, mapping->device, mapping->inode});
  const auto value = file ? symbol_in_file(**file, name) : std::nullopt;
  return value ? std::optional(*value + image->bias()) : std::nullopt;
}

Result<Tables> Reading::tables_in_file(const LivingRuntime& runtime) {
  const auto image = elf::MemoryImage::at_header(process_, runtime.runtime.header);
  const auto symbol = image ? image->symbol(process_, "_Py_tracemalloc_config") : std::nullopt;
  const auto config = symbol ? words_.value<Config>(symbol->address) : std::nullopt;
  if (config && is_plausible(*config) && config->tracing == 0) {
    return not_running(error(ErrorKind::not_found, ""));
  }
  const auto traces = local_symbol(runtime.runtime, "tracemalloc_traces");
  const auto domains = local_symbol(runtime.runtime, "tracemalloc_domains");
  if (!traces || !config || !is_plausible(*config)) {
    return error(ErrorKind::unsupported,
                 "tracemalloc runs, but its table is not to be found: the interpreter has no "
                 "symbol table");
  }
  return Tables{words_.pointer(*traces), domains ? words_.pointer(*domains) : 0};
}

Result<Tables> Reading::tables_of(const LivingRuntime& runtime) {
  minor_ = runtime.located.layout.minor;
  if (minor_ <= 11) {
    return tables_in_file(runtime);
  }
  bool found = false;
  for (const TracesPlace& place : traces_places) {
    const auto at = runtime.runtime.address + place.at;
    const auto config = place.minor == minor_ && !runtime.located.layout.free_threaded
                            ? words_.value<Config>(at)
                            : std::nullopt;
    const bool plausible = config && is_plausible(*config);
    if (plausible && config->tracing == 1) {
      return Tables{words_.pointer(at + traces_at), words_.pointer(at + domains_at)};
    }
    found = found || plausible;
  }
  if (found) {
    return not_running(error(ErrorKind::not_found, ""));
  }
  return error(
      ErrorKind::unsupported,
      fmt::format("where this Python 3.{} keeps what tracemalloc traces is not known", minor_));
}

bool Reading::add(std::uint64_t entry,
                  std::uint64_t key_bytes,
                  bool of_domains,
                  ByTraceback& into) {
  const std::uint64_t value = minor_ == 8 ? entry + entry_head + key_bytes : word(entry + value_at);
  if (value == 0 || ++traces_seen_ > most_traces) {
    return false;
  }
  if (of_domains) {
    return walk(value, false, into);
  }
  const std::uint64_t traceback = word(value + 8);
  Sum& sum = into[traceback];
  ++sum.blocks;
  sum.bytes += word(value);
  return traceback != 0;
}

// false: it changed meanwhile.
bool Reading::walk(std::uint64_t table, bool of_domains, ByTraceback& into) {
  const auto counts = blocks_.value<std::array<std::uint64_t, 2>>(table);
  const std::uint64_t buckets = word(table + buckets_at);
  if (table == 0 || !counts || buckets == 0) {
    return false;
  }
  const std::uint64_t entries = (*counts)[minor_ == 8 ? 1 : 0];
  const std::uint64_t count = (*counts)[minor_ == 8 ? 0 : 1];
  const std::uint64_t key_bytes = minor_ == 8 ? word(table + key_bytes_at) : 0;
  // It has at least 16 buckets, and is made smaller when it is nearly empty.
  const bool sparse = count > 64 + 64 * entries;
  if (count > most_buckets || entries > most_traces || sparse || key_bytes > 64 ||
      (of_domains && entries > most_domains)) {
    return false;
  }
  traces_expected_ += of_domains ? 0 : entries;
  std::uint64_t seen = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::uint64_t entry = word(buckets + 8 * i); entry != 0; entry = word(entry)) {
      if (++seen > entries || !add(entry, key_bytes, of_domains, into)) {
        return false;
      }
    }
  }
  return seen == entries && !blocks_.exhausted();
}

TracedLines Reading::described(const ByTraceback& sums, const Layout& layout) {
  TracedLines out;
  Objects objects(words_, layout);
  std::unordered_map<std::uint64_t, std::string> files;
  std::map<std::pair<std::string, std::uint32_t>, Sum> lines;
  for (const auto& [traceback, sum] : sums) {
    const auto frames = words_.value<std::uint16_t>(traceback + frame_count_at);
    const auto file = words_.pointer(traceback + frames_at);
    const auto line = words_.value<std::uint32_t>(traceback + frames_at + line_at);
    if (!frames || *frames == 0 || !line || lines.size() >= most_traced_lines) {
      out.moved = true;
      continue;
    }
    const auto known = files.try_emplace(file);
    if (known.second) {
      known.first->second = objects.text(file).value_or("<unknown>");
    }
    Sum& total = lines[{known.first->second, *line}];
    total.blocks += sum.blocks;
    total.bytes += sum.bytes;
  }
  for (const auto& [place, sum] : lines) {
    out.lines.push_back({place.first, place.second, sum.blocks, sum.bytes});
  }
  return out;
}

Result<TracedLines> Reading::read() {
  const auto living = find_living_runtimes(input_, words_, reading_lines);
  if (!living) {
    return living.error();
  }
  if (living->empty()) {
    return error(ErrorKind::not_found, "no Python works in it at this moment");
  }
  const LivingRuntime& runtime = living->front();
  const auto tables = tables_of(runtime);
  if (!tables) {
    return tables.error();
  }
  ByTraceback sums;
  bool whole = false;
  for (int i = 0; i < readings_of_lines && !whole && !blocks_.exhausted(); ++i) {
    blocks_.forget();
    sums.clear();
    traces_seen_ = traces_expected_ = 0;
    whole = walk(tables->traces, false, sums) &&
            (tables->domains == 0 || walk(tables->domains, true, sums));
  }
  if (blocks_.exhausted()) {
    return error(ErrorKind::interrupted, "it has more traces than are ever read");
  }
  // Blocks that came or went meanwhile are a few; a chain that was cut may be most of the table.
  if (!whole && traces_seen_ < traces_expected_ - traces_expected_ / 50) {
    return error(ErrorKind::interrupted, "its traces change faster than they can be read");
  }
  TracedLines out = described(sums, runtime.located.layout);
  out.moved = out.moved || !whole;
  return out;
}

}  // namespace

Result<TracedLines> read_traced_lines(const ProbeInput& input) {
  return Reading(input).read();
}

}  // namespace tracso::python
