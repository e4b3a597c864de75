#pragma once
// The memory that the agent (inside the traced process) and tracso share: one memfd, a page of
// setup that tracso writes, then a region per traced process that its agent writes. Both sides are
// compiled from this file into one program, so there are no versions of it; a region is believed
// only if its magic stands there, and every index in it is checked by the reader: the process could
// have written anything.
//
//   arena   [ setup | region 0 | region 1 | ... ]      sparse: only what is used takes memory
//   region  [ head | objects | slots | names | thread 0 | thread 1 | ... ]
//
// Where each call is recorded with its arguments, behind all regions a place for the rings of each:
//
//   rings   [ ring of thread 0 | ring of thread 1 | ... ]    of region 0, then of region 1, ...

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
  tracso_most_capture_rules = 8192,
  tracso_capture_name_bytes = 62,
  tracso_most_capture_nodes = 12,  // of one function
  tracso_argument_registers = 6,
  tracso_stack_words = 8,        // arguments behind those in registers
  tracso_ring_bytes = 1 << 20,
  tracso_most_text_bytes = 16384,  // of one text: -s may not ask for more
  tracso_most_pieces = 16,         // texts of one event
  tracso_most_pending = 128,       // calls under way whose arguments are looked at when they return
};

// Where the copies of return addresses live (enter_timed.S, mirror.inc): 4 TiB of address space, of
// which only touched pages take memory.
#define TRACSO_MIRROR_START ((uint64_t)1 << 45)
#define TRACSO_MIRROR_BYTES ((uint64_t)1 << 42)

#define TRACSO_FORMAT_BYTES 256  // of a format of printf, however few bytes of texts are asked for

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
  tracso_record = 16,        // each call and return goes into the ring of its thread
  tracso_drop = 32,          // a full ring is no reason to wait
  tracso_attached = 64,      // to a process that ran already: it never waits long for us
};

// What an argument register leads to, and how long that is.
enum tracso_capture {
  tracso_capture_nothing = 0,
  tracso_capture_text = 1,      // ends at a zero byte
  tracso_capture_bytes = 2,
  tracso_capture_format = 3,    // of printf; the arguments it asks for follow it
  tracso_capture_kind = 3,      // mask
  tracso_capture_narrow = 4,    // its length is an int: the upper half of the register is nobody's
  tracso_capture_after = 8,     // when the function has returned
  tracso_capture_length = 4,    // shift: 1-6 as long as that argument says, or
  tracso_length_is_result = 7,
  tracso_length_is_product = 8,         // of arguments 2 and 3 (fwrite)
  tracso_length_is_result_product = 9,  // result times argument 2 (fread)
};

// One more pointer to follow, where arguments lead to structures: a word of what has been copied
// before, or a register.
enum tracso_node_from {  // 0-5: integer argument registers
  tracso_node_result = 8,
  tracso_node_first = 16,  // and the next: the bytes of that node
};

struct tracso_capture_node {
  uint8_t from;
  uint8_t kind;     // tracso_capture_text or _bytes, perhaps tracso_capture_after
  uint16_t offset;  // of the pointer, in the bytes of another node
  uint16_t bytes;   // to be copied at most; 0: as many as of any text, and 16
};

// What is to be copied for a function, by the numbers of the registers of its integer arguments.
struct tracso_capture_rule {
  char name[tracso_capture_name_bytes];
  uint8_t argument[tracso_argument_registers];
  uint8_t result;  // nothing or a text
  uint8_t stack;   // it has arguments on the stack
  uint8_t nodes;
  uint8_t unused;
  struct tracso_capture_node node[tracso_most_capture_nodes];
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
  uint32_t capture_rules, text_bytes;  // the second: of a text at most
  struct tracso_capture_rule capture_rule[tracso_most_capture_rules];  // sorted by name
  int32_t tracer;           // process number of tracso, as it sees itself
  uint64_t tracer_started;  // when that one was started (proc_pid_stat(5), field 22)
};

#define TRACSO_AGENT_MAGIC 0x31746e6567617274u

// What the agent exports under the name tracso_agent_state, for who finds it in a running process.
struct tracso_agent_state {
  uint64_t magic;
  uint64_t setup;   // address of the setup it was started with; 0: it has not been started
  uint64_t active;  // 0: all slots are as they were
};

enum tracso_slot_flags {
  tracso_slot_glob_dat = 1,
  tracso_slot_lazy = 2,     // not bound yet
  tracso_slot_counted = 4,  // never timed: its return address must stay as it is
  tracso_slot_loads = 8,    // dlopen and its like: look for new objects
  tracso_slot_unwanted = 16,  // not asked for: patched to see what is loaded, or before
                              // it was known where it leads
  tracso_slot_off = 32,       // not asked for and not patched; the next who attaches may ask
  tracso_slot_starts = 64,    // starts a program that is to be followed
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
  tracso_object_off = 64,      // its slots have been given back
  tracso_object_partial = 128, // some functions have no slot, for they were not asked for
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
  uint32_t left_sites;  // that could not be changed while other threads may run them
  uint32_t locks_memory;    // it has called mlockall, and locks what it touches instead of all
  uint32_t children;        // of fork, not followed, that called something (exec counts)
  uint64_t start_ns;  // how long the agent took to start
  uint32_t pointers;       // given by dlsym, that lead through us
  uint32_t pointers_left;  // that do not
  uint32_t lookups_by_caller;  // of these: with RTLD_DEFAULT or RTLD_NEXT, for callers who are given
                               // something else than we
  uint32_t objects_left;  // at once, beyond tracso_most_objects
  uint32_t starts_without_agent;  // it, or a child of it, has started a program that cannot open us
  char command[256];
  char program[256];  // /proc/self/exe
};

struct tracso_region {
  struct tracso_head head;
  struct tracso_object object[tracso_most_objects];
  struct tracso_slot slot[TRACSO_MOST_SLOTS];
  char name[tracso_name_bytes];
  struct tracso_thread thread[TRACSO_MOST_THREADS];
};

// --- events: what one thread called, in order

enum tracso_event_kind {
  tracso_event_filler = 0,    // nothing, up to the end of the ring
  tracso_event_call = 1,      // its return will follow, unless the call never returns
  tracso_event_only = 2,      // its return cannot be seen
  tracso_event_return = 3,
};

struct tracso_event {  // then tracso_call_words or tracso_return_words, then the pieces
  uint32_t bytes;      // of all of it, a multiple of 8
  uint16_t kind, pieces;
  uint32_t slot;
  uint32_t thread;     // kernel thread id in its own namespace
  uint64_t ticks;      // time stamp counter
  uint64_t place;      // of the return address on the stack: the same in a call and its return
};

struct tracso_call_words {
  uint64_t integer[tracso_argument_registers];
  uint64_t floating[8];  // lower halves of xmm0 to xmm7
  uint64_t return_address;
  uint64_t stack[tracso_stack_words];
  uint64_t stack_words;  // of them are there
};

struct tracso_return_words {
  uint64_t integer, floating;  // rax, lower half of xmm0
  uint64_t took;               // ticks
  int64_t error_number;        // errno afterwards
};

enum tracso_piece_of {  // 0-5: integer argument registers
  tracso_piece_stack = 6,   // and the next: words of the stack
  tracso_piece_node = 32,   // and the next: nodes of the capture rule
  tracso_piece_result = 255,
};

enum tracso_piece_state { tracso_piece_whole = 0, tracso_piece_cut = 1, tracso_piece_fault = 2 };

struct tracso_piece {  // then the bytes, filled up to a multiple of 8
  uint8_t of, state;
  uint16_t unused;
  uint32_t bytes;
};

struct tracso_pending {
  uint64_t place;
  uint64_t integer[tracso_argument_registers];
};

// One thread writes, tracso reads. Positions only grow; their rest modulo the size is the place.
struct tracso_ring {
  uint64_t written, read;
  uint64_t lost;     // events that found no room, or came in the middle of another (signal handlers)
  uint64_t writing;  // 0, or the place of the call whose event is being written
  uint64_t deaf;     // nobody reads any more
  uint64_t pending_count;
  struct tracso_pending pending[tracso_most_pending];
  uint8_t unused[4096 - (6 + 7 * tracso_most_pending) * 8 % 4096];
  uint8_t data[tracso_ring_bytes];
};

#define TRACSO_PAGE 4096u
#define TRACSO_ROUND(bytes) (((bytes) + TRACSO_PAGE - 1) & ~(uint64_t)(TRACSO_PAGE - 1))
#define TRACSO_SETUP_BYTES TRACSO_ROUND(sizeof(struct tracso_setup))
#define TRACSO_REGION_BYTES TRACSO_ROUND(sizeof(struct tracso_region))
#define TRACSO_RINGS_START \
  (TRACSO_SETUP_BYTES + (uint64_t)tracso_most_regions * TRACSO_REGION_BYTES)
#define TRACSO_RINGS_BYTES (TRACSO_MOST_THREADS * (uint64_t)sizeof(struct tracso_ring))

#endif
