#include "support/places.hpp"

#include "support/run_program.hpp"

#include <unistd.h>

namespace tracso::test {
namespace {

// A forked child that ends by exit() must leave its parent's folder alone.
class ScratchFolder {
 public:
  ~ScratchFolder() {
    if (owner_ != ::getpid()) {
      folder_.keep();
    }
  }

  const std::string& path() const { return folder_.path(); }

 private:
  pid_t owner_ = ::getpid();
  TemporaryFolder folder_;
};

}  // namespace

std::string tests_file(std::string_view name) {
  return std::string(TRACSO_TESTS_DIR).append("/").append(name);
}

const std::string& tracso_binary() {
  static const std::string path = TRACSO_BINARY;
  return path;
}

const std::string& scratch_folder() {
  static const ScratchFolder folder;
  return folder.path();
}

}  // namespace tracso::test
