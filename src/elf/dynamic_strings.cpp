#include "elf/dynamic_strings.hpp"

#include <elf.h>

#include <utility>

namespace tracso::elf {

bool names_string(std::uint64_t tag) {
  switch (tag) {
    case DT_NEEDED:
    case DT_FILTER:
    case DT_AUXILIARY:
    case DT_SONAME:
    case DT_RPATH:
    case DT_RUNPATH:
    case DT_AUDIT:
    case DT_DEPAUDIT:
      return true;
    default:
      return false;
  }
}

void add_string(DynamicSection& section, std::uint64_t tag, std::string text) {
  using Kind = NeededEntry::Kind;
  switch (tag) {
    case DT_NEEDED:
      section.needed.push_back({Kind::needed, std::move(text)});
      break;
    case DT_FILTER:
      section.needed.push_back({Kind::filter, std::move(text)});
      break;
    case DT_AUXILIARY:
      section.needed.push_back({Kind::auxiliary, std::move(text)});
      break;
    case DT_SONAME:
      section.soname = std::move(text);
      break;
    case DT_RPATH:
      section.rpath = std::move(text);
      break;
    case DT_RUNPATH:
      section.runpath = std::move(text);
      break;
    case DT_AUDIT:
      section.audit.push_back(std::move(text));
      break;
    case DT_DEPAUDIT:
      section.depaudit.push_back(std::move(text));
      break;
    default:
      break;
  }
}

}  // namespace tracso::elf
