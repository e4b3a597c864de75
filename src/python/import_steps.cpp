// A stack while app.py imports pkg, whose C extension pkg._fast imports secrets (outermost first;
// what importlib calls on the way is left out):
//
//   app.py:3           <module>                 code
//   importlib          _find_and_load("pkg")    import       pkg asked for by app.py:3
//   importlib          _load_unlocked(spec)     load
//   pkg/__init__.py:1  <module>                 code
//   importlib          _find_and_load("pkg._fast")           asked for by pkg/__init__.py:1
//   importlib          _load_unlocked, exec_module, _call_with_frames_removed
//   (C code of pkg._fast has no frame)
//   importlib          _find_and_load("secrets")             asked for by C code of pkg._fast
//
// So every _find_and_load is a step, asked for by the code since the one before. Two exceptions. An
// import of a.b.c first imports a.b and before that a: _find_and_load directly inside of another,
// which has not begun to load: then the line asked for the outermost package first, and that is the
// step. And who loads a module without import (spec.loader.exec_module(module), reload) enters
// importlib further in; there the loader or the spec knows the name.

#include "python/import_steps.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace tracso::python {
namespace {

// Where importlib is not frozen into the interpreter it has files.
constexpr std::array<std::string_view, 4> bootstrap_files = {
    "<frozen importlib._bootstrap>",
    "<frozen importlib._bootstrap_external>",
    "/importlib/_bootstrap.py",
    "/importlib/_bootstrap_external.py",
};
// Of these the functions are machinery; their module code is code like any other.
constexpr std::array<std::string_view, 4> importlib_files = {
    "<frozen importlib>",
    "<frozen importlib.util>",
    "/importlib/__init__.py",
    "/importlib/util.py",
};
constexpr std::array<std::string_view, 2> opener_files = {
    "/ctypes/__init__.py",
    "/cffi/api.py",
};
constexpr std::array<std::string_view, 5> load_functions = {
    "_load",
    "_load_unlocked",
    "_load_backward_compatible",
    "module_from_spec",
    "create_module",
};
constexpr std::array<std::string_view, 2> execute_functions = {
    "_exec",
    "exec_module",
};

template <std::size_t count>
bool is_one_of(std::string_view file, const std::array<std::string_view, count>& ends) {
  return std::any_of(
      ends.begin(), ends.end(), [&](std::string_view end) { return file.ends_with(end); });
}

template <std::size_t count>
bool contains(const std::array<std::string_view, count>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The interpreter's own code (3.12 and later), which no traceback shows: between a call of a class
// that was made often and its __init__, and where C code called the interpreter.
bool is_shim(std::string_view file, std::string_view function) {
  return (file == "__init__" && function == "__init__") || file == "<shim>";
}

FrameRole bootstrap_role(std::string_view function) {
  if (function == "_find_and_load") {
    return FrameRole::import;
  }
  if (function == "_call_with_frames_removed") {
    return FrameRole::call;
  }
  return contains(load_functions, function)      ? FrameRole::load
         : contains(execute_functions, function) ? FrameRole::execute
                                                 : FrameRole::machinery;
}

bool is_package_of(std::string_view package, std::string_view module) {
  return module.size() > package.size() && module.starts_with(package) &&
         module[package.size()] == '.';
}

// Walks the frames from the outermost to the innermost.
class Plan {
 public:
  explicit Plan(const std::function<std::string(std::size_t)>& name) : name_(name) {}

  void add(FrameRole role, std::size_t frame) {
    switch (role) {
      case FrameRole::code:
      case FrameRole::opener:
        add_code(role, frame);
        break;
      case FrameRole::import:
        add_import(name_(frame));
        break;
      case FrameRole::load:
      case FrameRole::execute:
        add_load(role, frame);
        break;
      case FrameRole::call:
        c_code_runs_ = executing_;
        break;
      case FrameRole::machinery:
      case FrameRole::unknown:
        break;
    }
  }

  // The innermost code is what loads something just now, unless an import does.
  std::vector<PlannedStep> steps() && {
    if (code_) {
      steps_.push_back(step("", caller_ ? caller_ : code_));
    } else if (c_code_runs_) {
      steps_.push_back(step("", std::nullopt));
    }
    return std::move(steps_);
  }

 private:
  PlannedStep step(const std::string& module, std::optional<std::size_t> asker) const {
    return {module, asker, around_, asker && asker == body_};
  }

  void add_code(FrameRole role, std::size_t frame) {
    body_ = c_code_runs_ && by_import_ ? std::optional(frame) : body_;
    code_ = frame;
    caller_ = role == FrameRole::code ? frame : caller_;
    executing_ = c_code_runs_ = false;
  }

  void add_import(std::string module) {
    module = module.empty() ? "?" : std::move(module);
    if (!code_ && !loading_ && !steps_.empty() && is_package_of(module, around_)) {
      steps_.back().module = module;
    } else {
      steps_.push_back(step(module, code_));
    }
    enter(std::move(module));
    by_import_ = true;
  }

  // Code that is followed by loading did not ask for an import. It may be part of one, though: a
  // loader written in Python that calls importlib's.
  void add_load(FrameRole role, std::size_t frame) {
    if (code_) {
      auto module = name_(frame);
      if (module.empty()) {
        return;
      }
      if (module != around_) {
        steps_.push_back(step(module, code_));
      }
      enter(std::move(module));
    }
    loading_ = true;
    executing_ = role == FrameRole::execute;
    c_code_runs_ = false;
  }

  void enter(std::string module) {
    around_ = std::move(module);
    code_.reset();
    caller_.reset();
    body_.reset();
    by_import_ = false;
    loading_ = executing_ = c_code_runs_ = false;
  }

  const std::function<std::string(std::size_t)>& name_;
  std::vector<PlannedStep> steps_;
  std::string around_;                        // what is imported at this depth
  std::optional<std::size_t> code_, caller_;  // the last code since; the last that is no opener
  std::optional<std::size_t> body_;           // the code of the module itself
  bool by_import_ = false;                    // an import has named it, not what loads it
  bool loading_ = false;      // the import at this depth has found its module and loads it
  bool executing_ = false;    // the innermost frame that loads runs the module's code
  bool c_code_runs_ = false;  // and has called it
};

}  // namespace

FrameRole frame_role(std::string_view file, std::string_view function) {
  if (is_shim(file, function)) {
    return FrameRole::machinery;
  }
  if (is_one_of(file, bootstrap_files)) {
    return bootstrap_role(function);
  }
  if (function == "<module>") {
    return FrameRole::code;
  }
  return is_one_of(file, importlib_files) ? FrameRole::machinery
         : is_one_of(file, opener_files)  ? FrameRole::opener
                                          : FrameRole::code;
}

std::vector<PlannedStep> plan_steps(std::span<const FrameRole> frames,
                                    const std::function<std::string(std::size_t)>& name) {
  Plan plan(name);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    plan.add(frames[i], i);
  }
  return std::move(plan).steps();
}

std::vector<ImportStep> shorten(std::vector<ImportStep> steps, std::size_t limit) {
  if (steps.size() <= limit || limit < 3) {
    return steps;
  }
  const std::size_t head = limit / 2;
  const std::size_t tail = limit - head - 1;
  const auto first = steps.begin() + static_cast<std::ptrdiff_t>(head);
  const auto last = steps.end() - static_cast<std::ptrdiff_t>(tail);
  *first = {fmt::format("[{} left out]",
                        counted(static_cast<std::uint64_t>(std::distance(first, last)), "import")),
            "",
            0,
            ""};
  steps.erase(std::next(first), last);
  return steps;
}

}  // namespace tracso::python
