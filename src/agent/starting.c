// Programs that are started where children are followed (-f). They get the agent by the variables that
// brought it to us, as paths of tracso's descriptors. After a change of the user, or of the root, such
// a path cannot be opened, and ld.so would say so on the program's standard error. So it is tried
// before, and where it fails the program is started without the variables; that is told.

#include <fcntl.h>
#include <sys/stat.h>

#include "agent.h"
#include "system_calls.h"

extern char** environ __attribute__((weak));

// It may still have capabilities of root's, which the start of a program takes from everybody else. So
// the file must belong to who it is by now.
static int can_be_opened(const char* path, int flags) {
  enum { at_fdcwd = -100, too_many_files = 24, too_many_files_in_all = 23 };
  const long fd =
      system_call(SYS_openat, at_fdcwd, (long)path, flags | O_CLOEXEC, 0, 0, 0);
  if (is_error(fd)) {
    return fd == -too_many_files || fd == -too_many_files_in_all;  // it will have some, after exec
  }
  struct stat file;
  const long user = call_1(SYS_geteuid, 0);
  const int is_ours =
      user == 0 || (!is_error(call_2(SYS_fstat, fd, (long)&file)) && (long)file.st_uid == user);
  call_1(SYS_close, fd);
  return is_ours;
}

// As a child of vfork is: what is taken out of environ there is gone for all that the parent starts
// later. Of a child of fork that has made no traced call yet (forked.c) the alive page is empty.
static int is_in_memory_of_another(void) {
  return alive->known != 0 && (uint32_t)call_1(SYS_getpid, 0) != region->head.pid;
}

// A copy, for the array is the caller's. It stays where the start fails.
static char** without_agent(char** from) {
  uint64_t count = 0, text_bytes = 0;
  for (; from[count] != 0; ++count) {
    text_bytes +=
        after_prefix(from[count], "LD_PRELOAD=") != 0 ? text_length(from[count]) + 1 : 0;
  }
  char** to = map_memory(0, TRACSO_ROUND((count + 1) * sizeof *to + text_bytes), 0);
  if (to == 0) {
    return from;
  }
  char* text = (char*)(to + count + 1);
  for (uint64_t i = 0; i < count; ++i) {
    to[i] = from[i];
    if (after_prefix(from[i], "LD_PRELOAD=") != 0) {  // its end is cut off
      const size_t bytes = text_length(from[i]) + 1;
      memcpy(text, from[i], bytes);
      to[i] = text;
      text += bytes;
    }
  }
  hide_agent(to);
  return to;
}

__attribute__((visibility("hidden"))) void look_at_starting_call(uint64_t* saved) {
  const int environment =
      starts_program(region->name + region->slot[(uint32_t)saved[saved_r11]].name);
  if ((setup->flags & tracso_follow) == 0 ||
      (can_be_opened(arena_path, O_RDWR) && can_be_opened(setup->agent_path, O_RDONLY))) {
    return;
  }
  region->head.starts_without_agent = 1;
  if (environment > 0 && saved[environment] != 0) {
    saved[environment] = (uint64_t)without_agent((char**)saved[environment]);
  } else if (environment < 0 && &environ != 0 && environ != 0 && !is_in_memory_of_another()) {
    hide_agent(environ);
  }
}
