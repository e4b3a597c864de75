// What an object asks of the process.

#include "base/text.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

std::vector<NodeId> objects_that(const Evidence& evidence,
                                 const std::function<bool(const ObjectFile&)>& property) {
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    if (property(evidence.file(node))) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

std::vector<Finding> about_all(const Evidence& evidence,
                               std::string_view code,
                               Severity severity,
                               const std::vector<NodeId>& nodes,
                               std::string_view words) {
  if (nodes.empty()) {
    return {};
  }
  std::vector<Finding> findings;
  findings.push_back(finding_about(evidence,
                                   code,
                                   severity,
                                   fmt::format("{} {}", listed(names_of(evidence, nodes)), words),
                                   nodes));
  return findings;
}

std::vector<std::string> refused_for_tls(const Trace& trace) {
  std::vector<std::string> lines;
  for (const FailedLoad& failed : trace.failed_loads) {
    if (failed.reason.find("static TLS") != std::string::npos) {
      lines.push_back(fmt::format("{}: {}", failed.name, failed.reason));
    }
  }
  return lines;
}

}  // namespace

std::vector<Finding> executable_stacks(const Evidence& evidence) {
  return about_all(evidence,
                   "execstack",
                   Severity::warning,
                   objects_that(evidence,
                                [](const ObjectFile& file) {
                                  return file.elf.executable_stack &&
                                         file.role == ObjectFile::Role::library;
                                }),
                   "asks for an executable stack; glibc 2.41 and later refuse to dlopen that");
}

std::vector<Finding> text_relocations(const Evidence& evidence) {
  constexpr std::uint64_t df_textrel = 4;  // ELF gABI, DT_FLAGS
  return about_all(evidence,
                   "textrel",
                   Severity::warning,
                   objects_that(evidence,
                                [](const ObjectFile& file) {
                                  return (file.elf.dynamic.flags & df_textrel) != 0;
                                }),
                   "has relocations in its code: the code is writable while it is loaded");
}

std::vector<Finding> static_tls(const Evidence& evidence) {
  constexpr std::uint64_t df_static_tls = 0x10;  // ELF gABI, DT_FLAGS
  const auto nodes = objects_that(evidence, [](const ObjectFile& file) {
    return (file.elf.dynamic.flags & df_static_tls) != 0 && !file.baseline &&
           file.first_cause != "startup" && file.first_cause != "preload" && file.loaded;
  });
  const auto refused = refused_for_tls(evidence.trace());
  if (refused.empty()) {
    return about_all(evidence,
                     "static-tls",
                     Severity::note,
                     nodes,
                     nodes.size() == 1
                         ? "takes static TLS after the start, of which there is little"
                         : "take static TLS after the start, of which there is little");
  }
  Finding finding =
      finding_about(evidence,
                    "static-tls",
                    Severity::error,
                    fmt::format("{} refused: the room for static TLS is used up",
                                counted(refused.size(), "library was", "libraries were")),
                    nodes);
  finding.evidence.insert(finding.evidence.begin(), refused.begin(), refused.end());
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return findings;
}

std::vector<Finding> own_namespaces(const Evidence& evidence) {
  return about_all(
      evidence,
      "namespace",
      Severity::note,
      objects_that(evidence, [](const ObjectFile& file) { return file.link_namespace > 0; }),
      "is loaded in a namespace of its own (dlmopen)");
}

std::vector<Finding> mixed_libc(const Evidence& evidence) {
  const auto musl = objects_that(evidence, [](const ObjectFile& file) {
    return file.elf.dynamic.soname.value_or("").starts_with("libc.musl-") ||
           file.path.text.find("/ld-musl-") != std::string::npos ||
           file.path.text.find("-linux-musl/libc.so") != std::string::npos;
  });
  const auto glibc = objects_that(evidence, [](const ObjectFile& file) {
    return file.elf.dynamic.soname.value_or("") == "libc.so.6";
  });
  if (musl.empty() || glibc.empty()) {
    return {};
  }
  std::vector<NodeId> nodes = glibc;
  nodes.insert(nodes.end(), musl.begin(), musl.end());
  std::vector<Finding> findings;
  findings.push_back(finding_about(evidence,
                                   "mixed-libc",
                                   Severity::error,
                                   "the C libraries of glibc and of musl are in one process",
                                   nodes));
  return findings;
}

}  // namespace tracso::findings
