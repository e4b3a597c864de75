#pragma once
// By which rule the loader chooses a file, and each place it looks: the evidence behind every
// answer to --why.

#include <cstdint>
#include <string>

namespace tracso {

/// The rule of the loader by which the file was chosen (elf(5), ld.so(8)).
enum class Rule : std::uint8_t {
  none,  ///< not found, or no search belongs to this edge
  direct,
  already_loaded,
  rpath,
  env,
  runpath,
  cache,
  default_dir,
  preload,
  reserved  ///< musl: a name that stands for the loader itself
};

struct SearchStep {
  enum class Outcome : std::uint8_t {
    found,        ///< this file won
    absent,       ///< nothing of that name there
    wrong_class,  ///< 32/64 bit or another machine: skipped by the loader
    denied,       ///< not readable: skipped by the loader
    skipped,      ///< not asked (DF_1_NODEFLIB, AT_SECURE); note says why
    fatal,        ///< the loader gives up here; note has its words
    lost          ///< would have been found, had not an earlier place won
  };
  Rule place = Rule::none;  ///< whose turn it was
  std::string setting;      ///< "RUNPATH of /x/_core.so", "LD_LIBRARY_PATH entry 2", "ld.so.cache"
  std::string directory;    ///< the directory tried, or the file for cache and direct
  Outcome outcome = Outcome::absent;
  std::string path;  ///< the file found, lost or refused; empty: absent
  std::string note;
  bool operator==(const SearchStep&) const = default;
};

}  // namespace tracso
