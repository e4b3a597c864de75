#pragma once
// From the frames of a thread to the imports under way. Pure: knows importlib's functions, no
// memory.

#include "python/import_chain.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::python {

/// What a frame means for an import.
enum class FrameRole : std::uint8_t {
  unknown,    ///< not readable
  code,       ///< anybody's Python code
  opener,     ///< a function of ctypes or cffi that loads a library for its caller
  machinery,  ///< importlib at work; the rest are too
  import,     ///< _find_and_load: its first argument is the full name of what is imported
  load,       ///< makes a module; its first argument has the attribute `name`
  execute,    ///< the same, runs the module's code
  call        ///< importlib calls something else: the code of a module, or C
};

/// What a frame of that file (co_filename) and function (co_name) means.
FrameRole frame_role(std::string_view file, std::string_view function);

/// A step whose asker is still a frame.
struct PlannedStep {
  std::string module;                ///< as in ImportStep
  std::optional<std::size_t> asker;  ///< index of the frame that asked; nullopt: C code
  std::string around;                ///< the module whose import is under way around it
  bool is_body = false;              ///< importlib runs that frame as the code of `around`
  bool operator==(const PlannedStep&) const = default;
};

/// The steps of a stack, outermost frame first. `name` is asked for the name that the first
/// argument of a frame tells (role import: the argument, load and execute: its attribute `name`);
/// empty: not known.
std::vector<PlannedStep> plan_steps(std::span<const FrameRole> frames,
                                    const std::function<std::string(std::size_t)>& name);

/// At most `limit` steps: of more, those in the middle are replaced by one that only says, in
/// `module`, how many they were ("[37 imports left out]").
std::vector<ImportStep> shorten(std::vector<ImportStep> steps, std::size_t limit);

}  // namespace tracso::python
