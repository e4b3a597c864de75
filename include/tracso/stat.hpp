#pragma once
// What `tracso stat` says: the cost of one command, or of one process at one moment.

#include "tracso/python_memory.hpp"
#include "tracso/resources.hpp"
#include "tracso/trace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracso {

/// Sums over the libraries (the program itself is none), bytes.
struct LibraryCosts {
  std::size_t count = 0;
  std::uint64_t file = 0;
  std::optional<std::uint64_t> mapped, resident, private_bytes, relocations;
};

struct HeavyLibrary {
  std::string name, path;
  std::optional<std::uint64_t> file, resident, private_bytes;
  std::vector<std::string> owners;  ///< "py:torch._C"; empty: none is known
};

/// What descendants reached each for itself. Their peaks are of different moments: no sum.
struct ChildPeaks {
  std::size_t ended = 0;              ///< that were seen at their end
  std::size_t not_seen = 0;           ///< started, neither seen at their end nor left
  std::optional<std::uint64_t> peak;  ///< of the largest, of those that are left too; nullopt: none
  std::int32_t pid = 0;               ///< whose it is
  std::string name;                   ///< 15 bytes at most
  bool operator==(const ChildPeaks&) const = default;
};

/// Descriptors at two moments, compared by what they are open on and not by number: one that was
/// closed and opened again on another number has not changed.
struct DescriptorChange {
  std::size_t before = 0, after = 0;
  std::vector<Descriptor> opened;  ///< there now and not before, resolved
  std::vector<Descriptor> closed;  ///< there before and not now, by link only
  std::vector<Descriptor> leaked;  ///< the opened ones but for standard streams
};

/// One limit and how it was kept. `limit` is as the user wrote it.
struct Budget {
  std::string name;  ///< "max-peak", "no-leaks=fds", "deny", "regression:rss"
  std::string limit;
  std::optional<std::uint64_t> value;  ///< bytes or a number
  bool ok = true;
  std::string text;         ///< what was found, in words
  std::string remark = {};  ///< what the value does not tell; empty: nothing
};

/// The figures that runs and baselines are compared by.
struct StatFigures {
  std::optional<std::uint64_t> peak, rss, dirty, fds, threads, children, libs, wall_ns, cpu_ns;
  bool operator==(const StatFigures&) const = default;
};

/// --children: the process and all its descendants at that moment, zombies left out.
struct TreeTotals {
  std::size_t processes = 0;  ///< that are in the sums
  std::size_t unread = 0;     ///< that may not be read: the sums are too small
  /// Resident pages that several of them share count in each; private and dirty ones have one
  /// owner.
  MemoryByClass memory;
  std::uint64_t descriptors = 0, threads = 0;
};

/// A figure at two moments; `before` is nullopt where there was one look only.
struct Change {
  std::optional<std::uint64_t> before;
  std::uint64_t after = 0;
};

/// --attribution: what fills the resident memory, and what of it grew. The four parts sum to it.
struct ResidentParts {
  Change resident;
  Change python;           ///< pools of CPython's own allocator
  Change heap;             ///< malloc: C code, and Python's blocks of more than 512 bytes
  Change other_anonymous;  ///< mapped directly: large blocks of malloc, other allocators
  Change rest;             ///< libraries, stacks, files, shared memory
  std::optional<Change> python_blocks;  ///< what of the pools holds objects; nullopt: no Python
};

struct TypeChange {
  std::string type;
  Change objects, bytes;
};

struct LineChange {
  std::string file;
  std::uint32_t line = 0;
  Change blocks, bytes;
};

struct Attribution {
  std::optional<std::int64_t> first_ns;  ///< when, since the start of the command or of the watch
  std::int64_t last_ns = 0;
  /// How the moments were chosen: "Py_RunMain" (Python is set up), "Py_FinalizeEx" (its last whole
  /// moment), "exit stop", "look" (any); the first is empty where there was one look.
  std::string first_moment, last_moment;
  ResidentParts parts;
  std::string python_version;           ///< empty: objects were not counted
  Change objects, object_bytes;         ///< all that the collector tracks
  std::vector<TypeChange> types;        ///< what grew most first
  std::vector<LineChange> lines;        ///< the same
  bool lines_known = false;             ///< tracemalloc ran at the last look
  std::chrono::nanoseconds stopped{0};  ///< how long the process stood still for it
  std::vector<std::string> not_told;    ///< what is missing and why, sentences
};

/// --sample: resident memory looked at every few milliseconds.
struct MemorySamples {
  struct Peak {
    std::uint64_t bytes = 0;
    std::int64_t at_ns = 0;  ///< since the first sample
  };

  struct Interval {
    std::int64_t from_ns = 0, to_ns = 0;
    std::uint64_t resident = 0, anonymous = 0;  ///< the most of its samples
  };

  std::int64_t asked_ns = 0;  ///< the distance that was asked for
  std::size_t count = 0;
  std::int64_t longest_gap_ns = 0;  ///< what came and went within it was not seen
  Peak resident, anonymous;         ///< anonymous: resident but for files and shared memory
  std::vector<Interval> intervals;  ///< equally long, in order, those without a sample left out
};

/// stat -p --used: what the process touched within a time, of what it has in memory.
struct WorkingSet {
  struct Library {
    std::string name;
    std::uint64_t resident = 0, used = 0;
  };

  std::int64_t window_ns = 0;
  std::uint64_t resident = 0, used = 0;  ///< all mappings
  std::vector<Library> libraries;        ///< files mapped as code; most used first, then by name
  std::size_t untouched = 0;             ///< of these, no page was used
};

struct Stat {
  std::string target;  ///< "run:python3:4242", "pid:4242"
  std::string exe;
  std::int32_t pid = 0;
  std::optional<CommandInfo> command;  ///< nullopt: stat -p
  std::string moment;                  ///< "exit stop", "last look", "look"
  bool exact = true;                   ///< false: what happened after the last look is missing

  std::optional<std::uint64_t> peak, resident, private_bytes, virtual_;
  std::optional<MemoryByClass> memory;
  std::optional<MemoryByClass> memory_before;  ///< stat -p --for: at the first look
  LibraryCosts libraries;
  std::vector<HeavyLibrary> heaviest;
  /// Paths of all libraries, of several runs those of each: what a baseline and --deny look at.
  std::vector<std::string> library_names;
  bool libraries_known = false;  ///< false: of one run at least they could not be read

  std::optional<DescriptorChange> descriptors;
  /// How many are open, known also where they may not be listed.
  std::optional<std::uint64_t> descriptor_count;
  std::size_t threads_before = 0;
  std::vector<ThreadInfo> threads;     ///< alive at the moment, or until the end
  std::vector<ChildProcess> children;  ///< descendants and orphans
  std::size_t children_born = 0;       ///< all that it started itself
  ChildPeaks child_peaks;
  std::optional<TreeTotals> tree;  ///< --children
  std::optional<Attribution> attribution;
  std::optional<MemorySamples> samples;  ///< --sample
  std::optional<WorkingSet> used;        ///< --used
  Activity activity;
  std::optional<std::int64_t> cpu_ns, children_cpu_ns, wall_ns;
  std::vector<Budget> budgets;
  std::vector<StatFigures> runs;  ///< of --runs, one each
  std::vector<Notice> notices;
};

/// An earlier run, as --save-baseline wrote it.
struct Baseline {
  std::string version, kernel, target, huge_pages;
  std::uint64_t page_bytes = 0;
  StatFigures figures;
  std::vector<std::string> libraries;  ///< file names, sorted
};

/// Of one run.
StatFigures figures_of(const Stat& stat);

}  // namespace tracso
