#include "python/interpreter.hpp"

#include "base/text.hpp"
#include "elf/layout.hpp"
#include "elf/memory_image.hpp"
#include "proc/paged_process.hpp"
#include "python/runtime_cookie.hpp"
#include "python/runtime_sections.hpp"

#include <fmt/format.h>

#include <elf.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tracso::python {
namespace {

using elf::MemoryImage;

// A mapped file that may be an ELF object: its first mapping.
struct Object {
  const Mapping* mapping = nullptr;
  bool program = false;    // it is the target's executable
  bool named = false;      // its name says Python
  bool extension = false;  // a module: never holds the runtime, and there may be hundreds
};

std::vector<Object> mapped_objects(const ProbeInput& input) {
  std::vector<Object> objects;
  for (const auto& mapping : input.mappings) {
    if (!mapping.has_file() || mapping.offset != 0 || !mapping.readable) {
      continue;
    }
    Object object;
    object.mapping = &mapping;
    object.program = !input.executable.empty() && mapping.name == input.executable;
    const auto name = base_name(mapping.name);
    object.extension = name.find(".cpython-") != std::string_view::npos ||
                       name.find(".abi3.") != std::string_view::npos;
    object.named = name.find("python") != std::string_view::npos && !object.extension;
    objects.push_back(object);
  }
  std::stable_sort(objects.begin(), objects.end(), [](const Object& a, const Object& b) {
    return a.program && !b.program;
  });
  return objects;
}

// "/usr/lib/libpython3.11.so.1.0" -> "3.11"; empty: the name does not tell.
std::string version_in_name(std::string_view path) {
  constexpr std::string_view word = "python";
  for (auto at = path.rfind(word); at != std::string_view::npos && at > 0;
       at = path.rfind(word, at - 1)) {
    std::string_view rest = path.substr(at + word.size());
    rest = rest.substr(0, std::min(rest.find_first_not_of("0123456789."), rest.size()));
    const auto parts = split(rest, '.');
    if (parts.size() >= 2 && parse_unsigned(parts[0]) && parse_unsigned(parts[1])) {
      return fmt::format("{}.{}", parts[0], parts[1]);
    }
  }
  return "";
}

std::uint32_t minor_of(std::string_view version) {
  const auto parts = split(version, '.');
  if (parts.size() < 2 || parts[0] != "3") {
    return 0;
  }
  return static_cast<std::uint32_t>(parse_unsigned(parts[1]).value_or(0) & 0xffU);
}

// Keeps what the look at one object after the other brings together.
class InterpreterSearch {
 public:
  explicit InterpreterSearch(const ProbeInput& input)
      : input_(input), process_(*input.target.process) {}

  Result<Interpreter> run();

 private:
  std::optional<std::uint64_t> place_of_dynamic(std::uint64_t header) const;
  void fetch(const std::vector<Object>& objects) const;
  void search_everywhere();
  void look_at(const Object& object);
  void look_into_file(const Object& object);
  void look_for_cookies();
  void add(const Object& object, const MemoryImage& image, std::uint64_t address, std::string how);
  void recognize_pypy();
  void recognize_old();
  std::unique_ptr<File> open(const Mapping& mapping) const;
  std::optional<MemoryImage> image_of(const Object& object);

  const ProbeInput& input_;
  proc::PagedProcess process_;  // a handful of small reads from the first pages of every object
  Interpreter found_;
  std::vector<std::pair<const Object*, MemoryImage>> images_;  // objects without _PyRuntime
  std::optional<Error> failure_;                               // why an object could not be read
  bool any_readable_ = false;
  bool any_32_bit_ = false;
};

std::optional<MemoryImage> InterpreterSearch::image_of(const Object& object) {
  auto image = MemoryImage::at_header(process_, object.mapping->start);
  if (!image) {
    const auto kind = image.error().kind;
    if (kind == ErrorKind::denied || kind == ErrorKind::interrupted) {
      failure_ = image.error();
    } else if (kind == ErrorKind::malformed) {
      any_readable_ = true;
    }
    return std::nullopt;
  }
  any_readable_ = true;
  return *image;
}

void InterpreterSearch::add(const Object& object,
                            const MemoryImage& image,
                            std::uint64_t address,
                            std::string how) {
  Runtime runtime;
  runtime.object = object.mapping->name;
  runtime.header = object.mapping->start;
  runtime.address = address;
  runtime.how = std::move(how);
  if (const auto symbol = image.symbol(process_, "Py_Version")) {
    std::uint32_t version = 0;
    if (process_.read_memory(symbol->address, std::as_writable_bytes(std::span(&version, 1)))) {
      runtime.version = version;
    }
  }
  runtime.minor = runtime.version >> 24U == 3 ? runtime.version >> 16U & 0xffU
                                              : minor_of(version_in_name(runtime.object));
  found_.runtimes.push_back(std::move(runtime));
}

// Before 3.7 there was no _PyRuntime.
void InterpreterSearch::recognize_old() {
  for (const auto& [object, image] : images_) {
    if (image.symbol(process_, "Py_GetVersion")) {
      found_.implementation = Implementation::cpython;
      found_.object = object->mapping->name;
      found_.version = version_in_name(object->mapping->name);
      return;
    }
  }
}

void InterpreterSearch::look_at(const Object& object) {
  const auto image = image_of(object);
  if (!image) {
    return;
  }
  const auto symbol = image->symbol(process_, "_PyRuntime");
  if (!symbol) {
    images_.emplace_back(&object, *image);
    return;
  }
  if (image->elf_class() != ElfClass::elf64) {
    any_32_bit_ = true;
    return;
  }
  add(object, *image, symbol->address, "symbol");
}

std::unique_ptr<File> InterpreterSearch::open(const Mapping& mapping) const {
  auto exact = process_.open_mapped({mapping.start, mapping.end, mapping.device, mapping.inode});
  if (exact) {
    return std::move(*exact);
  }
  if (mapping.deleted || input_.target.files == nullptr) {
    return nullptr;
  }
  auto by_path = input_.target.files->open(TargetPath{mapping.name});
  if (!by_path) {
    return nullptr;
  }
  // A file put there since would tell addresses of another program.
  const auto status = (*by_path)->status();
  return status && status->inode == mapping.inode ? std::move(*by_path) : nullptr;
}

void InterpreterSearch::look_into_file(const Object& object) {
  const auto image = image_of(object);
  const auto file =
      image && image->elf_class() == ElfClass::elf64 ? open(*object.mapping) : nullptr;
  if (!file) {
    return;
  }
  const bool likely = object.program || object.named;
  const auto runtime = runtime_in_file(*file, likely ? SymbolTables::read : SymbolTables::leave);
  if (runtime) {
    add(object, *image, image->bias() + runtime->address, runtime->how);
  }
}

void InterpreterSearch::look_for_cookies() {
  for (const auto& cookie : find_runtime_cookies(process_, input_.mappings)) {
    Runtime runtime;
    runtime.object = cookie.object;
    runtime.address = cookie.address;
    runtime.how = "cookie";
    runtime.version = cookie.version;
    runtime.minor = cookie.version >> 16U & 0xffU;
    found_.runtimes.push_back(std::move(runtime));
  }
}

void InterpreterSearch::recognize_pypy() {
  for (const auto& mapping : input_.mappings) {
    const auto name = base_name(mapping.name);
    if (name.rfind("libpypy", 0) == 0 && mapping.has_file()) {
      found_.implementation = Implementation::pypy;
      found_.object = mapping.name;
      const auto digits = name.substr(7, name.find('-') - 7);  // "libpypy3.9-c.so"
      found_.version = digits.find('.') != std::string_view::npos ? digits : "";
      return;
    }
  }
}

// Where the dynamic section of the object with that header lies; nullopt: it has none, or its
// program headers are not where linkers put them.
std::optional<std::uint64_t> InterpreterSearch::place_of_dynamic(std::uint64_t header) const {
  std::array<std::byte, 1024> start{};
  const auto parsed = process_.read_memory(header, start) ? elf::parse_file_header(start, "")
                                                          : Result<elf::FileHeader>(Error{});
  const std::uint64_t each = parsed ? elf::program_header_bytes(parsed->encoding) : 0;
  if (!parsed || parsed->program_headers > start.size() ||
      parsed->program_header_count > (start.size() - parsed->program_headers) / each) {
    return std::nullopt;
  }
  std::optional<std::uint64_t> dynamic;
  for (std::uint64_t i = 0; i < parsed->program_header_count; ++i) {
    const auto raw = std::span(start).subspan(parsed->program_headers + i * each);
    const auto segment = elf::parse_program_header(raw, parsed->encoding);
    dynamic = segment.type == PT_DYNAMIC ? segment.address : dynamic;
  }
  return dynamic ? std::optional(header + *dynamic) : std::nullopt;
}

// All first pages in one go, then all dynamic sections of what is linked at address 0.
void InterpreterSearch::fetch(const std::vector<Object>& objects) const {
  std::vector<std::uint64_t> places;
  for (const auto& object : objects) {
    places.push_back(object.mapping->start);
  }
  process_.fetch(places);
  places.clear();
  for (const auto& object : objects) {
    const auto place = object.extension ? std::nullopt : place_of_dynamic(object.mapping->start);
    if (place) {
      places.push_back(*place);
    }
  }
  process_.fetch(places);
}

void InterpreterSearch::search_everywhere() {
  const auto objects = mapped_objects(input_);
  if (process_.may_read_ahead()) {
    fetch(objects);
  }
  for (const auto& object : objects) {
    if (!object.extension) {
      look_at(object);
    }
  }
  if (found_.runtimes.empty()) {
    recognize_old();
    recognize_pypy();
  }
  if (found_.runtimes.empty() && found_.implementation == Implementation::none) {
    for (const auto& object : objects) {
      look_into_file(object);
    }
  }
  if (found_.runtimes.empty() && found_.implementation == Implementation::none) {
    look_for_cookies();
  }
}

Result<Interpreter> InterpreterSearch::run() {
  search_everywhere();
  if (!any_readable_ && failure_) {
    return *failure_;
  }
  if (found_.runtimes.empty() && any_32_bit_) {
    return Error{ErrorKind::unsupported,
                 "read the Python of",
                 fmt::format("process {}", process_.pid()),
                 "it is a 32-bit program",
                 ""};
  }
  if (!found_.runtimes.empty()) {
    const auto& first = found_.runtimes.front();
    found_.implementation = Implementation::cpython;
    found_.object = first.object;
    found_.version = first.version != 0 ? version_text(first.version)
                     : first.minor != 0 ? fmt::format("3.{}", first.minor)
                                        : "";
  }
  return found_;
}

}  // namespace

Result<Interpreter> find_interpreter(const ProbeInput& input) {
  if (input.target.process == nullptr) {
    return Error{
        ErrorKind::unsupported, "look for Python in", input.executable, "no process runs", ""};
  }
  return InterpreterSearch(input).run();
}

std::string version_text(std::uint32_t version) {
  if (version == 0) {
    return "";
  }
  std::string text =
      fmt::format("{}.{}.{}", version >> 24U, version >> 16U & 0xffU, version >> 8U & 0xffU);
  const auto serial = version & 0xfU;
  switch (version >> 4U & 0xfU) {
    case 0xa:
      return text + fmt::format("a{}", serial);
    case 0xb:
      return text + fmt::format("b{}", serial);
    case 0xc:
      return text + fmt::format("rc{}", serial);
    default:
      return text;
  }
}

}  // namespace tracso::python
