#include "analysis/refusals.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tracso {
namespace {

constexpr std::uint64_t static_tls = 0x10;  // DF_STATIC_TLS (ELF gABI, DT_FLAGS)

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// 'GLIBC_2.38' of "version `GLIBC_2.38' not found (required by ./x.so)".
std::string_view quoted_part(std::string_view text) {
  const auto start = text.find('`');
  const auto end = start == std::string_view::npos ? start : text.find('\'', start);
  return end == std::string_view::npos ? std::string_view()
                                       : text.substr(start + 1, end - start - 1);
}

/// The libraries that take static TLS for good.
std::string static_tls_users(const Graph& graph) {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) {
    const ObjectFile* file = object(node);
    // What came at the start had room of its own.
    const bool late = file != nullptr && file->loaded && !file->baseline &&
                      file->first_cause != "startup" && file->first_cause != "preload";
    if (late && (file->elf.dynamic.flags & static_tls) != 0) {
      names.push_back(display_name(node));
    }
  }
  if (names.size() > most) {
    names.resize(most);
    names.emplace_back("...");
  }
  return join(names, ", ");
}

std::string of_missing_version(const FailedLoad& failed) {
  const std::string_view version = quoted_part(failed.reason);
  if (version.starts_with("GLIBC_")) {
    return fmt::format("it was built on a newer system: this glibc has no {}", version);
  }
  if (version.starts_with("GLIBCXX_") || version.starts_with("CXXABI_")) {
    return fmt::format("the libstdc++.so.6 that was loaded first is older than {} needs: {}",
                       base_name(failed.name),
                       version);
  }
  return fmt::format("the library that was loaded under that name has no version {}", version);
}

std::string of_static_tls(const Graph& graph) {
  const std::string users = static_tls_users(graph);
  return "the room for static TLS, fixed at the start, is used up" +
         (users.empty() ? "" : " by " + users) +
         "; load it earlier (LD_PRELOAD) or raise GLIBC_TUNABLES=glibc.rtld.optional_static_tls";
}

std::string meaning(const Graph& graph, const FailedLoad& failed) {
  const std::string_view words = failed.reason;
  if (words.starts_with("No such file or directory")) {  // musl's words
    return "no place where the loader looks has it";
  }
  if (contains(words, "symbol not found")) {
    return "none of the libraries loaded so far defines that symbol: one is missing or is another "
           "version";
  }
  if (words.starts_with("Exec format error")) {
    return "the file is no shared library for this processor, or only a piece of one";
  }
  if (contains(words, "cannot open shared object file")) {
    return contains(words, "Permission denied") ? "the file is there but may not be read"
                                                : "no place where the loader looks has it";
  }
  if (contains(words, "version `")) {
    return of_missing_version(failed);
  }
  if (contains(words, "static TLS")) {
    return of_static_tls(graph);
  }
  if (contains(words, "wrong ELF class")) {
    return "it is built for another word size (32 and 64 bit) than this process";
  }
  if (contains(words, "undefined symbol")) {
    return "none of the libraries loaded so far defines that symbol: one is missing or is another "
           "version";
  }
  if (contains(words, "invalid ELF header") || contains(words, "file too short")) {
    return "the file is no shared library, or only a piece of one";
  }
  if (contains(words, "executable stack")) {
    return "it asks for an executable stack, which this system refuses";
  }
  return "";
}

}  // namespace

std::vector<std::string> refusals(const Trace& trace) {
  std::vector<std::string> sentences;
  sentences.reserve(trace.failed_loads.size());
  for (const FailedLoad& failed : trace.failed_loads) {
    sentences.push_back(meaning(trace.graph, failed));
  }
  return sentences;
}

// What came at the start is on record only once the loader is done with it.
const FailedLoad* refused_start(const Trace& trace) {
  const auto found = std::find_if(trace.failed_loads.begin(),
                                  trace.failed_loads.end(),
                                  [](const FailedLoad& one) { return one.asked.empty(); });
  return found == trace.failed_loads.end() || !trace.loads.empty() ? nullptr : &*found;
}

}  // namespace tracso
