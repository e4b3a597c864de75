#include "launch/child_looks.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace tracso::launch {
namespace {

constexpr std::size_t most_kept_files = 200'000;
constexpr std::size_t most_command_bytes = 4096;
constexpr std::size_t most_shows = 64;
constexpr std::chrono::seconds most_show_time{10};

bool has(const CodeFiles& files, const MappedFile& file) {
  return files.program == file ||
         std::binary_search(files.libraries.begin(), files.libraries.end(), file);
}

template <typename Known>
bool covers(const CodeFiles& files, const Known& known) {
  return std::all_of(files.libraries.begin(), files.libraries.end(), known) &&
         (!files.program || known(*files.program));
}

std::string command_line(const ProcessSource& process) {
  const auto text = process.read("cmdline");
  std::string line = text ? text->substr(0, most_command_bytes) : "";
  while (!line.empty() && line.back() == '\0') {
    line.pop_back();
  }
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

}  // namespace

std::optional<ChildLook> ChildLooks::look(const ProcessSource& child,
                                          const std::optional<CodeFiles>& main,
                                          const Moment& moment) {
  auto read = read_code_files(child);
  if (!read || (read->libraries.empty() && !read->program)) {
    return std::nullopt;
  }
  auto files = std::make_shared<const CodeFiles>(std::move(*read));
  const auto known = known_.find(files);
  if (known != known_.end()) {
    files = *known;
  } else if (kept_files_ + files->libraries.size() > most_kept_files) {
    return std::nullopt;
  } else {
    kept_files_ += files->libraries.size() + 1;
    known_.insert(files);
  }
  if (show_) {
    show(*files, main, moment);
  }
  return ChildLook{command_line(child), std::move(files)};
}

void ChildLooks::show(const CodeFiles& files,
                      const std::optional<CodeFiles>& main,
                      const Moment& moment) {
  const auto is_shown = [&](const MappedFile& file) { return shown_.count(file) > 0; };
  if (covers(files, is_shown)) {
    return;
  }
  const bool nothing_new = main && covers(files, [&](const MappedFile& file) {
                             return is_shown(file) || has(*main, file);
                           });
  if (!nothing_new && shows_ < most_shows && show_time_ < most_show_time) {
    ++shows_;
    const auto before = std::chrono::steady_clock::now();
    const bool done = show_(moment);
    show_time_ += std::chrono::steady_clock::now() - before;
    if (done) {
      shown_.insert(files.libraries.begin(), files.libraries.end());
      if (files.program) {
        shown_.insert(*files.program);
      }
      return;
    }
  }
  // The command may have let go of them by the moment that counts.
  left_out_.push_back(std::make_shared<const CodeFiles>(files));
}

void ChildLooks::begin_anew() {
  shown_.clear();
  left_out_.clear();
}

std::vector<MappedFile> ChildLooks::beyond(const CodeFiles& files) const {
  std::vector<MappedFile> beyond;
  std::copy_if(files.libraries.begin(),
               files.libraries.end(),
               std::back_inserter(beyond),
               [&](const MappedFile& file) { return !main_ || !has(*main_, file); });
  return beyond;
}

std::size_t ChildLooks::unshown() const {
  return static_cast<std::size_t>(
      std::count_if(left_out_.begin(), left_out_.end(), [&](const auto& files) {
        return !covers(*files, [&](const MappedFile& file) {
          return shown_.count(file) > 0 || (main_ && has(*main_, file));
        });
      }));
}

}  // namespace tracso::launch
