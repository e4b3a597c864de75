#pragma once
// What the user asked for, as plain data: made by cli/, carried out here.

#include "tracso/renderer.hpp"

#include "commands/calls_command.hpp"
#include "commands/dump_command.hpp"
#include "commands/gates.hpp"
#include "compare/budgets.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tracso {

/// Where a trace comes from.
struct PidSource {
  std::int32_t pid = 0;
};

struct FileSource {
  std::string path;
  std::optional<std::string> root;  ///< --root: a system tree with its own loader configuration
};

struct RunSource {
  enum class Moment : std::uint8_t { exit, idle, seconds };
  std::vector<std::string> argv;
  Moment at = Moment::exit;
  std::chrono::milliseconds after{0};  ///< of Moment::seconds
  bool follow = true;                  ///< its children, to their end
};

struct SavedSource {
  std::string path;
};

/// The last trace of this user on this boot.
struct LastSource {};

/// A process that is still to be chosen.
struct PickSource {
  enum class Mode : std::uint8_t { textual, curses, plain };
  Mode mode = Mode::textual;
  bool python_only = false;
  bool color = true;  ///< on the terminal it is chosen on
};

using TraceSource =
    std::variant<PidSource, FileSource, RunSource, SavedSource, LastSource, PickSource>;

struct OutputOptions {
  std::string form = "report";      ///< a name of renderers(), or "image"
  std::string image;                ///< "svg", "png", "pdf"
  std::optional<std::string> file;  ///< nullopt or "-": stdout
  RenderOptions render;
  std::size_t name_depth = 2;
  bool silent = false;           ///< no word of what was written: stderr is a command's
  ByteKind by = ByteKind::file;  ///< what ranks and draws the bars
};

/// --baseline, --save-baseline.
struct BaselineRequest {
  std::optional<std::string> save, compare;  ///< files
  Tolerances tolerances;
};

struct TraceRequest {
  TraceSource source;
  std::optional<std::string> why;
  std::optional<std::string> bindings;  ///< --bindings: of an object or a function; empty: all
  bool unused = false;
  std::string probe = "auto", elf = "auto";
  std::optional<std::chrono::milliseconds> calls;  ///< --calls: counted for so long
  bool children = false;
  bool costs = false;        ///< resident and private bytes are wanted
  bool relocations = false;  ///< and what the loader itself writes
  std::vector<Gate> gates;   ///< --fail-on
  std::vector<std::string> denied;
  BaselineRequest baseline;
  std::chrono::milliseconds timeout{5000};
  std::string timeout_hint;  ///< how to wait longer; empty: that cannot be chosen
  OutputOptions output;
  bool verbose = false;
  std::string note;  ///< said on stderr before anything is done; empty: nothing to say
};

struct RecordRequest {
  std::int32_t pid = 0;
  std::string destination;
  std::string probe = "auto", elf = "auto";
  std::chrono::milliseconds timeout{5000};
  bool verbose = false;
};

/// --who: all processes of this host.
struct WhoRequest {
  std::string name;
  OutputOptions output;
};

/// --as-child: programs under the environment of a process.
struct ChildRequest {
  std::int32_t pid = 0;
  std::vector<std::string> programs;
  std::string elf = "auto";
  std::chrono::milliseconds timeout{5000};
  OutputOptions output;
};

using Request =
    std::variant<TraceRequest, RecordRequest, WhoRequest, ChildRequest, DumpRequest, CallsRequest>;

/// Does what was asked; the exit status of cli.md: 0 done, 1 not found or unresolved, 2 usage, 3 no
/// such process, 4 not permitted, 5 a tool is missing, 6 not ELF or not our document, 126 and 127
/// for CMD, 130 interrupted.
int carry_out(const Request& request);

/// The exit status that stands for an Error.
int exit_status(ErrorKind kind);

/// The same of a CMD that could not be started: 127, 126, as a shell has it.
int status_of_start(const Error& error);

}  // namespace tracso
