#include "collect/host_scan.hpp"

#include "base/text.hpp"
#include "collect/mapped_file.hpp"
#include "collect/rewritten.hpp"
#include "elf/native_reader.hpp"
#include "proc/container.hpp"
#include "proc/maps.hpp"
#include "proc/root_prefix.hpp"
#include "python/distributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tracso {
namespace {

using FileKey = std::pair<std::uint64_t, std::uint64_t>;  // device, inode

struct FileFacts {
  bool readable = false, is_elf = false;
  std::string soname, build_id;
  std::optional<LibraryVersion> version;  // found when somebody is told of it
  std::optional<std::string> distribution;
};

// "site-packages/numpy.libs/libx.so" -> the distribution whose RECORD lists it.
std::string distribution_of(const std::string& path, const FileSystem& files) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    const auto at = path.rfind(folder);
    if (at == std::string::npos) {
      continue;
    }
    // A name with as many parts as the path below the folder, as a module's would have.
    const auto parts = split(std::string_view(path).substr(at + folder.size()), '/');
    PythonModule module;
    module.name = std::string(parts.front().substr(0, parts.front().find('.')));
    for (std::size_t i = 1; i < parts.size(); ++i) {
      module.name += ".x";
    }
    module.file = path;
    const auto found = python::find_distributions({module}, files, std::uint64_t{16} << 20U);
    return found.titles.empty() ? "" : found.titles.begin()->second;
  }
  return "";
}

class HostScan {
 public:
  explicit HostScan(const HostQuestion& question) : question_(question) {}

  HostAnswer run() {
    for (const std::int32_t pid : question_.pids) {
      if (const auto target = question_.open(pid)) {
        look(pid, *target);
      }
    }
    return std::move(answer_);
  }

 private:
  void look(std::int32_t pid, const Target& target) {
    const auto text = target.process->read("maps");
    if (!text) {
      if (text.error().kind == ErrorKind::denied) {
        answer_.denied.push_back(pid);
      }
      return;  // else it has ended
    }
    const auto mappings = proc::parse_maps(*text);
    if (!mappings) {
      answer_.unreadable.push_back(pid);
      return;
    }
    if (mappings->empty()) {
      return;  // a kernel thread, or one that is ending
    }
    ++answer_.processes;
    const std::string prefix = proc::loading_prefix(*target.process);
    std::map<FileKey, std::size_t> seen;
    for (std::size_t i = 0; i < mappings->size(); ++i) {
      const Mapping& mapping = (*mappings)[i];
      if (mapping.executable && mapping.has_file() && !mapping.name.starts_with("/dev/") &&
          seen.emplace(FileKey{mapping.device, mapping.inode}, i).second) {
        consider(pid, target, *mappings, i, prefix);
      }
    }
  }

  void consider(std::int32_t pid,
                const Target& target,
                const std::vector<Mapping>& mappings,
                std::size_t at,
                const std::string& prefix) {
    const Mapping& mapping = mappings[at];
    const TargetPath path{proc::without_prefix(mapping.name, prefix)};
    FileFacts& facts = facts_of(target, mapping, path);
    if ((facts.readable && !facts.is_elf) || !question_.wanted(path.text, facts.soname)) {
      return;
    }
    answer_.unreadable_files += facts.readable ? 0 : 1;
    HostLibrary found;
    found.pid = pid;
    found.path = path.text;
    found.soname = facts.soname;
    found.build_id = facts.build_id;
    found.state = state_of(target, mappings, at, path);
    describe_file(target, mapping, path, facts);
    found.version = *facts.version;
    found.distribution = *facts.distribution;
    describe_process(target, found);
    answer_.libraries.push_back(std::move(found));
  }

  static MappedRange range_of(const Mapping& mapping) {
    return {mapping.start, mapping.end, mapping.device, mapping.inode};
  }

  FileFacts& facts_of(const Target& target, const Mapping& mapping, const TargetPath& path) {
    const FileKey key{mapping.device, mapping.inode};
    const auto known = files_.find(key);
    if (known != files_.end()) {
      return known->second;
    }
    FileFacts facts;
    if (const auto file = open_mapped_object(target, range_of(mapping), path)) {
      const auto elf = elf::read_elf(**file, path.text);
      facts.readable = true;
      facts.is_elf = static_cast<bool>(elf);
      if (elf) {
        facts.soname = elf->dynamic.soname.value_or("");
        facts.build_id = elf->build_id;
      }
    }
    return files_.emplace(key, std::move(facts)).first->second;
  }

  static void describe_file(const Target& target,
                            const Mapping& mapping,
                            const TargetPath& path,
                            FileFacts& facts) {
    if (facts.version) {
      return;
    }
    const auto file = open_mapped_object(target, range_of(mapping), path);
    facts.version = file ? find_library_version(**file, path.text, facts.soname) : LibraryVersion{};
    facts.distribution = distribution_of(path.text, *target.files);
  }

  static ObjectFile::State state_of(const Target& target,
                                    const std::vector<Mapping>& mappings,
                                    std::size_t at,
                                    const TargetPath& path) {
    const Mapping& mapping = mappings[at];
    const auto status = target.files->status(path);
    if (!path.text.starts_with('/') || path.text.starts_with("/memfd:")) {
      return mapping.deleted ? ObjectFile::State::deleted : ObjectFile::State::current;
    }
    if (!status) {
      return status.error().kind == ErrorKind::not_found ? ObjectFile::State::deleted
                                                         : ObjectFile::State::current;
    }
    if (status->inode != mapping.inode) {
      return ObjectFile::State::replaced;
    }
    return is_rewritten(target, mappings, mapping, path, *status) ? ObjectFile::State::rewritten
                                                                  : ObjectFile::State::current;
  }

  // The load bias of a file: where its first page lies.
  static std::optional<ObjectInMemory> in_memory(const std::vector<Mapping>& mappings,
                                                 const Mapping& of,
                                                 const TargetPath& path) {
    for (const Mapping& mapping : mappings) {
      if (mapping.inode == of.inode && mapping.device == of.device && mapping.offset == 0) {
        return ObjectInMemory{range_of(mapping), path, mapping.start, 0};
      }
    }
    return std::nullopt;
  }

  static bool is_rewritten(const Target& target,
                           const std::vector<Mapping>& mappings,
                           const Mapping& mapping,
                           const TargetPath& path,
                           const FileStatus& status) {
    const auto text = target.process->read("stat");
    const auto stat = text ? proc::parse_stat(*text) : std::nullopt;
    const RewriteCheck check(target, stat.value_or(proc::ProcessStat{}));
    if (!stat || !check.is_suspect(status)) {
      return false;
    }
    const auto object = in_memory(mappings, mapping, path);
    const auto found = object ? check.compare(*object) : std::nullopt;
    if (!found || found->adjusted) {
      return found && found->differs;
    }
    // That addresses are missing says something only where this loader writes them.
    const auto libc = std::find_if(mappings.begin(), mappings.end(), [&](const Mapping& one) {
      return one.offset == 0 && base_name(one.name) == "libc.so.6" && one.inode != mapping.inode;
    });
    const auto usual = libc == mappings.end()
                           ? std::nullopt
                           : check.compare({range_of(*libc), {libc->name}, libc->start, 0});
    return found->differs || (usual && usual->adjusted);
  }

  static void describe_process(const Target& target, HostLibrary& found) {
    if (const auto name = target.process->read("comm")) {
      found.command = std::string(trim(*name));
    }
    if (const auto group = target.process->read("cgroup")) {
      found.container = proc::container_of(*group);
    }
  }

  const HostQuestion& question_;
  HostAnswer answer_;
  std::map<FileKey, FileFacts> files_;
};

}  // namespace

HostAnswer scan_host(const HostQuestion& question) {
  return HostScan(question).run();
}

}  // namespace tracso
