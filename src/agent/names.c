// Functions whose calls are counted but whose return address must stay as the caller left it.

#include "agent.h"

static int is_in(const char* symbol, const char* const* list) {
  for (; *list != 0; ++list) {
    if (same_text(symbol, *list)) {
      return 1;
    }
  }
  return 0;
}

// They ask by their return address who called: whose RUNPATH, whose namespace, what "next" means.
// New objects appear with them, so each is also the moment to look.
int loads_objects(const char* symbol) {
  static const char* const names[] = {"dlopen",  "dlmopen", "dlsym",   "dlvsym", "dlclose", "dladdr",
                                      "dladdr1", "dlinfo",  "dlerror", "__libc_dlopen_mode",  0};
  return is_in(symbol, names);
}

int looks_up(const char* symbol) {
  static const char* const names[] = {"dlsym", "dlvsym", 0};
  return is_in(symbol, names);
}

int starts_program(const char* symbol) {
  static const struct {
    const char* name;
    int environment;
  } names[] = {{"execve", saved_rdx},   {"execvpe", saved_rdx},     {"fexecve", saved_rdx},
               {"execveat", saved_rcx}, {"posix_spawn", saved_r9},  {"posix_spawnp", saved_r9},
               {"execv", -1},           {"execvp", -1},             {"execl", -1},
               {"execlp", -1},          {"system", -1},             {"popen", -1},
               {0, 0}};
  for (int i = 0; names[i].name != 0; ++i) {
    if (same_text(symbol, names[i].name)) {
      return names[i].environment;
    }
  }
  return 0;
}

// It would fill the machine with what we only reserve (start.c).
int locks_memory(const char* symbol) { return same_text(symbol, "mlockall"); }

// They return twice, never, or into another stack; or they walk the stack themselves and would
// count our frames; or they are called before a frame exists (profiling hooks), or their callers
// keep values in registers that calls usually lose (__tls_get_addr by some compilers).
int must_not_be_timed(const char* symbol) {
  static const char* const names[] = {
      "setjmp",        "_setjmp",        "__sigsetjmp",   "sigsetjmp",     "longjmp",
      "_longjmp",      "siglongjmp",     "__longjmp_chk", "vfork",         "__vfork",
      "getcontext",    "setcontext",     "swapcontext",   "makecontext",   "savectx",
      "_exit",         "_Exit",          "exit",          "quick_exit",    "abort",
      "pthread_exit",  "thrd_exit",      "__cxa_throw",   "__cxa_rethrow", "_Unwind_Resume",
      "_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind",
      "_Unwind_Backtrace", "backtrace",  "__tls_get_addr", "mcount",       "_mcount",
      "__fentry__",    "dl_iterate_phdr", "_dl_mcount_wrapper_check", "__libc_start_main", 0};
  return is_in(symbol, names);
}
