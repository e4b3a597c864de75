#pragma once
// The memory that the agent (inside the traced process) and tracso share: one memfd, a page of
// setup that tracso writes, then a region per traced process that its agent writes. Both sides are
// compiled from this file into one program, so there are no versions of it; a region is believed
// only if its magic stands there, and every index in it is checked by the reader: the process could
// have written anything.
//
//   arena   [ setup | region 0 | region 1 | ... ]      sparse: only what is used takes memory
//   region  [ head | objects | slots | names | thread 0 | thread 1 | ... ]

#ifndef __ASSEMBLER__
#include <stdint.h>
#endif

#define TRACSO_MOST_SLOTS 65536
#define TRACSO_MOST_THREADS 1024

// Offsets that assembly code needs; the agent asserts that they are right.
#define TRACSO_STAT_WORDS 5
#define TRACSO_STAT_CALLS 0
#define TRACSO_STAT_TOTAL 8
#define TRACSO_STAT_SELF 16
#define TRACSO_STAT_LONGEST 24
#define TRACSO_STAT_ERRORS 32
#define TRACSO_THREAD_CHILDREN 0
#define TRACSO_THREAD_STATS 64

#ifndef __ASSEMBLER__

enum {
  tracso_most_regions = 4096,
  tracso_most_objects = 4096,
  tracso_name_bytes = 8 << 20,
  tracso_most_rules = 64,
  tracso_rule_bytes = 120,
  tracso_most_error_rules = 512,
  tracso_error_name_bytes = 30,
};

#define TRACSO_SETUP_MAGIC 0x3170757465736374u
#define TRACSO_REGION_MAGIC 0x316e6f6967657274u

// What counts as an error in the value a function returned.
enum tracso_error_when {
  tracso_never = 0,
  tracso_int_minus_one = 1,   // int, -1
  tracso_long_minus_one = 2,  // ssize_t or a pointer, -1
  tracso_null = 3,            // a pointer or long, 0
  tracso_int_negative = 4,
  tracso_int_not_zero = 5,
};

enum tracso_setup_flags {
  tracso_count_only = 1,
  tracso_follow = 2,         // fork'ed children and what they exec are traced too
  tracso_intra = 4,          // calls inside one library as well
  tracso_keep_preload = 8,   // LD_PRELOAD was set (perhaps to nothing) by the user
};

// One link of a filter chain: symbol@caller (of -e), or symbol in callee (of -l).
struct tracso_rule {
  uint16_t chain;   // rules of one option have one number
  uint8_t exclude;  // a rule with '-'
  uint8_t callee;   // the library is the one called
  char symbol[tracso_rule_bytes], library[tracso_rule_bytes];  // globs
};

struct tracso_error_rule {
  char name[tracso_error_name_bytes];
  uint8_t when;
  uint8_t unused;
};

struct tracso_setup {
  uint64_t magic;
  uint32_t flags;
  uint32_t regions;       // taken so far; more than tracso_most_regions: some got none
  uint64_t exact_calls;   // of a slot in a thread that are all timed; later ones one in 16
  uint32_t rules, error_rules;
  char agent_path[64];    // as it stands in LD_PRELOAD
  char caller[tracso_rule_bytes], callee[tracso_rule_bytes];  // globs, empty: any
  struct tracso_rule rule[tracso_most_rules];
  struct tracso_error_rule error_rule[tracso_most_error_rules];  // sorted by name
};

enum tracso_slot_flags {
  tracso_slot_glob_dat = 1,
  tracso_slot_lazy = 2,     // not bound yet
  tracso_slot_counted = 4,  // never timed: its return address must stay as it is
  tracso_slot_loads = 8,    // dlopen and its like: look for new objects
  tracso_slot_unwanted = 16,  // not asked for: patched to see what is loaded, or before
                              // it was known where it leads
};

struct tracso_slot {
  uint64_t address;  // of the word that holds the target
  uint64_t target;
  uint32_t caller, callee;  // indexes of objects; callee UINT32_MAX: not known
  uint32_t name;            // offset in names
  uint32_t flags;
};

enum tracso_object_flags {
  tracso_object_gone = 1,
  tracso_object_seen = 2,      // by the walk under way
  tracso_object_own = 4,       // the agent
  tracso_object_waiting = 8,   // not patched yet
  tracso_object_versions = 16, // defines symbol versions
  tracso_object_loader = 32,   // ld.so: never patched
};

struct tracso_object {
  uint64_t base, start, end, code_start, code_end, dynamic;
  uint32_t name;  // offset in names; 0: the program
  uint32_t flags;
  uint32_t first_slot, end_slot;
  uint32_t address_taken;  // imported functions whose slot is read as a pointer and not called
  uint32_t unresolved;     // whose target is in no object
  uint32_t filtered, intra, full;
  uint32_t unused;
};

struct tracso_stat {
  uint64_t calls;
  uint64_t total, self, longest;  // ticks of the time stamp counter
  uint64_t errors;
};

struct tracso_thread {
  uint64_t children;  // ticks spent in traced calls of the call under way
  uint64_t id;        // kernel thread id in its own namespace; 0: free
  uint64_t spare[6];
  struct tracso_stat stat[TRACSO_MOST_SLOTS];
};

struct tracso_head {
  uint64_t magic;  // last thing written at the start
  uint32_t pid, objects, slots, threads;
  uint32_t names;      // bytes used
  uint32_t no_mirror;  // nothing is timed: its memory could not be had
  uint32_t thread_blocks;   // mapped: fewer than TRACSO_MOST_THREADS where memory is limited
  uint32_t threads_shared;  // more threads than blocks: some counted into one
  uint32_t ended;           // it came to a normal exit
  uint32_t late_objects;    // loaded by the C library itself and never patched (at a normal exit)
  uint32_t redirected_sites;
  uint64_t start_ns;  // how long the agent took to start
  char command[256];
};

struct tracso_region {
  struct tracso_head head;
  struct tracso_object object[tracso_most_objects];
  struct tracso_slot slot[TRACSO_MOST_SLOTS];
  char name[tracso_name_bytes];
  struct tracso_thread thread[TRACSO_MOST_THREADS];
};

#define TRACSO_PAGE 4096u
#define TRACSO_ROUND(bytes) (((bytes) + TRACSO_PAGE - 1) & ~(uint64_t)(TRACSO_PAGE - 1))
#define TRACSO_SETUP_BYTES TRACSO_ROUND(sizeof(struct tracso_setup))
#define TRACSO_REGION_BYTES TRACSO_ROUND(sizeof(struct tracso_region))

#endif
