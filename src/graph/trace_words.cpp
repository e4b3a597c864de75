#include "graph/trace_words.hpp"

#include <array>

namespace tracso {

std::span<const Word<EdgeKind>> words(EdgeKind /*type*/) {
  static constexpr std::array table{Word<EdgeKind>{EdgeKind::origin, "origin"},
                                    Word<EdgeKind>{EdgeKind::interpreter, "interpreter"},
                                    Word<EdgeKind>{EdgeKind::needed, "needed"},
                                    Word<EdgeKind>{EdgeKind::filter, "filter"},
                                    Word<EdgeKind>{EdgeKind::auxiliary, "auxiliary"},
                                    Word<EdgeKind>{EdgeKind::preload, "preload"},
                                    Word<EdgeKind>{EdgeKind::audit, "audit"},
                                    Word<EdgeKind>{EdgeKind::dlopen, "dlopen"}};
  return table;
}

std::span<const Word<Witness>> words(Witness /*type*/) {
  static constexpr std::array table{Word<Witness>{Witness::maps, "maps"},
                                    Word<Witness>{Witness::link_map, "link_map"},
                                    Word<Witness>{Witness::dynamic_section, "dynamic_section"},
                                    Word<Witness>{Witness::environment, "environment"},
                                    Word<Witness>{Witness::sys_modules, "sys_modules"},
                                    Word<Witness>{Witness::trace, "trace"},
                                    Word<Witness>{Witness::path, "path"}};
  return table;
}

std::span<const Word<Rule>> words(Rule /*type*/) {
  static constexpr std::array table{Word<Rule>{Rule::direct, "direct"},
                                    Word<Rule>{Rule::already_loaded, "already-loaded"},
                                    Word<Rule>{Rule::rpath, "rpath"},
                                    Word<Rule>{Rule::env, "env"},
                                    Word<Rule>{Rule::runpath, "runpath"},
                                    Word<Rule>{Rule::cache, "cache"},
                                    Word<Rule>{Rule::default_dir, "default"},
                                    Word<Rule>{Rule::preload, "preload"},
                                    Word<Rule>{Rule::reserved, "reserved"}};
  return table;
}

std::span<const Word<SearchStep::Outcome>> words(SearchStep::Outcome /*type*/) {
  using Outcome = SearchStep::Outcome;
  static constexpr std::array table{Word<Outcome>{Outcome::found, "found"},
                                    Word<Outcome>{Outcome::absent, "absent"},
                                    Word<Outcome>{Outcome::wrong_class, "wrong-class"},
                                    Word<Outcome>{Outcome::denied, "denied"},
                                    Word<Outcome>{Outcome::skipped, "skipped"},
                                    Word<Outcome>{Outcome::fatal, "fatal"},
                                    Word<Outcome>{Outcome::lost, "lost"}};
  return table;
}

std::span<const Word<ObjectFile::State>> words(ObjectFile::State /*type*/) {
  using State = ObjectFile::State;
  static constexpr std::array table{Word<State>{State::current, "current"},
                                    Word<State>{State::deleted, "deleted"},
                                    Word<State>{State::replaced, "replaced"},
                                    Word<State>{State::rewritten, "rewritten"},
                                    Word<State>{State::missing, "missing"}};
  return table;
}

std::span<const Word<ObjectFile::Role>> words(ObjectFile::Role /*type*/) {
  using Role = ObjectFile::Role;
  static constexpr std::array table{Word<Role>{Role::executable, "executable"},
                                    Word<Role>{Role::library, "library"},
                                    Word<Role>{Role::loader, "loader"}};
  return table;
}

std::span<const Word<Finding::Severity>> words(Finding::Severity /*type*/) {
  using Severity = Finding::Severity;
  static constexpr std::array table{Word<Severity>{Severity::error, "error"},
                                    Word<Severity>{Severity::warning, "warning"},
                                    Word<Severity>{Severity::note, "note"}};
  return table;
}

std::span<const Word<ElfClass>> words(ElfClass /*type*/) {
  static constexpr std::array table{Word<ElfClass>{ElfClass::elf32, "elf32"},
                                    Word<ElfClass>{ElfClass::elf64, "elf64"}};
  return table;
}

std::span<const Word<ByteOrder>> words(ByteOrder /*type*/) {
  static constexpr std::array table{Word<ByteOrder>{ByteOrder::little, "little"},
                                    Word<ByteOrder>{ByteOrder::big, "big"}};
  return table;
}

std::span<const Word<NeededEntry::Kind>> words(NeededEntry::Kind /*type*/) {
  using Kind = NeededEntry::Kind;
  static constexpr std::array table{Word<Kind>{Kind::needed, "needed"},
                                    Word<Kind>{Kind::filter, "filter"},
                                    Word<Kind>{Kind::auxiliary, "auxiliary"}};
  return table;
}

}  // namespace tracso
