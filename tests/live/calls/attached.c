// A process that is attached to while it works: attached WHAT. It says "ready", works until a line
// comes on its standard input, and says what it has noticed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fenv.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern int add_one(int);

static atomic_int over;
static atomic_long faults, rounds;

static void say(const char* what) {
  printf("%s\n", what);
  fflush(stdout);
}

static void* until_a_line(void* unused) {
  char line[64];
  if (fgets(line, sizeof line, stdin) == NULL) {
    line[0] = 0;
  }
  over = 1;
  return unused;
}

// --- every word of a GOT, before and after

struct word {
  uint64_t* at;
  uint64_t content, start, end;  // of the object
};
static struct word words[100000];
static size_t count;

static int note(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  const ElfW(Dyn)* dynamic = NULL;
  uint64_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type == PT_DYNAMIC) {
      dynamic = (const void*)(info->dlpi_addr + header->p_vaddr);
    }
    if (header->p_type == PT_LOAD) {
      end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
    }
  }
  if (dynamic == NULL || strstr(info->dlpi_name, "vdso") != NULL ||
      strstr(info->dlpi_name, "tracso-agent") != NULL) {
    return 0;
  }
  uint64_t tables[2] = {0, 0}, bytes[2] = {0, 0};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const uint64_t value = dynamic->d_un.d_val;
    tables[0] = dynamic->d_tag == DT_JMPREL ? value : tables[0];
    bytes[0] = dynamic->d_tag == DT_PLTRELSZ ? value : bytes[0];
    tables[1] = dynamic->d_tag == DT_RELA ? value : tables[1];
    bytes[1] = dynamic->d_tag == DT_RELASZ ? value : bytes[1];
  }
  for (int t = 0; t < 2; ++t) {
    const ElfW(Rela)* relocation = (const void*)tables[t];
    for (uint64_t i = 0; i < bytes[t] / sizeof *relocation; ++i) {
      const uint64_t type = ELF64_R_TYPE(relocation[i].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) {
        continue;
      }
      uint64_t* at = (uint64_t*)(info->dlpi_addr + relocation[i].r_offset);
      words[count++] = (struct word){at, *at, info->dlpi_addr, end};
    }
  }
  return 0;
}

static size_t changed_words(void) {
  size_t changed = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t now = *(volatile uint64_t*)words[i].at;
    const int was_lazy = words[i].content >= words[i].start && words[i].content < words[i].end;
    Dl_info about;
    const int is_bound = was_lazy && dladdr((void*)now, &about) != 0 &&
                         strstr(about.dli_fname, "tracso-agent") == NULL;
    changed += now != words[i].content && !is_bound;
  }
  return changed;
}

// --- work

static void* allocate(void* seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed * 2654435761u + 1;
  void* kept[64] = {0};
  while (!over) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned i = (unsigned)(state >> 58);
    if (kept[i] != NULL && *(uint64_t*)kept[i] != (uint64_t)(uintptr_t)kept[i]) {
      ++faults;
    }
    free(kept[i]);
    kept[i] = malloc(8 + (state >> 20) % 5000);
    *(uint64_t*)kept[i] = (uint64_t)(uintptr_t)kept[i];
    if (add_one((int)i) != (int)i + 1) {
      ++faults;
    }
    ++rounds;
  }
  for (int i = 0; i < 64; ++i) {
    free(kept[i]);
  }
  return NULL;
}

static void handle(int signal) {
  (void)signal;
  const int saved = errno;
  add_one(1);
  getppid();
  errno = saved;
}

static void storm(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGPROF, &action, NULL);
  const struct itimerval often = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &often, NULL);
  setitimer(ITIMER_PROF, &often, NULL);
}

// Values in all kinds of registers, through which nothing is called.
static void* registers(void* unused) {
  fesetround(FE_UPWARD);
  while (!over) {
    uint64_t wrong = 0;
    __asm__ volatile(
        "mov $0x1122334455667788,%%r8\n movq %%r8,%%xmm3\n movq %%r8,%%xmm15\n"
        "mov %%r8,%%r9\n mov %%r8,%%r10\n mov %%r8,%%r11\n mov %%r8,%%r12\n mov %%r8,%%r13\n"
        "mov %%r8,%%r14\n mov %%r8,%%r15\n mov %%r8,%%rbx\n mov %%r8,%%rsi\n mov %%r8,%%rdi\n"
        "fldpi\n mov $300000,%%ecx\n"
        "mov %%r8,-64(%%rsp)\n mov %%r8,-120(%%rsp)\n"
        "1: stc\n jnc 2f\n std\n cld\n dec %%ecx\n jnz 1b\n"
        "movq %%xmm3,%%rax\n cmp %%r8,%%rax\n jne 2f\n movq %%xmm15,%%rax\n cmp %%r8,%%rax\n jne 2f\n"
        "cmp %%r8,%%r9\n jne 2f\n cmp %%r8,%%r10\n jne 2f\n cmp %%r8,%%r11\n jne 2f\n"
        "cmp %%r8,%%r12\n jne 2f\n cmp %%r8,%%r13\n jne 2f\n cmp %%r8,%%r14\n jne 2f\n"
        "cmp %%r8,%%r15\n jne 2f\n cmp %%r8,%%rbx\n jne 2f\n cmp %%r8,%%rsi\n jne 2f\n"
        "cmp %%r8,%%rdi\n jne 2f\n cmp %%r8,-64(%%rsp)\n jne 2f\n cmp %%r8,-120(%%rsp)\n jne 2f\n"
        "fldpi\n fcomip %%st(1),%%st\n jne 2f\n xor %%eax,%%eax\n jmp 3f\n"
        "2: mov $1,%%eax\n 3: fstp %%st(0)\n"
        : "=a"(wrong)
        :
        : "rcx", "rsi", "rdi", "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm3",
          "xmm15", "cc", "memory", "st");
    faults += (long)wrong + (fegetround() != FE_UPWARD);
    ++rounds;
  }
  return unused;
}

static long elapsed_ms(const struct timespec* since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * 1000 + (now.tv_nsec - since->tv_nsec) / 1000000;
}

// In a call that waits and knows no restart: it must neither fail nor return early.
static void* wait_in_epoll(void* unused) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  while (!over) {
    struct epoll_event event;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    errno = 0;
    const int got = epoll_wait(epoll, &event, 1, 300);
    faults += got != 0 || errno != 0 || elapsed_ms(&start) < 299;
    ++rounds;
  }
  return unused;
}

static void* wait_in_poll(void* unused) {
  while (!atomic_load(&over)) {
    const int got = poll(NULL, 0, 700);
    if (got != 0) {
      atomic_fetch_add(&faults, 1);
    }
    atomic_fetch_add(&rounds, 1);
  }
  return unused;
}

static void* wait_for_semaphore(void* unused) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  while (!atomic_load(&over)) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT) {
      atomic_fetch_add(&faults, 1);
    }
    atomic_fetch_add(&rounds, 1);
  }
  return unused;
}

static void* wait_in_sleep(void* unused) {
  while (!over) {
    struct timespec start;
    const struct timespec pause = {0, 300000000};
    clock_gettime(CLOCK_MONOTONIC, &start);
    errno = 77;
    const int got = clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    const long took = elapsed_ms(&start);
    faults += got != 0 || errno != 77 || took < 299;
    ++rounds;
  }
  return unused;
}

static void* load_and_unload(void* path) {
  while (!over) {
    void* plugin = dlopen(path, RTLD_NOW);
    int (*use)(int) = plugin == NULL ? NULL : (int (*)(int))dlsym(plugin, "plugin");
    faults += use == NULL;
    if (plugin != NULL) {
      dlclose(plugin);
    }
    ++rounds;
  }
  return NULL;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "busy";
  const int threads = argc > 2 ? atoi(argv[2]) : 4;
  void* (*work)(void*) = strcmp(what, "registers") == 0 ? registers
                         : strcmp(what, "epoll") == 0   ? wait_in_epoll
                         : strcmp(what, "poll") == 0    ? wait_in_poll
                         : strcmp(what, "semaphore") == 0 ? wait_for_semaphore
                         : strcmp(what, "sleep") == 0   ? wait_in_sleep
                         : strcmp(what, "loading") == 0 ? load_and_unload
                                                        : allocate;
  dl_iterate_phdr(note, NULL);
  pthread_t ids[64], reader;
  pthread_create(&reader, NULL, until_a_line, NULL);
  for (int i = 0; i < threads; ++i) {
    pthread_create(&ids[i], NULL, work, strcmp(what, "loading") == 0 ? (void*)argv[3]
                                                                     : (void*)(uintptr_t)i);
  }
  if (strcmp(what, "storm") == 0) {
    storm();
  }
  say("ready");
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], NULL);
  }
  pthread_join(reader, NULL);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &never, NULL);
  setitimer(ITIMER_PROF, &never, NULL);
  printf("faults %ld changed %zu worked %d\n", (long)faults, changed_words(), rounds > 0);
  return faults == 0 ? 0 : 1;
}
