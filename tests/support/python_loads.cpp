#include "support/python_loads.hpp"

#include "base/text.hpp"
#include "support/catch.hpp"
#include "support/thread_stop.hpp"

#include <fmt/format.h>

namespace tracso::test {
namespace {

// Says which thread opens what and waits for a letter.
constexpr const char* waiting_dlopen = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
void *dlopen(const char *name, int mode) {
  static void *(*real)(const char *, int);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
  char line[4500], answer;
  int length = snprintf(line, sizeof line, "dlopen %ld %.4096s\n", (long)syscall(SYS_gettid), name ? name : "NULL");
  if (write(1, line, length) == length && read(0, &answer, 1) != 1) _exit(3);
  return real(name, mode);
}
)";

std::string built_in(const Workshop& workshop) {
  workshop.write("waiting_dlopen.c", waiting_dlopen);
  REQUIRE(workshop.run("cc -shared -fPIC -o waiting_dlopen.so waiting_dlopen.c -ldl"));
  return workshop.path("waiting_dlopen.so");
}

}  // namespace

LoadWatch::LoadWatch(const Workshop& workshop, std::vector<std::string> argv)
    : child_(std::move(argv),
             {"LD_PRELOAD=" + built_in(workshop), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1"}) {}

std::optional<SeenLoad> LoadWatch::next() {
  if (waiting_) {
    child_.write("\n");
    waiting_ = false;
  }
  SeenLoad load;
  auto line = child_.line();
  while (line && !line->starts_with("dlopen ")) {
    load.truth = *line;
    line = child_.line();
  }
  if (!line) {
    return std::nullopt;
  }
  waiting_ = true;
  const auto words = split(*line, ' ');
  load.name = line->substr(words[0].size() + words[1].size() + 2);
  const auto thread = static_cast<pid_t>(parse_unsigned(words[1]).value_or(0));
  if (!reader_) {
    target_ = live_target(child_.pid());
    REQUIRE(target_);
    reader_.emplace(target_->input.target);
    glancer_.emplace(target_->input.target);
  }
  const auto stop = stop_threads(child_.pid());
  REQUIRE(stop);
  const auto pointer = thread_pointer(thread);
  const auto start = std::chrono::steady_clock::now();
  load.steps = reader_->chain({thread, pointer, 0});
  load.took = std::chrono::steady_clock::now() - start;
  load.glance = glancer_->chain_with_past({thread, pointer, 0});
  return load;
}

std::string in_words(const std::vector<python::ImportStep>& steps, const std::string& folder) {
  std::vector<std::string> words;
  for (const auto& step : steps) {
    const bool inside = step.file.starts_with(folder);
    words.push_back(fmt::format("{}:{} ({}) {}",
                                inside ? step.file.substr(folder.size()) : step.file,
                                step.line,
                                step.importer,
                                step.module.empty() ? "load" : step.module));
  }
  return join(words, " > ");
}

void write_opener(const Workshop& workshop, const std::string& file, const std::string& tag) {
  workshop.write(
      file,
      fmt::format("import ctypes\ntry:\n    ctypes.CDLL('{}')\nexcept OSError:\n    pass\n", tag));
}

Chains tagged(const Workshop& workshop, std::vector<std::string> argv) {
  LoadWatch watch(workshop, std::move(argv));
  Chains chains;
  while (const auto load = watch.next()) {
    CHECK(in_words(load->glance) == in_words(load->steps));
    if (load->name.starts_with("tag-")) {
      chains.emplace_back(load->name.substr(4), in_words(load->steps, workshop.path("")));
    }
  }
  CHECK(watch.is_complete());
  return chains;
}

}  // namespace tracso::test
