#include "support/c_programs.hpp"

#include "base/text.hpp"
#include "os/live_process.hpp"
#include "proc/maps.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tracso::test {
namespace {

// Arguments: NAME dlopens it, ns:NAME opens it in a new namespace, memfd:PATH opens a copy without
// a file, rm:PATH removes a file, close:NAME closes what NAME opened. Then one line per object of
// every namespace it knows, READY, and it waits until its stdin ends.
constexpr const char* reporter_source = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void report(struct link_map *m, long space) {
  if (m == 0) return;
  while (m->l_prev) m = m->l_prev;
  for (; m; m = m->l_next)
    printf("OBJ\t%ld\t%lx\t%lx\t%s\n", space, (long)m->l_addr, (long)m->l_ld, m->l_name);
}
#ifndef STATIC
static void *open_copy(const char *path) {
  char buffer[4096], name[64];
  int from = open(path, O_RDONLY), to = memfd_create("copy", 0);
  ssize_t count;
  while ((count = read(from, buffer, sizeof buffer)) > 0) write(to, buffer, count);
  sprintf(name, "/proc/self/fd/%d", to);
  return dlopen(name, RTLD_NOW);
}
static struct link_map *map_of(void *handle) {
  struct link_map *m = 0;
  dlinfo(handle, RTLD_DI_LINKMAP, &m);
  return m;
}
#endif
int main(int count, char **words) {
#ifdef STATIC
  puts("READY");
#else
  void *handles[64];
  for (int i = 1; i < count && i < 64; i++) {
    char *word = words[i];
    handles[i] = 0;
    if (!strncmp(word, "memfd:", 6)) handles[i] = open_copy(word + 6);
#ifdef LM_ID_NEWLM
    else if (!strncmp(word, "ns:", 3)) handles[i] = dlmopen(LM_ID_NEWLM, word + 3, RTLD_NOW);
#endif
    else if (!strncmp(word, "rm:", 3)) { unlink(word + 3); continue; }
    else if (!strncmp(word, "close:", 6)) {
      for (int k = 1; k < i; k++) if (!strcmp(words[k], word + 6)) dlclose(handles[k]);
      continue;
    }
    else handles[i] = dlopen(word, RTLD_NOW);
    if (!handles[i]) { printf("FAILED\t%s\t%s\n", word, dlerror()); return 1; }
  }
  report(map_of(dlopen(0, RTLD_NOW)), 0);
#ifdef LM_ID_NEWLM
  for (int i = 1; i < count; i++) if (handles[i] && !strncmp(words[i], "ns:", 3)) {
    Lmid_t space = 0;
    dlinfo(handles[i], RTLD_DI_LMID, &space);
    report(map_of(handles[i]), space);
  }
#endif
  puts("READY");
#endif
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {}
  return 0;
}
)";

std::uint64_t hex_number(std::string_view digits) {
  return parse_unsigned(digits, 16).value_or(0);
}

}  // namespace

Workshop::Workshop() {
  std::string name = std::filesystem::temp_directory_path().string() + "/tracso-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  folder_ = std::filesystem::canonical(name).string();
}

Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Workshop::write(const std::string& name, const std::string& content) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  std::ofstream(path(name)) << content;
}

bool Workshop::run(const std::string& command) const {
  const std::string line = "cd '" + folder_ + "' && " + command + " 1>&2";
  return std::system(line.c_str()) == 0;  // NOLINT(cert-env33-c): a test
}

std::string Workshop::library(const std::string& file,
                              const std::string& options,
                              const std::string& compiler) const {
  std::string function = "f_";
  for (const char letter : std::string(base_name(file))) {
    function += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  }
  write(file + ".c", "int " + function + "(void) { return 1; }\n");
  INFO("needed for this test: " << compiler << " and its libraries");
  REQUIRE(run(compiler + " -shared -fPIC -o '" + file + "' '" + file + ".c' -Wl,--no-as-needed " +
              options));
  return path(file);
}

std::string Workshop::reporter(const std::string& file,
                               const std::string& options,
                               const std::string& compiler) const {
  write(file + ".c", reporter_source);
  INFO("needed for this test: " << compiler << " and its libraries");
  REQUIRE(run(compiler + " -w -o '" + file + "' '" + file + ".c' -Wl,--no-as-needed " + options));
  return path(file);
}

Reporter::Reporter(std::vector<std::string> argv, std::vector<std::string> environment)
    : child(std::move(argv), std::move(environment)) {
  while (const auto line = child.line()) {
    if (*line == "READY") {
      ready = true;
      return;
    }
    const auto fields = split(*line, '\t');
    if (fields.size() == 5 && fields[0] == "OBJ") {
      rows.push_back({static_cast<std::size_t>(parse_unsigned(fields[1]).value_or(99)),
                      hex_number(fields[2]),
                      hex_number(fields[3]),
                      std::string(fields[4])});
    } else {
      UNSCOPED_INFO("the program says: " << *line);
    }
  }
}

const loader::LinkMapEntry* LinkMapView::find(const std::string& name) const {
  for (const auto& entry : maps->entries) {
    if (entry.name == name || entry.name.ends_with("/" + name)) {
      return &entry;
    }
  }
  return nullptr;
}

std::vector<OwnRow> LinkMapView::rows() const {
  std::vector<OwnRow> all;
  for (const auto& entry : maps->entries) {
    all.push_back({entry.space, entry.bias, entry.dynamic, entry.name});
  }
  return all;
}

LinkMapView look_at(pid_t pid) {
  const auto process = os::LiveProcess::open(pid);
  REQUIRE(process);
  const auto maps_text = (*process)->read("maps");
  const auto auxv_text = (*process)->read("auxv");
  REQUIRE(maps_text);
  REQUIRE(auxv_text);
  auto mappings = proc::parse_maps(*maps_text);
  const auto auxv = proc::parse_auxv(*auxv_text);
  REQUIRE(mappings);
  REQUIRE(auxv);
  LinkMapView view{*mappings, loader::read_link_maps(**process, *mappings, *auxv), {}, {}};
  if (view.maps) {
    view.sections = loader::read_dynamic_sections(**process, *view.maps);
    const auto program = (*process)->read_link("exe");
    view.matches =
        loader::match_needed(*view.maps, view.sections, program ? *program : std::string());
  }
  return view;
}

}  // namespace tracso::test
