#include "python/probe_chain.hpp"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

namespace tracso::python {
namespace {

using Answer = Result<std::optional<PythonFacts>>;

Answer asked_for(const PythonProbe& probe, const ProbeInput& input) {
  auto facts = probe.probe(input);
  if (!facts) {
    return facts.error();
  }
  return std::optional(std::move(*facts));
}

Notice gdb_notice(const Error& memory, const PythonFacts& facts) {
  const auto stopped = std::chrono::duration_cast<std::chrono::milliseconds>(facts.stopped);
  return {"python-probe-gdb",
          fmt::format("Python modules were read with gdb: {}", memory.reason),
          fmt::format("the process stood still for {} ms and ran a few lines for tracso",
                      stopped.count()),
          "--probe path leaves it alone"};
}

// Why only names of files are left, in the order of the attempts.
struct Reasons {
  std::string text, what_to_try;

  void add(std::string_view probe, const Error& error) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", probe, error.reason);
    // What is being done anyway is no advice.
    if (what_to_try.empty() && error.hint.find("--probe path") == std::string::npos) {
      what_to_try = error.hint;
    }
  }
};

Notice path_notice(const Reasons& reasons) {
  return {
      "python-probe-path",
      fmt::format("Python modules are known by the names of their files only ({})", reasons.text),
      "modules without a shared object of their own are not seen",
      reasons.what_to_try};
}

Answer last_resort(const ProbeInput& input,
                   const Probes& probes,
                   const Reasons& reasons,
                   std::vector<Notice>& notices) {
  auto facts = probes.path->probe(input);
  if (facts) {
    notices.push_back(path_notice(reasons));
    return std::optional(std::move(*facts));
  }
  if (facts.error().kind == ErrorKind::unsupported) {
    return std::optional<PythonFacts>();  // nothing there looks like Python
  }
  return facts.error();
}

Error no_such_probe(std::string_view choice) {
  return {ErrorKind::usage,
          "use Python probe",
          std::string(choice),
          "there is no such probe",
          "--probe takes auto, memory, gdb, path or none"};
}

Error gdb_out_of_reach(const ProbeInput& input) {
  return {ErrorKind::unsupported,
          "read the Python modules of",
          input.executable,
          "gdb cannot attach to a command that tracso --run traces itself",
          "tracso --probe gdb PID while it runs by itself"};
}

Answer probe_best(const ProbeInput& input,
                  const Result<Interpreter>& found,
                  const Probes& probes,
                  std::vector<Notice>& notices) {
  Reasons reasons;
  if (!found) {
    reasons.add("memory", found.error());
    return last_resort(input, probes, reasons, notices);
  }
  if (found->implementation == Implementation::pypy) {
    reasons.text = "PyPy moves its objects";
    return last_resort(input, probes, reasons, notices);
  }
  auto memory = probes.memory->probe(input);
  if (memory) {
    return std::optional(std::move(*memory));
  }
  reasons.add("memory", memory.error());
  if (memory.error().kind == ErrorKind::unsupported && probes.gdb == nullptr) {
    reasons.what_to_try = gdb_out_of_reach(input).hint;
  } else if (memory.error().kind == ErrorKind::unsupported) {
    auto gdb = probes.gdb->probe(input);
    if (gdb) {
      notices.push_back(gdb_notice(memory.error(), *gdb));
      return std::optional(std::move(*gdb));
    }
    reasons.add("gdb", gdb.error());
  }
  return last_resort(input, probes, reasons, notices);
}

}  // namespace

Answer probe_recognized(const ProbeInput& input,
                        const Result<Interpreter>& found,
                        std::string_view choice,
                        const Probes& probes,
                        std::vector<Notice>& notices) {
  const PythonProbe* chosen = nullptr;
  for (const PythonProbe* probe : {probes.memory, probes.gdb, probes.path}) {
    chosen = probe != nullptr && choice == probe->name() ? probe : chosen;
  }
  if (choice == "gdb" && probes.gdb == nullptr) {
    return gdb_out_of_reach(input);
  }
  if (choice != "none" && choice != "auto" && chosen == nullptr) {
    return no_such_probe(choice);
  }
  if (choice == "none" || (found && found->implementation == Implementation::none)) {
    return std::optional<PythonFacts>();
  }
  return chosen != nullptr ? asked_for(*chosen, input) : probe_best(input, found, probes, notices);
}

}  // namespace tracso::python
