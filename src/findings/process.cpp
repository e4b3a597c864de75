// What is odd about the process as a whole.

#include "base/sizes.hpp"
#include "base/text.hpp"
#include "findings/families.hpp"
#include "findings/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tracso::findings {
namespace {

using Severity = Finding::Severity;

template <std::size_t Count>
bool starts_with_any(std::string_view text, const std::array<std::string_view, Count>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
    return text.starts_with(start);
  });
}

// Programs and libraries that write machine code at run time, which is what such memory is for.
const ObjectFile* code_generator(const Evidence& evidence) {
  static constexpr std::array<std::string_view, 9> programs{
      "node", "java", "dotnet", "luajit", "qemu-", "pypy", "chrome", "firefox", "deno"};
  static constexpr std::array<std::string_view, 13> libraries{"libllvm",
                                                              "libllvmlite",
                                                              "libjvm",
                                                              "libj9",
                                                              "libv8",
                                                              "libnode",
                                                              "libmozjs",
                                                              "libxul",
                                                              "libluajit",
                                                              "libcoreclr",
                                                              "libmono",
                                                              "libjavascriptcore",
                                                              "libpcre"};
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    const std::string name = lower_case(base_name(file.path.text));
    if (file.role == ObjectFile::Role::executable ? starts_with_any(name, programs)
                                                  : starts_with_any(name, libraries)) {
      return &file;
    }
  }
  return nullptr;
}

// "311" of "_x.cpython-311-x86_64-linux-gnu.so", "313t", "38d".
std::string abi_tag(std::string_view path) {
  constexpr std::string_view mark = ".cpython-";
  const std::string_view name = base_name(path);
  const auto at = name.find(mark);
  if (at == std::string_view::npos) {
    return "";
  }
  const std::string_view rest = name.substr(at + mark.size());
  return std::string(rest.substr(0, rest.find_first_of("-.")));
}

// "3.11.2" -> "311".
std::string digits_of_version(std::string_view version) {
  const auto parts = split(version, '.');
  return parts.size() < 2 ? "" : fmt::format("{}{}", parts[0], parts[1]);
}

}  // namespace

std::vector<Finding> writable_code(const Evidence& evidence) {
  const auto& memory = evidence.facts().writable_code;
  if (memory.empty()) {
    return {};
  }
  std::uint64_t bytes = 0;
  std::vector<std::string> lines;
  for (const WritableCode& one : memory) {
    bytes += one.bytes;
    lines.push_back(fmt::format("{}: {} in {}",
                                one.name.empty() ? "anonymous memory" : one.name,
                                size_text(one.bytes),
                                counted(one.mappings, "mapping")));
  }
  const ObjectFile* generator = code_generator(evidence);
  if (generator != nullptr) {
    lines.push_back(fmt::format("{} writes code at run time", base_name(generator->path.text)));
  }
  Finding finding =
      finding_about(evidence,
                    "mem-rwx",
                    generator != nullptr ? Severity::note : Severity::warning,
                    fmt::format("{} of memory can be written and executed", size_text(bytes)),
                    {});
  finding.evidence = std::move(lines);
  return {std::move(finding)};
}

std::vector<Finding> scarce_descriptors(const Evidence& evidence) {
  const auto& open = evidence.facts().descriptors;
  const auto& limit = evidence.facts().descriptor_limit;
  constexpr std::size_t percent = 80;
  if (!open || !limit || *limit == 0 || *open * 100 <= *limit * percent) {
    return {};
  }
  return {finding_about(
      evidence,
      "fd-pressure",
      Severity::warning,
      fmt::format("{} of {} file descriptors are open: dlopen needs one too", *open, *limit),
      {})};
}

std::vector<Finding> ignored_variables(const Evidence& evidence) {
  const ProblemFacts& facts = evidence.facts();
  if (!facts.secure || !facts.library_path_set) {
    return {};
  }
  return {finding_about(evidence,
                        "setuid-env",
                        Severity::note,
                        "LD_LIBRARY_PATH is set, and the loader ignored it: secure mode",
                        {})};
}

std::vector<Finding> other_python_abi(const Evidence& evidence) {
  const auto& process = evidence.trace().process;
  const std::string own =
      process && process->python ? digits_of_version(process->python->version) : "";
  if (own.empty()) {
    return {};
  }
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    const std::string tag = abi_tag(evidence.file(node).path.text);
    const auto letters = tag.find_first_not_of("0123456789");
    if (!tag.empty() && tag.substr(0, letters) != own) {
      nodes.push_back(node);
    }
  }
  if (nodes.empty()) {
    return {};
  }
  return {finding_about(evidence,
                        "py-abi",
                        Severity::warning,
                        fmt::format("{} built for another Python than {}: {}",
                                    libraries_are(nodes.size()),
                                    process->python->version,
                                    listed(names_of(evidence, nodes))),
                        nodes)};
}

std::vector<Finding> cuda_stubs(const Evidence& evidence) {
  std::vector<NodeId> nodes;
  for (const NodeId node : evidence.objects()) {
    const ObjectFile& file = evidence.file(node);
    if (stem_of(file) == "libcuda" && file.path.text.find("/stubs/") != std::string::npos) {
      nodes.push_back(node);
    }
  }
  if (nodes.empty()) {
    return {};
  }
  return {finding_about(evidence,
                        "stub-cuda",
                        Severity::error,
                        "the CUDA driver library is the stub that is only for linking",
                        nodes)};
}

std::vector<Finding> mixed_cuda(const Evidence& evidence) {
  std::vector<Finding> findings;
  for (const std::string_view family : {"cudnn", "cublas"}) {
    std::vector<NodeId> nodes;
    std::vector<std::string_view> directories;
    for (const NodeId node : evidence.objects()) {
      const auto known = family_of(evidence.file(node));
      if (!known || known->name != family) {
        continue;
      }
      nodes.push_back(node);
      const std::string_view directory = directory_of(evidence.file(node).path.text);
      if (std::find(directories.begin(), directories.end(), directory) == directories.end()) {
        directories.push_back(directory);
      }
    }
    if (directories.size() > 1) {
      findings.push_back(
          finding_about(evidence,
                        "mixed-cuda",
                        Severity::warning,
                        fmt::format("parts of {} come from {} directories: releases may be mixed",
                                    family,
                                    directories.size()),
                        nodes));
    }
  }
  return findings;
}

}  // namespace tracso::findings
