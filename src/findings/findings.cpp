#include "tracso/findings.hpp"

#include "findings/evidence.hpp"
#include "findings/rules.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tracso {
namespace {

using findings::Evidence;
using Check = std::vector<Finding> (*)(const Evidence&);

struct Row {
  FindingKind kind;
  Check check;  ///< nullptr: what describes is found of a grouped trace, by descriptions()
};

// A new rule is a function of findings/rules.hpp, a row here, a test that raises it and one that
// must not.
constexpr std::array rows{
    Row{{"ldpath-shadow-python",
         "an interpreter runs with the libpython of another one",
         "LD_LIBRARY_PATH names a directory with another libpython of the same name. The program "
         "is of one Python, "
         "the code that runs is of the other: modules, paths and fixes are mixed.",
         "Take the directory out of LD_LIBRARY_PATH for this program, or start the other "
         "interpreter."},
        findings::shadowed_python},
    Row{{"mixed-libc",
         "glibc and musl in one process",
         "Two C libraries each believe that they own the heap, the threads and errno.",
         "Find with --why who needs the foreign one; install the build of that package for this "
         "system."},
        findings::mixed_libc},
    Row{{"missing-needed",
         "a needed library is not there",
         "An object names a library that nothing provides. A file will not start or load; in a "
         "running process the "
         "library was there when it was loaded, or was satisfied in a way that is not seen.",
         "--why NAME lists the places searched. Install the package that has it, or mend the "
         "RUNPATH of who needs it."},
        findings::missing_needed},
    Row{{"wrong-arch",
         "a needed library is there for another machine only",
         "The loader passes over files of another class or machine in silence and then says that "
         "there is none.",
         "Install the library for the architecture of the program."},
        findings::wrong_architecture},
    Row{{"missing-version",
         "a library lacks a symbol version that another one was built against",
         "The library that was found is older than (or another than) the one that was there at "
         "build time.",
         "Use the newer file that the evidence names, or rebuild against the old one."},
        findings::missing_versions},
    Row{{"undefined-symbol",
         "a symbol that nothing defines",
         "An object wants a function or a variable that neither it nor anything loaded with it "
         "defines. Bound at once, the load fails; bound at the first call, the process ends there "
         "('symbol lookup error'). A plug-in may mean one that the program brings which loads it.",
         "Link it to the library that has the symbol (-Wl,-z,defs finds this at build time), or "
         "install the version that it was built against."},
        findings::undefined_symbols},
    Row{{"load-refused",
         "the loader refused a library while --run looked on",
         "A dlopen (an import of Python is one) failed, or the program did not start. It is a note "
         "where a name was tried and no file answers: many programs try and go on. A file that is "
         "there and was turned down, or that lacks what it needs, is a warning.",
         "The evidence has the loader's words, what they mean, who asked, and each place where it "
         "looked. tracso --tree shows the moment in the order of loads."},
        findings::refused_loads},
    Row{{"ldpath-override",
         "LD_LIBRARY_PATH wins over the copy that a library was built to use",
         "The library carries a RUNPATH to its own copy; the variable is asked first, so another "
         "build was loaded.",
         "If it is not on purpose (environment modules, a wrapper), unset the variable for this "
         "program."},
        findings::library_path_override},
    Row{{"interposed",
         "functions of one library are served by another one",
         "The loader takes the first library that exports a name, whoever the caller was linked "
         "to. Between two builds of one library that is fatal: structures of one are given to the "
         "functions of the other. Elsewhere it may be meant.",
         "tracso --bindings PID lists them. Load the packages in separate processes, take them "
         "from one source, or build one with hidden symbols or symbol versions."},
        findings::interposed_functions},
    Row{{"stub-cuda",
         "the CUDA driver's stub is loaded",
         "The file in .../stubs/ has the names of the driver's functions and nothing behind them; "
         "it is for linking on machines without a GPU.",
         "Take the stubs directory out of LD_LIBRARY_PATH and RUNPATH."},
        findings::cuda_stubs},
    Row{{"dup-openmp",
         "two OpenMP runtimes",
         "Each keeps a pool of threads of its own: the processor is overbooked, and some pairs "
         "stop with an error or hang.",
         "Take the packages from one source that agrees on a runtime (all wheels or all conda), or "
         "link both to one."},
        findings::duplicate_openmp},
    Row{{"dup-openssl",
         "two builds of OpenSSL",
         "Harmless as long as symbol versions keep them apart; one object that uses both, or one "
         "symbol that crosses "
         "over, corrupts memory.",
         "Let the packages use the system's OpenSSL (build from source), or one wheel's."},
        findings::duplicate_openssl},
    Row{{"dup-library",
         "several builds of one library",
         "Wheels bundle copies. Libraries with a global state (HDF5, libxml2, protobuf, Qt, GLib) "
         "do not see each "
         "other's; others only cost memory.",
         "Take the packages from one source, or build one of them against the other's library."},
        findings::duplicate_libraries},
    Row{{"dup-soname",
         "two files with one DT_SONAME",
         "The loader knows libraries by this name: who asks for it gets the one that came first.",
         "Rename one (patchelf --set-soname), or keep one."},
        findings::duplicate_sonames},
    Row{{"allocators",
         "malloc is several libraries'",
         "Memory that one allocator gave out must go back to the same one; a pointer that crosses "
         "over corrupts the heap.",
         "tracso --bindings=malloc PID says who calls which; preload one allocator for all."},
        findings::several_allocators},
    Row{{"mixed-cuda",
         "parts of one CUDA library from several places",
         "cuDNN and cuBLAS are split into files that must be of one release.",
         "Take them from one package; look at LD_LIBRARY_PATH."},
        findings::mixed_cuda},
    Row{{"py-abi",
         "an extension module was built for another Python",
         "Its file name says for which; the structures of the interpreter may differ.",
         "Install the wheel for this version, and look at PYTHONPATH."},
        findings::other_python_abi},
    Row{{"replaced",
         "the process runs an older file than the disk has",
         "An upgrade put a new file at the path. The process goes on with the old one, holes "
         "included.",
         "Restart it. --why NAME says what a restart would load."},
        findings::replaced_files},
    Row{{"deleted",
         "a library in use is deleted on disk",
         "The file is gone while it is mapped: its space is not free yet, and a restart may not "
         "find it.",
         "Restart the process when that suits; check that the package is still installed."},
        findings::deleted_files},
    Row{{"rewritten",
         "a library was overwritten in place",
         "The pages that are read from now on are of the new content, those in memory of the old "
         "one.",
         "Restart the process; install files by rename, not by copying over them."},
        findings::rewritten_files},
    Row{{"preload-missing",
         "a preload did not load",
         "LD_PRELOAD or /etc/ld.so.preload names a file that the loader did not take; it warns "
         "once and goes on.",
         "Mend the path, or take the entry out."},
        findings::missing_preloads},
    Row{{"path-empty",
         "a library search goes to the current directory",
         "An empty or relative element of RPATH, RUNPATH or LD_LIBRARY_PATH means wherever the "
         "program was started: who can write there decides what is loaded.",
         "patchelf --set-rpath with absolute directories or $ORIGIN; "
         "LD_LIBRARY_PATH=/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} leaves nothing behind the "
         "colon."},
        findings::empty_paths},
    Row{{"path-writable",
         "others may change what is loaded",
         "A library, its directory or a directory in which the loader looks can be written by "
         "somebody beside root and the user of the process: he decides what it runs. It is an "
         "error "
         "where the process is root's, and where anybody may put a file before the one that is "
         "loaded now. Groups and access lists are not looked at.",
         "chmod o-w, or chown to root or to the user of the process."},
        findings::writable_places},
    Row{{"path-gone",
         "the loader looks in a directory that anybody may make",
         "An element of RPATH, RUNPATH or LD_LIBRARY_PATH does not exist, and anybody may write "
         "where it would stand: who makes it decides what is loaded.",
         "Take the element out (patchelf --set-rpath), or make the directory as root."},
        findings::creatable_paths},
    Row{{"mem-rwx",
         "memory that can be written and executed",
         "What is written there runs. Compilers at run time need it for a moment; they are named "
         "where they are known.",
         "An executable [stack] comes of a library that execstack names."},
        findings::writable_code},
    Row{{"threads-over",
         "more threads of maths runtimes than processors",
         "OpenMP, OpenBLAS, MKL and TBB each start as many threads as they see processors, and see "
         "those of the machine where a container may use few. At work together they wait for each "
         "other; asleep they cost memory.",
         "OMP_NUM_THREADS, OPENBLAS_NUM_THREADS or MKL_NUM_THREADS before the start, or the "
         "package threadpoolctl."},
        findings::too_many_threads},
    Row{{"fd-pressure",
         "file descriptors are nearly used up",
         "Opening anything fails then, libraries and modules too.",
         "tracso fds PID lists them; ulimit -n raises the limit."},
        findings::scarce_descriptors},
    Row{{"tmp-library",
         "code is mapped from a place for temporary files",
         "Programs that unpack themselves and compilers at run time do so; anybody else should "
         "not, and others may "
         "be able to write there.",
         "Look at its owner and mode; --why NAME says who loaded it."},
        findings::temporary_libraries},
    Row{{"execstack",
         "a library asks for an executable stack",
         "All stacks of the process become executable. glibc 2.41 and later refuse to dlopen such "
         "a library.",
         "patchelf --clear-execstack FILE, or link it with -z noexecstack."},
        findings::executable_stacks},
    Row{{"textrel",
         "relocations in code",
         "The loader has to write into the code of the library: its pages are not shared, and are "
         "writable meanwhile.",
         "Build it with -fPIC."},
        findings::text_relocations},
    Row{{"static-tls",
         "static TLS taken by libraries that came with dlopen",
         "The room for it is fixed at the start; what comes late may find it used up ('cannot "
         "allocate memory in "
         "static TLS block').",
         "Load it earlier (import it first, LD_PRELOAD), or raise "
         "GLIBC_TUNABLES=glibc.rtld.optional_static_tls."},
        findings::static_tls},
    Row{{"arena-heavy",
         "much memory lies in malloc's arenas",
         "glibc gives threads arenas of their own, up to eight for each processor of the machine, "
         "and each keeps what is freed in it.",
         "MALLOC_ARENA_MAX=2, or GLIBC_TUNABLES=glibc.malloc.arena_max=2; malloc_trim(3)."},
        findings::heavy_arenas},
    Row{{"path-cwd",
         "a library was opened by a relative name",
         "Its name was followed from the directory the process was in at that moment: from another "
         "one, another file is loaded or none.",
         "Give dlopen an absolute path, or $ORIGIN in RUNPATH."},
        findings::relative_files},
    Row{{"preload-late",
         "a variable of the loader was changed after the start",
         "The loader reads LD_LIBRARY_PATH, LD_PRELOAD and LD_AUDIT once, when the program starts. "
         "What was set later counts for the programs that this one starts, not for its own "
         "dlopen.",
         "If it was meant for this process, set it before the start or start it again "
         "(execve)."},
        findings::late_variables},
    Row{{"preload-active",
         "libraries were brought in by a preload",
         "They come before all others: their symbols win.",
         "Nothing, if it is meant."},
        findings::active_preloads},
    Row{{"dup-identical",
         "one build loaded from several files",
         "Copies of the same bytes each take memory of their own.",
         "Link them to one file."},
        findings::identical_copies},
    Row{{"needed-unused",
         "libraries that were needed and not called so far",
         "They cost time and memory at each start. It says nothing of later, and constructors "
         "may have run.",
         "tracso --unused PID lists all; link with --as-needed, or load them when they are used."},
        findings::unused_libraries},
    Row{{"net-fs",
         "libraries on a network file system",
         "The process stops when the server does, and may crash where the file changes there.",
         "Install them on a local disk if it matters."},
        findings::remote_files},
    Row{{"setuid-env",
         "LD_LIBRARY_PATH was ignored",
         "A set-user-ID program, or one with capabilities, starts in secure mode: the loader "
         "takes no paths from its caller.",
         "Use RUNPATH or ld.so.conf for such programs."},
        findings::ignored_variables},
    Row{{"prediction-differs",
         "a restart would load another file",
         "By the loader's rules, as things are now, another file would be chosen than the one that "
         "is mapped: the "
         "environment, the cache or the files have changed since.",
         "--why NAME shows the search."},
        findings::prediction_differs},
    Row{{"namespace",
         "objects in a namespace of their own",
         "dlmopen gave them link maps, and copies of libraries, of their own.",
         "Nothing, if it is meant (auditors, plug-in hosts)."},
        findings::own_namespaces},
    Row{{"probe-skipped",
         "Python's modules could not be read",
         "Neither its memory nor gdb told which modules are loaded. Packages are then guessed from "
         "the places of files: pure Python modules, and who imports whom, are not seen.",
         "The evidence says why, and what to try."},
        findings::skipped_probe},
    Row{{"shared-by",
         "one library that several packages load",
         "It describes and accuses nobody: none of these packages alone is to blame for its bytes, "
         "and taking one of them away does not free them.",
         "tracso --why NAME PID shows each way in.",
         true},
        nullptr},
    Row{{"heavy-one",
         "one package or library weighs most",
         "A package with 30 % of all bytes on disk, a library with 20 %, or one with more than "
         "half of what libraries have in memory. That is where saving begins, not a fault.",
         "tracso --why NAME PID says who wants it; --unused whether it is called.",
         true},
        nullptr},
    Row{{"orphan",
         "libraries that no package and no library asked for by name",
         "They came by a dlopen whose caller is not known, by the C library itself (name services, "
         "character sets), or their package was not seen.",
         "tracso --run sees the caller of each dlopen.",
         true},
        nullptr},
};

constexpr auto kinds = [] {
  std::array<FindingKind, rows.size()> all{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all[i] = rows[i].kind;
  }
  return all;
}();

std::uint64_t bytes_about(const Trace& trace, const Finding& finding) {
  std::uint64_t sum = 0;
  for (const NodeId node : finding.nodes) {
    sum += trace.graph[node].cost.file.value_or(0);
  }
  return sum;
}

}  // namespace

std::span<const FindingKind> finding_kinds() {
  return kinds;
}

const FindingKind* find_finding_kind(std::string_view code) {
  const auto found = std::find_if(
      kinds.begin(), kinds.end(), [&](const FindingKind& kind) { return kind.code == code; });
  return found == kinds.end() ? nullptr : &*found;
}

std::vector<Finding> find_problems(const Trace& trace, const ProblemFacts& facts) {
  const Evidence evidence(trace, facts);
  std::vector<Finding> all;
  for (const Row& row : rows) {
    if (row.check == nullptr) {
      continue;
    }
    for (Finding& finding : row.check(evidence)) {
      finding.what_to_do = std::string(row.kind.what_to_do);
      all.push_back(std::move(finding));
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const Finding& one, const Finding& other) {
    if (one.severity != other.severity) {
      return one.severity < other.severity;
    }
    return bytes_about(trace, one) > bytes_about(trace, other);
  });
  return all;
}

}  // namespace tracso
