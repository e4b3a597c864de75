#include "render/as_child.hpp"

#include "base/text.hpp"
#include "render/json_parts.hpp"
#include "render/text/columns.hpp"

#include <fmt/format.h>

namespace tracso {
namespace {

std::string program_text(const RenderOptions& options, const ChildProgram& program) {
  std::string out = "\n" + paint(options.color, Style::bold, printable(program.path)) + "\n";
  if (!program.interpreter.empty()) {
    out += fmt::format("  a script, run by {}\n", printable(program.interpreter));
  }
  if (!program.problem.empty()) {
    return out + "  " + printable(program.problem) + "\n";
  }
  for (const std::string& failure : program.failures) {
    out += "  " + paint(options.color, Style::red, "would not start") + ": " + printable(failure) +
           "\n";
  }
  for (const ChildDifference& difference : program.differences) {
    out +=
        fmt::format("  {}, for {}\n", printable(difference.name), printable(difference.needed_by));
    out += fmt::format("    would be  {}{}\n",
                       difference.there ? printable(*difference.there) : "not found",
                       difference.rule.empty() ? "" : "  (" + difference.rule + ")");
    out += fmt::format("    else      {}\n",
                       difference.clean ? printable(*difference.clean) : "not loaded at all");
  }
  if (program.differences.empty() && program.failures.empty()) {
    out += fmt::format("  {}, the same as without these variables\n",
                       counted(program.libraries, "library", "libraries"));
  } else {
    out += fmt::format("  {} in all\n", counted(program.libraries, "library", "libraries"));
  }
  return out;
}

}  // namespace

std::string as_child_text(const RenderOptions& options, const ChildTable& table) {
  std::string out = paint(options.color,
                          Style::bold,
                          fmt::format("{}: what it would start, and with which libraries",
                                      printable(table.target))) +
                    "\n";
  for (const auto& [name, value] : table.variables) {
    out += fmt::format("  {}={}\n", printable(name), printable(value));
  }
  if (table.variables.empty()) {
    out += "  its environment has no LD_LIBRARY_PATH, LD_PRELOAD or LD_AUDIT\n";
  }
  for (const ChildProgram& program : table.programs) {
    out += program_text(options, program);
  }
  return out;
}

std::string as_child_json(const ChildTable& table) {
  Json all = document("as-child");
  put_text(all, "target", table.target);
  Json variables = Json::object();
  for (const auto& [name, value] : table.variables) {
    put_bytes(variables, name, value);
  }
  all["variables"] = std::move(variables);
  Json programs = Json::array();
  for (const ChildProgram& program : table.programs) {
    Json one;
    put_text(one, "asked", program.asked);
    put_text(one, "path", program.path);
    put_text(one, "interpreter", program.interpreter);
    put_text(one, "problem", program.problem);
    one["libraries"] = program.libraries;
    put_texts(one, "failures", program.failures);
    Json differences = Json::array();
    for (const ChildDifference& difference : program.differences) {
      Json row;
      put_text(row, "needed", difference.name);
      put_text(row, "needed_by", difference.needed_by);
      put_text(row, "path", difference.there.value_or(""));
      put_text(row, "without_variables", difference.clean.value_or(""));
      put_text(row, "rule", difference.rule);
      differences.push_back(std::move(row));
    }
    one["differences"] = std::move(differences);
    programs.push_back(std::move(one));
  }
  all["programs"] = std::move(programs);
  all["notices"] = notices_json(table.notices);
  return printed(all);
}

}  // namespace tracso
