#pragma once
// The call agent: code that runs inside the traced process. It is a shared object of its own, made
// without a C library, and it may touch nothing that belongs to the program: no malloc, no errno,
// no vector or floating-point register (it is compiled -mgeneral-regs-only), no descriptor that
// stays open. What it does on the way of each call is assembly (enter_*.S); the rest is here.
//
//   start.c        finds its setup, maps memory, cleans the environment, patches what is loaded
//   objects.c      the loaded objects, again after each dlopen
//   image.c        what the headers of an object say
//   slots.c        which words of an object's GOT become ours
//   pointers.c     functions that the program looks up with dlsym
//   lookups.c      which look-ups these may be
//   call_sites.c   words that are also read as function pointers stay; calls through them move
//   self_binding.c a word that the loader has not filled yet: we look the function up ourselves
//   rebinding.c    and where we cannot, we take the word back after the loader has filled it
//   stubs.c        the few instructions that a patched word leads to
//   threads.c      counters of a thread
//   forked.c       a child after fork
//   starting.c     programs that it starts
//   filter.c       what was asked for
//   names.c        functions that must not be timed
//   record.c       each call with its arguments, where that is asked for
//   capture.c      what arguments point to, copied without ever touching a bad pointer
//   attach.c       coming into a running process, and going again
//
// docs/calls.md tells the whole story.

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "shared_layout.h"

// --- what start.c sets up
extern struct tracso_setup* setup;    // mapped read-write: the region counter is in it
extern struct tracso_region* region;  // ours
extern char arena_path[64];           // "/proc/PID/fd/N"
// A page that the kernel wipes in a forked child (MADV_WIPEONFORK): there both words are 0.
struct alive_page {
  uint32_t counting;  // 0: the slow path has something to do before this thread may count
  uint32_t known;     // 0: this process is a child we have not been told of
};
extern struct alive_page* alive;
extern uint64_t exact_calls;      // as in the setup
extern uint64_t* targets;         // of each slot
extern uint8_t* error_rules;      // of each slot: enum tracso_error_when
extern __thread struct tracso_thread* this_thread
    __attribute__((tls_model("initial-exec")));
extern uint64_t region_bytes;     // mapped of it
// Calls that began earlier (time stamp) are no business of who traces now.
extern uint64_t session_start;
extern int is_recording;
int open_region(void* at);  // maps a fresh region there (0: anywhere); 0: none to be had
int map_setup(int arena);              // in the place of the one before
int map_session(int arena, void* at);  // as open_region, of an open arena
int prepare_process(void);  // stubs and mirror, once; 0: no memory
void begin_session(void);   // after a region has been mapped
void hide_agent(char** environment);  // the variables that brought us are gone from it
int may_look(void);         // 0: another thread is in look_for_objects
void end_of_look(void);

// --- attach.c
// 0: every slot is, or is about to be, as it was before us. Who patches one looks again afterwards.
int is_active(void);
int is_attached(void);
void set_active(int active);

// --- objects.c
enum look { look_at_start, look_later, look_at_attach };
// 0: it is `deadline` (now_ns; 0: never), and there is more to do.
int look_for_objects(enum look when, uint64_t deadline);
uint64_t loads_so_far(void);  // changes with every object that comes
void give_slots_back(void);
void forget_object(struct tracso_object* object);
uint32_t object_at(uint64_t address);  // index; UINT32_MAX: none
const char* object_name(uint32_t object);
const char* last_name(const char* path);  // behind the last slash
int is_main_program(uint32_t object);

// --- image.c
struct image {  // what an object's headers say, addresses with the load bias added
  uint32_t object;
  uint64_t base;
  const ElfW(Phdr) * headers;
  int header_count;
  uint64_t relro_start, relro_end;
  const ElfW(Rela) * jump_slots;
  uint64_t jump_slot_count;
  const ElfW(Rela) * relocations;
  uint64_t relocation_count;
  const uint64_t* packed;  // DT_RELR
  uint64_t packed_words;
  const ElfW(Sym) * symbols;
  const char* strings;
  const uint32_t* gnu_hash;  // 0: none
  const uint32_t* hash;      // DT_HASH; 0: none
  const uint16_t* versions;
  const uint8_t* needed_versions;
  uint64_t needed_version_count;
  int symbolic;  // binds to itself first
};
int read_image(struct image* image, uint32_t object, const struct dl_phdr_info* info);
int read_symbols(struct image* image, uint32_t object);  // only what its dynamic section says
const char* symbol_name(const struct image* image, const ElfW(Rela) * relocation);
uint64_t content_of(const struct image* image, const ElfW(Rela) * relocation);
int is_relocated(const struct image* image);

// --- symbols.c
// Whether the object defines a function of that name, at that address: by the type of its symbol.
int is_function(uint32_t object, const char* name, uint64_t address);

// --- slots.c
int patch_object(struct image* image, int at_start);  // 0: not relocated yet, ask again
int patch_object_again(struct image* image);  // that has slots already; the same
void restore_object(struct image* image);
int still_fits(const struct image* image);  // its slots are where they were, for the same functions
int has_cells(const struct image* image);   // some are words of our own (call_sites.c)
// What was asked for decides what becomes of a slot. 0: nobody asked for it.
int decide(uint32_t number);

// --- call_sites.c
struct import {  // a GLOB_DAT slot that holds a function
  uint64_t slot, target;
  uint32_t relocation;
  uint32_t calls, reads;  // instructions that call through it, and that do anything else with it
  uint64_t cell;          // where redirected calls look instead; 0: nowhere
};
void classify_imports(const struct image* image, struct import* imports, uint64_t count);

// --- self_binding.c
uint64_t resolve_lazily_bound(const struct image* image, const ElfW(Rela) * relocation);
int is_lazily_bound(const struct image* image, uint64_t content, uint64_t index);
uint64_t behind_plt_entry(uint64_t target);  // the function; 0: not known

// --- rebinding.c
int take_slot_back(uint32_t slot);
void take_slots_back(uint32_t object);

// --- stubs.c
int make_room_for_stubs(uint32_t first, uint32_t count);  // writable; 0: no memory
void write_stub(uint32_t slot);
void seal_stubs(uint32_t first, uint32_t count);
uint64_t stub_address(uint32_t slot);
int is_stub(uint64_t address);
uint64_t target_of_stub(uint64_t address);  // what it leads to
int map_stubs(void);
extern uint64_t* handlers;  // where a stub that times jumps

// --- threads.c
int take_thread_block(void);

// --- forked.c
void begin_as_child(void);
void copy_used(struct tracso_region* to, const struct tracso_region* from);

// --- filter.c
int glob(const char* pattern, const char* text);
int is_selected(const char* symbol, uint32_t caller, uint32_t callee);
int is_callee_selected(uint32_t callee);
uint8_t error_rule_of(const char* symbol);
// 0: there is none.
const struct tracso_capture_rule* capture_rule_of(const char* symbol);

// --- record.c
extern struct tracso_ring* rings;  // one per thread block; 0: nothing is recorded
extern const struct tracso_capture_rule** capture_rules;  // of each slot; 0: nobody needs them
void begin_ring(struct tracso_ring* ring);

// --- capture.c
struct writing {  // an event that is being made
  struct tracso_event* event;
  uint8_t* at;
};
// As much of the memory as can be read.
uint32_t read_memory(void* into, uint64_t from, uint32_t bytes);
void capture_text(struct writing* writing, uint8_t of, uint64_t from, uint64_t at_most);
void capture_bytes(struct writing* writing, uint8_t of, uint64_t from, uint64_t bytes);
void capture_format(struct writing* writing,
                    uint8_t of,
                    uint64_t from,
                    const struct tracso_call_words* words);
// Pointers in registers, in the result and in what they lead to; those of the call, or `after`.
void capture_nodes(struct writing* writing,
                   const struct tracso_capture_node* nodes,
                   uint32_t count,
                   const uint64_t* integer,
                   int after,
                   uint64_t result);

// --- lookups.c
// Before a look-up: 1 if its result is to come by us.
int may_answer(const uint64_t* saved);

// --- pointers.c
// Instead of what dlsym has given: a stub that leads there, or that itself.
uint64_t answer(uint64_t pointer, uint32_t slot, const char* name);
void count_left_pointer(void);

// --- names.c
int must_not_be_timed(const char* symbol);
int loads_objects(const char* symbol);
int locks_memory(const char* symbol);
int looks_up(const char* symbol);  // gives the address of a function
// 0: it starts no program. Else the enum saved_register of its environment; below 0: it is environ.
int starts_program(const char* symbol);

// --- memory.c
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* at, int value, size_t bytes);
size_t text_length(const char* text);
int same_text(const char* one, const char* other);
const char* after_prefix(const char* text, const char* prefix);  // 0: it does not begin so
char* append_number(char* at, uint64_t value);
void* map_memory(void* at, uint64_t bytes, int flags);  // anonymous, read-write; 0: none
uint32_t keep_name(const char* name);                   // its offset in region->name

// --- assembly
extern char enter_timed[], enter_lazy[], enter_counted[], enter_loading[];
extern char enter_asking[], enter_recorded[], enter_recorded_only[], enter_recorded_loading[];
extern char enter_recorded_asking[];
extern char enter_starting_timed[], enter_starting_counted[];
extern char enter_starting_recorded[], enter_starting_recorded_only[];
// Where SAVE_ALL has put what the caller had in registers (r11: the number of the slot), and behind
// these the place S with the caller's return address.
enum saved_register {
  saved_r11 = 1, saved_r9 = 3, saved_r8, saved_rdi, saved_rsi, saved_rdx, saved_rcx, saved_rax,
  saved_place
};
extern char returns_start[], returns_end[];
