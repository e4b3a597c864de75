#include "launch/python_end.hpp"

#include "elf/memory_image.hpp"
#include "proc/maps.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace tracso::launch {
namespace {

// Py_Exit too: in 3.13 it does not go through Py_FinalizeEx. 2.7 has no Py_FinalizeEx.
constexpr std::array<std::string_view, 3> end_beginnings = {
    "Py_FinalizeEx", PythonEnd::mark, "Py_Exit"};
constexpr std::array<std::string_view, 1> mains = {"Py_RunMain"};
constexpr std::array<std::string_view, 4> last_moments = {
    "PyGC_Collect", "_PyGC_CollectIfEnabled", "PyOS_FiniInterrupts", "PyImport_Cleanup"};

// A program may map thousands of objects; a Python is not among the later ones.
constexpr std::size_t most_objects = 2000;
constexpr std::size_t most_pythons = 4;

void find_symbols(const ProcessSource& process,
                  const elf::MemoryImage& image,
                  std::span<const std::string_view> names,
                  std::vector<std::uint64_t>& into) {
  for (const std::string_view name : names) {
    const auto symbol = image.symbol(process, name);
    if (symbol && std::find(into.begin(), into.end(), symbol->address) == into.end()) {
      into.push_back(symbol->address);
    }
  }
}

bool insert_all(tracee::Breakpoints& breakpoints,
                pid_t stopped,
                const std::vector<std::uint64_t>& addresses) {
  bool any = false;
  for (const std::uint64_t address : addresses) {
    any = static_cast<bool>(breakpoints.insert(stopped, address)) || any;
  }
  return any;
}

void remove_all(tracee::Breakpoints& breakpoints,
                pid_t stopped,
                const std::vector<std::uint64_t>& addresses) {
  for (const std::uint64_t address : addresses) {
    breakpoints.remove(stopped, address);
  }
}

bool contains(const std::vector<std::uint64_t>& addresses, std::uint64_t address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

}  // namespace

bool PythonEnd::watch(tracee::Breakpoints& breakpoints,
                      const ProcessSource& process,
                      pid_t stopped,
                      Watch what) {
  const auto text = process.read("maps");
  const auto mappings = text ? proc::parse_maps(*text) : Result<std::vector<Mapping>>(text.error());
  if (!mappings) {
    return false;
  }
  std::size_t objects = 0;
  std::size_t pythons = 0;
  for (const Mapping& mapping : *mappings) {
    if (!mapping.has_file() || mapping.offset != 0 || !mapping.readable) {
      continue;
    }
    if (++objects > most_objects || pythons == most_pythons) {
      break;
    }
    const auto image = elf::MemoryImage::at_header(process, mapping.start);
    if (!image || !image->symbol(process, PythonEnd::mark)) {
      continue;
    }
    ++pythons;
    find_symbols(process, *image, end_beginnings, beginnings_);
    find_symbols(process, *image, last_moments, last_moments_);
    if (what == Watch::begin_and_end) {
      find_symbols(process, *image, mains, mains_);
    }
  }
  insert_all(breakpoints, stopped, mains_);
  return insert_all(breakpoints, stopped, beginnings_);
}

PythonEnd::Step PythonEnd::hit(tracee::Breakpoints& breakpoints,
                               pid_t stopped,
                               std::uint64_t address) {
  if (contains(mains_, address)) {
    remove_all(breakpoints, stopped, mains_);
    return Step::running;
  }
  if (!begun_ && contains(beginnings_, address)) {
    begun_ = true;
    remove_all(breakpoints, stopped, beginnings_);
    return insert_all(breakpoints, stopped, last_moments_) ? Step::begun : Step::whole;
  }
  if (begun_ && contains(last_moments_, address)) {
    remove_all(breakpoints, stopped, last_moments_);
    return Step::whole;
  }
  return Step::not_ours;
}

}  // namespace tracso::launch
