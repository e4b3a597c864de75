#include "collect/costs.hpp"

#include "base/text.hpp"
#include "collect/memory_classes.hpp"
#include "elf/file_image.hpp"
#include "elf/memory_image.hpp"
#include "elf/relocations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tracso {
namespace {

using proc::MappingCost;

constexpr std::uint64_t usual_page = 4096;

struct Sum {
  std::uint64_t resident = 0, private_bytes = 0;
  bool known = true;
};

// The bits of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
bool is_own_page(std::uint64_t entry) {
  constexpr std::uint64_t present = std::uint64_t{1} << 63;
  constexpr std::uint64_t of_file = std::uint64_t{1} << 61;
  constexpr std::uint64_t exclusive = std::uint64_t{1} << 56;  // the zero page is not
  return (entry & present) != 0 && (entry & of_file) == 0 && (entry & exclusive) != 0;
}

class MemoryCosts {
 public:
  explicit MemoryCosts(Workspace& work) : work_(work), sums_(work.mapped.objects.size()) {
    for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
      const MappedObject& object = work.mapped.objects[i];
      by_file_.emplace(std::pair(object.device, object.inode), i);
    }
  }

  void add(const std::vector<MappingCost>& costs) {
    for (const MappingCost& cost : costs) {
      const auto object = object_of(cost.mapping);
      if (object) {
        enter(*object, cost.mapping);
        count(*object, cost);
      } else {
        add_beside(cost);
      }
    }
  }

  void store() {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      Cost& cost = work_.trace.graph.mutable_node(work_.node_of_object[i]).cost;
      if (sums_[i].known) {
        cost.resident = sums_[i].resident;
        cost.private_bytes = sums_[i].private_bytes;
      }
    }
    const auto unknown =
        std::count_if(sums_.begin(), sums_.end(), [](const Sum& sum) { return !sum.known; });
    if (unknown > 0) {
      work_.trace.notices.push_back(
          {"costs-unknown",
           fmt::format("the page map of the process is not readable, and {} mapped together with "
                       "other memory",
                       counted(static_cast<std::uint64_t>(unknown), "library is", "libraries are")),
           "their resident and private bytes are not known",
           "run as its user or as root"});
    }
  }

 private:
  std::optional<std::size_t> object_of(const Mapping& mapping) const {
    const auto found = mapping.has_file() ? by_file_.find(std::pair(mapping.device, mapping.inode))
                                          : by_file_.end();
    return found == by_file_.end() ? std::nullopt : std::optional(found->second);
  }

  // A new copy of the file begins where its header is mapped.
  void enter(std::size_t object, const Mapping& mapping) {
    if (mapping.offset == 0 || object != current_) {
      header_ = mapping.offset == 0 ? std::optional(mapping.start) : std::nullopt;
      end_.reset();
    }
    current_ = object;
    reached_ = mapping.end;
  }

  void count(std::size_t object, const MappingCost& cost) {
    sums_[object].resident += cost.resident + cost.huge;
    sums_[object].private_bytes += cost.private_bytes();
  }

  // Anonymous memory that continues the object: up to the end of its last segment it is the
  // object's.
  void add_beside(const MappingCost& cost) {
    const Mapping& mapping = cost.mapping;
    const bool continues = current_ && !mapping.has_file() && !mapping.name.starts_with('[') &&
                           mapping.start == reached_ && mapping.start < end_of_segments();
    if (!continues) {
      current_.reset();
      return;
    }
    if (mapping.end <= end_of_segments()) {
      count(*current_, cost);
      reached_ = mapping.end;
      return;
    }
    add_part(mapping, end_of_segments(), cost);
    current_.reset();
  }

  std::uint64_t page() const {
    const std::uint64_t bytes = work_.facts.auxv ? work_.facts.auxv->page_bytes : 0;
    return bytes >= usual_page && (bytes & (bytes - 1)) == 0 ? bytes : usual_page;
  }

  // The end of the last PT_LOAD in memory, rounded up to a page; 0: not known.
  std::uint64_t end_of_segments() {
    if (!end_) {
      const std::uint64_t end = header_ ? unrounded_end(*header_) : 0;
      end_ = end == 0 ? 0 : (end + page() - 1) / page() * page();
    }
    return *end_;
  }

  // As the file said when it was read; else as the header in memory says.
  std::uint64_t unrounded_end(std::uint64_t header) const {
    const std::string_view start = work_.mapped.objects[*current_].start();
    if (const auto bytes = elf::bytes_in_memory(std::as_bytes(std::span(start)))) {
      return header + *bytes;
    }
    const auto image = elf::MemoryImage::at_header(*work_.target.process, header);
    std::uint64_t end = 0;
    if (image) {
      constexpr std::uint32_t pt_load = 1;
      for (const auto& segment : image->program_headers()) {
        const std::uint64_t end_of_one = image->bias() + segment.address + segment.memory_bytes;
        end = segment.type == pt_load ? std::max(end, end_of_one) : end;
      }
    }
    return end;
  }

  // The kernel has joined .bss with whatever lies behind it: page by page, or not at all.
  void add_part(const Mapping& mapping, std::uint64_t end, const MappingCost& cost) {
    if (cost.resident == 0) {
      return;
    }
    constexpr std::uint64_t most_pages = 1U << 20U;
    const std::uint64_t count = (end - mapping.start) / page();
    std::vector<std::uint64_t> entries(std::min(count, most_pages));
    const auto bytes = std::as_writable_bytes(std::span(entries));
    const auto got = work_.target.process->read_at(
        "pagemap", mapping.start / page() * sizeof(std::uint64_t), bytes);
    if (!got || *got != bytes.size() || count > most_pages) {
      sums_[*current_].known = false;
      return;
    }
    const auto own =
        static_cast<std::uint64_t>(std::count_if(entries.begin(), entries.end(), is_own_page));
    sums_[*current_].resident += own * page();
    sums_[*current_].private_bytes += own * page();
  }

  Workspace& work_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> by_file_;
  std::vector<Sum> sums_;
  // The object that the walk is in, where it began, how far it has come, where its segments end.
  std::optional<std::size_t> current_;
  std::optional<std::uint64_t> header_, end_;
  std::uint64_t reached_ = 0;
};

Notice costs_unreadable(const Error& error) {
  return {"costs-unreadable",
          fmt::format("the sizes of its mappings cannot be read ({})", error.reason),
          "resident and private bytes are not known",
          "run as its user or as root"};
}

Result<std::unique_ptr<File>> open_object(const Workspace& work, const MappedObject& object) {
  const Mapping& first = work.facts.mappings[object.mappings.front()];
  auto file = work.target.process->open_mapped({first.start, first.end, first.device, first.inode});
  if (file || object.state != ObjectFile::State::current) {
    return file;
  }
  return work.target.files->open(object.path);
}

void set_relocations(Graph& graph, NodeId node, const Result<std::unique_ptr<File>>& file) {
  const auto bytes = file ? elf::relocation_bytes(**file, display_name(graph[node]))
                          : Result<std::uint64_t>(file.error());
  if (bytes) {
    graph.mutable_node(node).cost.relocations = *bytes;
  }
}

}  // namespace

Result<std::vector<MappingCost>> read_mapping_costs(const ProcessSource& process) {
  const auto text = process.read("smaps");
  return text ? proc::parse_smaps(*text) : Result<std::vector<MappingCost>>(text.error());
}

void add_memory_costs(Workspace& work, const Result<std::vector<MappingCost>>& costs) {
  if (!costs) {
    work.trace.notices.push_back(costs_unreadable(costs.error()));
    return;
  }
  MemoryCosts memory(work);
  memory.add(*costs);
  memory.store();
  if (work.options.memory_classes) {
    work.trace.memory =
        classify_memory(*work.target.process, *costs, work.options.python_pools).memory;
  }
}

void add_relocation_costs(Workspace& work) {
  for (std::size_t i = 0; i < work.mapped.objects.size(); ++i) {
    set_relocations(
        work.trace.graph, work.node_of_object[i], open_object(work, work.mapped.objects[i]));
  }
}

void add_relocation_costs(Graph& graph, const FileSystem& files) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto node = static_cast<NodeId>(i);
    const ObjectFile* file = object(graph[node]);
    if (file != nullptr && !file->path.text.empty()) {
      set_relocations(graph, node, files.open(file->path));
    }
  }
}

}  // namespace tracso
