#include "commands/command_path.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>

namespace tracso {

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  for (const auto folder : split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const auto file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    if (::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

std::string working_directory() {
  char* path = ::getcwd(nullptr, 0);
  std::string directory = path == nullptr ? "/" : path;
  std::free(path);  // NOLINT(cppcoreguidelines-no-malloc): getcwd's own allocation
  return directory;
}

Error with_path_hint(Error error) {
  const auto slash = error.subject.rfind('/');
  if (error.kind != ErrorKind::not_found || !error.hint.empty() || slash == std::string::npos) {
    return error;
  }
  const auto name = error.subject.substr(slash + 1);
  const auto folder = error.subject.substr(0, slash == 0 ? 1 : slash);
  const auto elsewhere = name.empty() ? "" : find_program(name);
  if (!elsewhere.empty()) {
    error.hint = fmt::format("'{}' alone is found in PATH: {}", name, elsewhere);
  } else if (::access(folder.c_str(), F_OK) != 0) {
    error.hint = fmt::format("the folder {} is not there either", folder);
  } else {
    error.hint =
        error.subject.front() == '/'
            ? fmt::format("'ls {}' shows what is there", folder)
            : fmt::format("it is looked for from the working directory, {}", working_directory());
  }
  return error;
}

}  // namespace tracso
