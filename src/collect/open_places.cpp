// Who may put code into the process: the files it runs, the directories they lie in, and every
// directory in which its loader looks. Only places that somebody beside root and the process' own
// user may change are kept, and those that do not exist or lie on another machine.

#include "base/text.hpp"
#include "collect/mount_table.hpp"
#include "collect/problem_facts.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace tracso {
namespace {

constexpr std::uint32_t write_by_others = 02, sticky = 01000;
// Files of users that a user namespace does not know; who that is cannot be told.
constexpr std::uint32_t nobody = 65534;
constexpr std::size_t most_places = 4096;

class PlaceFinder {
 public:
  PlaceFinder(const Workspace& work, std::uint32_t user) : work_(work), user_(user) {
    if (const auto text = work.target.process->read("mountinfo")) {
      mounts_ = parse_remote_mounts(*text);
    }
  }

  void add_objects() {
    for (std::size_t i = 0; i < work_.mapped.objects.size(); ++i) {
      const MappedObject& object = work_.mapped.objects[i];
      const NodeId node = work_.node_of_object[i];
      const std::string& path = object.path.text;
      if (object.state != ObjectFile::State::current || !path.starts_with('/') ||
          path.starts_with("/memfd:")) {
        continue;
      }
      if (object.at_path) {
        known_.emplace(path, *object.at_path);
      }
      look(Place::What::file, path, node, "");
      look(Place::What::directory, std::string(directory_of(path)), node, "");
      add_run_paths(object, node);
    }
  }

  void add_library_path(const loader::LoadEnvironment& environment) {
    if (environment.library_path && !environment.secure && work_.executable) {
      add_elements(*environment.library_path,
                   "",
                   work_.node_of_object[*work_.executable],
                   environment.library_path_setting);
    }
  }

  std::vector<Place> places() { return std::move(places_); }

 private:
  void add_run_paths(const MappedObject& object, NodeId node) {
    const DynamicSection& dynamic = object.elf.dynamic;
    const auto& path = dynamic.runpath ? dynamic.runpath : dynamic.rpath;
    if (path) {
      add_elements(*path,
                   std::string(directory_of(object.path.text)),
                   node,
                   dynamic.runpath ? "RUNPATH" : "RPATH");
    }
  }

  void add_elements(const std::string& path,
                    const std::string& origin,
                    NodeId node,
                    const std::string& named_by) {
    for (std::string_view element : split(path, ':')) {
      std::string directory(element);
      for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
        if (directory.starts_with(token)) {
          directory = origin + directory.substr(token.size());
          break;
        }
      }
      // Relative ones are told as path-empty, other tokens hardly occur.
      if (directory.starts_with('/') && directory.find('$') == std::string::npos) {
        look(Place::What::search_path, directory, node, named_by);
      }
    }
  }

  const Result<FileStatus>& status(const std::string& path) {
    const auto known = known_.find(path);
    return known != known_.end()
               ? known->second
               : known_.emplace(path, work_.target.files->status({path})).first->second;
  }

  bool is_foreign(const FileStatus& status) const {
    return (status.mode & write_by_others) != 0 ||
           (status.owner != 0 && status.owner != user_ && status.owner != nobody);
  }

  // Nobody may rename or remove another's file in a sticky directory; to add one is no harm where
  // the loader does not look.
  static bool is_harmless(Place::What what, const FileStatus& status) {
    return what == Place::What::directory && (status.mode & sticky) != 0 && status.owner == 0;
  }

  void look(Place::What what, const std::string& path, NodeId node, const std::string& named_by) {
    if (places_.size() >= most_places || known_.size() >= 4 * most_places ||
        !told_.insert({what, path}).second) {
      return;
    }
    Place place{what, path, node, named_by, true, 0, 0, false, ""};
    const auto& found = status(path);
    if (!found) {
      if (what == Place::What::search_path && found.error().kind == ErrorKind::not_found) {
        place.exists = false;
        place.creatable = is_creatable(path);
        places_.push_back(std::move(place));
      }
      return;
    }
    place.mode = found->mode;
    place.owner = found->owner;
    place.file_system = what == Place::What::file ? file_system_of(path, mounts_) : "";
    const bool temporary = is_harmless(what, *found) && is_temporary(path);
    if ((is_foreign(*found) && !temporary) || !place.file_system.empty()) {
      places_.push_back(std::move(place));
    }
  }

  static bool is_temporary(std::string_view path) {
    return path == "/tmp" || path == "/var/tmp" || path == "/dev/shm";
  }

  // By the nearest directory above that exists.
  bool is_creatable(const std::string& path) {
    std::string above(directory_of(path));
    for (int i = 0; i < 64 && above.size() > 1; ++i) {
      if (const auto& found = status(above)) {
        return (found->mode & write_by_others) != 0;
      }
      above = directory_of(above);
    }
    return false;
  }

  const Workspace& work_;
  std::uint32_t user_;
  std::vector<RemoteMount> mounts_;
  std::map<std::string, Result<FileStatus>> known_;
  std::set<std::pair<Place::What, std::string>> told_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<Place> find_open_places(const Workspace& work,
                                    const loader::LoadEnvironment& environment,
                                    std::uint32_t user) {
  PlaceFinder finder(work, user);
  finder.add_library_path(environment);
  finder.add_objects();
  return finder.places();
}

}  // namespace tracso
