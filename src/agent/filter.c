// What was asked for, decided once per slot when it is patched: a call that nobody asked for goes
// through an unpatched slot and costs nothing.

#include "agent.h"

// One bracket expression: "[a-z]" against a character; *pattern is left behind it.
static int bracket(const char** pattern, char character) {
  const char* at = *pattern + 1;
  const int negated = *at == '!' || *at == '^';
  int found = 0;
  at += negated;
  const char* first = at;
  while (*at != 0 && (*at != ']' || at == first)) {
    if (at[1] == '-' && at[2] != ']' && at[2] != 0) {
      found = found || (at[0] <= character && character <= at[2]);
      at += 3;
    } else {
      found = found || *at == character;
      ++at;
    }
  }
  *pattern = *at == ']' ? at + 1 : at;
  return found != negated;
}

// The whole text against * ? and [..]. On a mismatch the last * takes one character more, so the
// time is at most the product of both lengths.
int glob(const char* pattern, const char* text) {
  const char* star = 0;
  const char* star_text = 0;
  while (*text != 0) {
    const char* next = pattern;
    if (*pattern == '*') {
      star = ++pattern;
      star_text = text;
      continue;
    }
    int fits = *pattern == '?' || (*pattern == *text && *pattern != '[');
    if (*pattern == '[') {
      fits = bracket(&next, *text);
    } else {
      next = pattern + 1;
    }
    if (fits && *pattern != 0) {
      pattern = next;
      ++text;
    } else if (star != 0) {
      pattern = star;
      text = ++star_text;
    } else {
      return 0;
    }
  }
  while (*pattern == '*') {
    ++pattern;
  }
  return *pattern == 0;
}

// "MAIN" is the program, which its own name fits too; a pattern that begins with a slash is one of paths.
static int library_fits(const char* pattern, uint32_t object) {
  if (*pattern == 0 || same_text(pattern, "*")) {
    return 1;
  }
  if (object == UINT32_MAX) {
    return 1;  // not known yet: it may be (rebinding.c asks again)
  }
  if (same_text(pattern, "MAIN")) {
    return is_main_program(object);
  }
  const char* name = is_main_program(object) ? region->head.program : object_name(object);
  return glob(pattern, *pattern == '/' ? name : last_name(name));
}

// Rules of one option are a chain: the last that fits decides. A chain that begins with '-' starts
// from everything. It is enough that one chain selects.
static int chains_select(const char* symbol, uint32_t caller, uint32_t callee) {
  int any = setup->rules == 0;
  for (uint32_t i = 0; i < setup->rules && i < tracso_most_rules && !any;) {
    const uint16_t chain = setup->rule[i].chain;
    int selected = setup->rule[i].exclude;
    for (; i < setup->rules && i < tracso_most_rules && setup->rule[i].chain == chain; ++i) {
      const struct tracso_rule* rule = &setup->rule[i];
      if (glob(rule->symbol, symbol) &&
          library_fits(rule->library, rule->callee ? callee : caller)) {
        selected = !rule->exclude;
      }
    }
    any = selected;
  }
  return any;
}

int is_callee_selected(uint32_t callee) { return library_fits(setup->callee, callee); }

int is_selected(const char* symbol, uint32_t caller, uint32_t callee) {
  return library_fits(setup->caller, caller) && is_callee_selected(callee) &&
         chains_select(symbol, caller, callee);
}

static int compare(const char* one, const char* other) {
  while (*one != 0 && *one == *other) {
    ++one;
    ++other;
  }
  return (unsigned char)*one - (unsigned char)*other;
}

uint8_t error_rule_of(const char* symbol) {
  uint32_t low = 0;
  uint32_t high = setup->error_rules;
  while (low < high && high <= tracso_most_error_rules) {
    const uint32_t middle = (low + high) / 2;
    const int order = compare(symbol, setup->error_rule[middle].name);
    if (order == 0) {
      return setup->error_rule[middle].when;
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return tracso_never;
}

// Of a long name its beginning and a hash of all of it (FNV-1a), for rules have little room.
static const char* key_of(const char* symbol, char* room) {
  enum { digits = 16, kept = tracso_capture_name_bytes - 1 - digits };
  const size_t length = text_length(symbol);
  if (length < tracso_capture_name_bytes) {
    return symbol;
  }
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ (unsigned char)symbol[i]) * 0x100000001b3u;
  }
  memcpy(room, symbol, kept);
  for (int i = 0; i < digits; ++i) {
    room[kept + i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
  }
  room[tracso_capture_name_bytes - 1] = 0;
  return room;
}

static const struct tracso_capture_rule* rule_named(const char* symbol) {
  uint32_t low = 0;
  uint32_t high = setup->capture_rules;
  while (low < high && high <= tracso_most_capture_rules) {
    const uint32_t middle = (low + high) / 2;
    const int order = compare(symbol, setup->capture_rule[middle].name);
    if (order == 0) {
      return &setup->capture_rule[middle];
    }
    if (order < 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return 0;
}

// C++ functions without one have one in common, that of the name "_Z".
const struct tracso_capture_rule* capture_rule_of(const char* name) {
  char room[tracso_capture_name_bytes];
  const struct tracso_capture_rule* rule = rule_named(key_of(name, room));
  return rule == 0 && after_prefix(name, "_Z") != 0 ? rule_named("_Z") : rule;
}
