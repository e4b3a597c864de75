// What arguments point to, copied at the moment of the call, for later it may be something else.
// The pointer may be anything. The kernel copies for us from our own memory (process_vm_readv) and
// stops where there is none, so nothing here can fault.

#include "agent.h"
#include "system_calls.h"

struct part {
  uint64_t start, bytes;
};

// Two parts that meet at the border of a page, so that what lies before a hole is copied.
uint32_t read_memory(void* into, uint64_t from, uint32_t bytes) {
  enum { parts = 2 };
  const uint64_t room = TRACSO_PAGE - (from & (TRACSO_PAGE - 1));
  const uint64_t first = room < bytes ? room : bytes;
  const struct part local = {(uint64_t)into, bytes};
  const struct part remote[parts] = {{from, first}, {from + first, bytes - first}};
  const long got = system_call(SYS_process_vm_readv,
                               (long)region->head.pid,
                               (long)&local,
                               1,
                               (long)remote,
                               first < bytes ? parts : 1,
                               0);
  return is_error(got) ? 0 : (uint32_t)got;
}

static void end_piece(struct writing* writing, uint8_t of, uint8_t state, uint32_t bytes) {
  enum { alignment = 8 };
  *(struct tracso_piece*)(void*)writing->at = (struct tracso_piece){of, state, 0, bytes};
  writing->at += sizeof(struct tracso_piece) + (bytes + alignment - 1) / alignment * alignment;
  ++writing->event->pieces;
}

static uint64_t less(uint64_t one, uint64_t other) { return one < other ? one : other; }

static void capture_text_of(
    struct writing* writing, uint8_t of, uint64_t from, uint64_t at_most, uint32_t most_bytes) {
  // ~0 is no limit; other lengths below zero are none.
  if (from == 0 || ((int64_t)at_most < 0 && at_most != ~(uint64_t)0) ||
      writing->event->pieces >= tracso_most_pieces) {
    return;
  }
  uint8_t* into = writing->at + sizeof(struct tracso_piece);
  const uint32_t wanted = (uint32_t)less(at_most, (uint64_t)most_bytes + 1);
  const uint32_t got = wanted == 0 ? 0 : read_memory(into, from, wanted);
  uint32_t length = 0;
  while (length < got && into[length] != 0) {
    ++length;
  }
  const int ends = length < got || length == at_most;
  if (got == 0 && wanted != 0) {
    end_piece(writing, of, tracso_piece_fault, 0);
  } else {
    end_piece(writing,
              of,
              ends && length <= most_bytes ? tracso_piece_whole : tracso_piece_cut,
              (uint32_t)less(length, most_bytes));
  }
}

void capture_text(struct writing* writing, uint8_t of, uint64_t from, uint64_t at_most) {
  capture_text_of(writing, of, from, at_most, setup->text_bytes);
}

static void capture_bytes_of(
    struct writing* writing, uint8_t of, uint64_t from, uint64_t bytes, uint32_t most_bytes) {
  // A length below zero is a failure of the function, nothing to show.
  if (from == 0 || (int64_t)bytes < 0 || writing->event->pieces >= tracso_most_pieces) {
    return;
  }
  uint8_t* into = writing->at + sizeof(struct tracso_piece);
  const uint32_t wanted = (uint32_t)less(bytes, most_bytes);
  const uint32_t got = wanted == 0 ? 0 : read_memory(into, from, wanted);
  end_piece(writing,
            of,
            got == bytes             ? tracso_piece_whole
            : got == 0 && wanted != 0 ? tracso_piece_fault
                                     : tracso_piece_cut,
            got);
}

void capture_bytes(struct writing* writing, uint8_t of, uint64_t from, uint64_t bytes) {
  capture_bytes_of(writing, of, from, bytes, setup->text_bytes);
}

// --- what structures lead to

void capture_nodes(struct writing* writing,
                   const struct tracso_capture_node* nodes,
                   uint32_t count,
                   const uint64_t* integer,
                   int after,
                   uint64_t result) {
  const struct tracso_piece* piece[tracso_most_capture_nodes];
  for (uint32_t i = 0; i < count; ++i) {
    const struct tracso_capture_node* node = &nodes[i];
    const uint32_t parent = (uint32_t)node->from - tracso_node_first;
    uint64_t from = 0;
    piece[i] = 0;
    if (((node->kind & tracso_capture_after) != 0) != after) {
      continue;
    }
    if (node->from < tracso_argument_registers) {
      from = integer[node->from];
    } else if (node->from == tracso_node_result) {
      from = result;
    } else if (parent < i && piece[parent] != 0 &&
               node->offset + sizeof from <= piece[parent]->bytes) {
      memcpy(&from, (const uint8_t*)(piece[parent] + 1) + node->offset, sizeof from);
    }
    const uint8_t of = (uint8_t)(tracso_piece_node + i);
    enum { fewest = 16 };  // a std::string begins with so many
    const uint32_t text_bytes = setup->text_bytes < fewest ? fewest : setup->text_bytes;
    const uint32_t most = node->bytes == 0 ? text_bytes : node->bytes;
    const struct tracso_piece* next = (void*)writing->at;
    if ((node->kind & tracso_capture_kind) == tracso_capture_text) {
      capture_text(writing, of, from, ~(uint64_t)0);
    } else {
      capture_bytes_of(writing, of, from, most, most);
      piece[i] = (const uint8_t*)next == writing->at ? 0 : next;
    }
  }
}

// --- the texts that a format of printf(3) asks for

struct values {  // the arguments behind the format, in the order of their kinds
  const struct tracso_call_words* words;
  uint32_t integers, floatings, on_stack;
};

// The next argument in an integer register or on the stack; `of` says where. 0: not captured.
static int next_integer(struct values* values, uint64_t* value, uint8_t* of) {
  if (values->integers < tracso_argument_registers) {
    *of = (uint8_t)values->integers;
    *value = values->words->integer[values->integers++];
    return 1;
  }
  if (values->on_stack >= values->words->stack_words) {
    return 0;
  }
  *of = (uint8_t)(tracso_piece_stack + values->on_stack);
  *value = values->words->stack[values->on_stack++];
  return 1;
}

static void skip_floating(struct values* values) {
  enum { registers = 8 };
  if (values->floatings < registers) {
    ++values->floatings;
  } else {
    ++values->on_stack;
  }
}

static int is_one_of(char character, const char* characters) {
  for (; *characters != 0; ++characters) {
    if (*characters == character) {
      return 1;
    }
  }
  return 0;
}

// The digits, or the argument that stands for them. ~0: none.
static uint64_t number_in_format(const char** at, struct values* values) {
  uint64_t number = ~(uint64_t)0;
  uint8_t of = 0;
  if (**at == '*') {
    ++*at;
    if (!next_integer(values, &number, &of) || (int32_t)number < 0) {
      return ~(uint64_t)0;
    }
    return (uint32_t)number;
  }
  for (; **at >= '0' && **at <= '9'; ++*at) {
    number = (number == ~(uint64_t)0 ? 0 : number * 10 % 1000000) + (uint64_t)(**at - '0');
  }
  return number;
}

// One conversion, behind its %. 0: what follows cannot be told.
static int follow_conversion(struct writing* writing, const char** at, struct values* values) {
  while (is_one_of(**at, "-+ #0'I")) {
    ++*at;
  }
  number_in_format(at, values);
  if (**at == '$') {
    return 0;  // numbered arguments
  }
  uint64_t precision = ~(uint64_t)0;
  if (**at == '.') {
    ++*at;
    const int stands_there = **at == '*' || (**at >= '0' && **at <= '9');
    precision = stands_there ? number_in_format(at, values) : 0;
  }
  int wide = 0;
  int is_long_double = 0;
  for (; is_one_of(**at, "hlLqjzt"); ++*at) {
    wide |= **at == 'l';
    is_long_double |= **at == 'L';
  }
  const char conversion = **at;
  uint64_t value = 0;
  uint8_t of = 0;
  if (conversion == 0) {
    return 0;
  }
  ++*at;
  if (conversion == '%' || conversion == 'm') {
    return 1;
  }
  if (is_one_of(conversion, "aAeEfFgG")) {
    skip_floating(values);
    return !is_long_double;
  }
  if (!next_integer(values, &value, &of)) {
    return 0;
  }
  if (conversion == 's' && !wide) {
    capture_text(writing, of, value, precision);
  }
  return 1;
}

void capture_format(struct writing* writing,
                    uint8_t of,
                    uint64_t from,
                    const struct tracso_call_words* words) {
  // The text as it was copied, whose end is not there if it is a long one.
  uint8_t* start = writing->at;
  capture_text_of(writing, of, from, ~(uint64_t)0, TRACSO_FORMAT_BYTES);
  if (writing->at == start) {
    return;
  }
  char format[TRACSO_FORMAT_BYTES + 1];
  const uint32_t bytes = ((struct tracso_piece*)(void*)start)->bytes;
  memcpy(format, start + sizeof(struct tracso_piece), bytes);
  format[bytes] = 0;
  struct values values = {words, (uint32_t)of + 1, 0, 0};
  const char* at = format;
  while (*at != 0) {
    if (*at++ == '%' && !follow_conversion(writing, &at, &values)) {
      return;
    }
  }
}
