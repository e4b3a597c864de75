// Our answer for the ELF files of this machine against the loader's own: what ld.so prints with
// LD_TRACE_LOADED_OBJECTS. A sample by default; with TRACSO_ALL_FILES=1 every file.

#include "base/text.hpp"
#include "elf/native_reader.hpp"
#include "loader/resolver.hpp"
#include "os/live_commands.hpp"
#include "os/live_files.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

namespace tracso::loader {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t sample_size = 150;

/// What would be loaded, in order, and what is missing.
struct Closure {
  std::vector<std::string> loaded;
  std::set<std::string> missing;
  std::string fatal;
  bool operator==(const Closure&) const = default;
};

std::string text_of(const Closure& closure) {
  std::string text = "fatal: " + closure.fatal;
  for (const auto& path : closure.loaded) {
    text += "\n  " + path;
  }
  for (const auto& name : closure.missing) {
    text += "\n  missing " + name;
  }
  return text;
}

// "\tlibz.so.1 => /lib/libz.so.1 (0x...)", "\tlibx.so => not found", "\t/a/liby.so (0x...)"
void read_line(std::string_view line, const std::string& loader, Closure& closure) {
  if (!line.starts_with('\t')) {
    return;
  }
  line.remove_prefix(1);
  const auto arrow = line.find(" => ");
  const std::string name(line.substr(0, std::min(arrow, line.rfind(" (0x"))));
  const std::string_view rest = arrow == std::string_view::npos ? line : line.substr(arrow + 4);
  if (rest == "not found") {
    closure.missing.insert(name);
    return;
  }
  const auto address = rest.rfind(" (0x");
  const std::string path(rest.substr(0, address));
  if (address != std::string_view::npos && path != loader && !path.starts_with("linux-")) {
    closure.loaded.push_back(path);
  }
}

Closure ask_loader(const std::string& loader, const std::string& path) {
  const auto output = os::LiveCommands().run(
      {{"env", "LD_TRACE_LOADED_OBJECTS=1", loader, path}, "", std::chrono::seconds(20)});
  REQUIRE(output);
  Closure closure;
  for (const auto line : split(output->out, '\n')) {
    read_line(line, loader, closure);
  }
  constexpr std::string_view mark = "error while loading shared libraries: ";
  if (const auto at = output->err.find(mark); at != std::string::npos) {
    const std::string words = output->err.substr(at + mark.size());
    closure.fatal = words.substr(0, words.find('\n'));
  }
  return closure;
}

Closure ask_ourselves(const Resolution& resolution, const std::string& loader) {
  Closure closure;
  for (const auto& object : resolution.objects) {
    if (object.role == ResolvedObject::Role::library && object.l_name != loader) {
      closure.loaded.push_back(object.l_name);
    }
  }
  for (const auto& edge : resolution.edges) {
    if (!edge.to && !edge.optional && edge.fatal.empty()) {
      closure.missing.insert(edge.needed);
    }
    if (closure.fatal.empty()) {
      closure.fatal = edge.fatal;
    }
  }
  return closure;
}

// The loader stops at the first fatal file and lists nothing.
bool agree(const Closure& ours, const Closure& theirs) {
  if (!theirs.fatal.empty() || !ours.fatal.empty()) {
    return !ours.fatal.empty() && theirs.fatal.find(ours.fatal) != std::string::npos;
  }
  // One that was missing at first and came in later under another requester is in both lists.
  return ours.loaded == theirs.loaded && ours.missing == theirs.missing;
}

std::vector<std::string> candidate_files() {
  std::vector<std::string> paths;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  const os::LiveFiles files;
  for (const auto* directory : {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/local"}) {
    std::error_code ignored;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(directory, options, ignored), end; at != end;
         at.increment(ignored)) {
      const auto status = files.status({at->path().string()});
      if (at->is_regular_file(ignored) && status && status->bytes > 64 &&
          seen.insert({status->device, status->inode}).second) {
        paths.push_back(at->path().string());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The loader of this machine that can list the file; nullopt: none, or nothing to list.
std::optional<std::string> loader_for(const ElfFile& file) {
  if (!file.dynamic.present || (file.type != 2 && file.type != 3)) {
    return std::nullopt;
  }
  if (file.elf_class == ElfClass::elf64 && file.machine == 62) {
    return "/lib64/ld-linux-x86-64.so.2";
  }
  if (file.elf_class == ElfClass::elf32 && file.machine == 3) {
    return "/lib/ld-linux.so.2";
  }
  return std::nullopt;
}

struct Subject {
  std::string path, loader;
};

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  const os::LiveFiles files;
  for (const auto& path : candidate_files()) {
    const auto file = files.open({path});
    const auto elf = file ? elf::read_elf(**file, path) : Result<ElfFile>(file.error());
    if (elf) {
      if (const auto loader = loader_for(*elf); loader && path != fs::canonical(*loader)) {
        all.push_back({path, *loader});
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("loader: for the files of this machine we list what ld.so lists",
          "[loader][differential]") {
  const auto all = subjects();
  REQUIRE(all.size() > 100);
  const std::size_t step = std::getenv("TRACSO_ALL_FILES") != nullptr
                               ? 1
                               : std::max<std::size_t>(all.size() / sample_size, 1);
  const os::LiveFiles files;
  const auto reader = elf::make_native_reader();
  std::size_t compared = 0;
  std::size_t refused = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all.size(); i += step) {
    LoadEnvironment environment = make_load_environment(files, {}, "/");
    environment.interpreter = TargetPath{all[i].loader};
    const auto resolution = resolve(files, *reader, environment, {all[i].path});
    REQUIRE(resolution);
    const Closure ours = ask_ourselves(*resolution, all[i].loader);
    const Closure theirs = ask_loader(all[i].loader, all[i].path);
    if (theirs.fatal.starts_with(all[i].path + ":")) {
      ++refused;  // the file itself is not for this loader
      continue;
    }
    ++compared;
    if (!agree(ours, theirs)) {
      ++wrong;
      UNSCOPED_INFO(all[i].path << "\nours " << text_of(ours) << "\nld.so " << text_of(theirs));
      CHECK(agree(ours, theirs));
    }
  }
  WARN("compared " << compared << " of " << all.size() << " files, " << wrong << " wrong; "
                   << refused << " more are not for the loader");
  CHECK(wrong == 0);
}

}  // namespace tracso::loader
