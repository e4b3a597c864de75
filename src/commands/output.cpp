#include "commands/output.hpp"

#include "base/result.hpp"
#include "base/text.hpp"
#include "commands/progress.hpp"
#include "os/disk.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tracso {
namespace {

// Large graphs take Graphviz long; its limit is its own.
constexpr std::chrono::milliseconds graphviz_limit{60'000};

Error no_graphviz(const std::string& written) {
  return {ErrorKind::missing_tool,
          "draw",
          written,
          "Graphviz ('dot') is not on this machine",
          fmt::format("wrote {} instead; install graphviz, or draw it elsewhere: dot -Tsvg {}",
                      written,
                      written)};
}

std::string with_extension(const std::string& path, std::string_view extension) {
  return path.substr(0, path.rfind('.')) + std::string(extension);
}

Result<CommandOutput> run_graphviz(const std::string& dot,
                                   const OutputOptions& options,
                                   const CommandRunner& commands) {
  const Progress progress("drawing " + *options.file + " with Graphviz");
  return commands.run({{"dot", "-T" + options.image}, dot, graphviz_limit});
}

// A file that appears without a word is looked for in vain.
Result<Done> written(Result<Done> done, const std::string& path, const OutputOptions& options) {
  if (done && !options.silent && !path.starts_with("/dev/")) {
    say("wrote " + path);
  }
  return done;
}

Result<Done> draw(const std::string& dot,
                  const OutputOptions& options,
                  const CommandRunner& commands) {
  const std::string& path = *options.file;
  const auto image = run_graphviz(dot, options, commands);
  if (image && image->status == 0 && !image->out.empty()) {
    return written(os::write_output_file(path, image->out), path, options);
  }
  const std::string fallback = with_extension(path, ".dot");
  if (auto done = os::write_output_file(fallback, dot); !done) {
    return done;
  }
  if (!image && image.error().kind == ErrorKind::missing_tool) {
    return no_graphviz(fallback);
  }
  Error error = image ? Error{ErrorKind::failed,
                              "draw",
                              path,
                              fmt::format("Graphviz gave up with status {}", image->status),
                              ""}
                      : image.error();
  error.hint = fmt::format("wrote {} instead; --depth or --limit draw less", fallback);
  return error;
}

}  // namespace

Result<Done> deliver(const std::string& text,
                     const OutputOptions& options,
                     const CommandRunner& commands) {
  if (options.form == "image") {
    return draw(text, options, commands);
  }
  if (options.file && *options.file != "-") {
    return written(os::write_output_file(*options.file, text), *options.file, options);
  }
  return print_out(text);
}

Result<Done> print_out(std::string_view text) {
  auto done = os::write_descriptor(STDOUT_FILENO, text, "stdout");
  if (!done && done.error().kind == ErrorKind::interrupted) {
    return Done{};  // tracso | head
  }
  return done;
}

void keep_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // The lowest free number: this one, for those below it are open by now.
      static_cast<void>(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
  }
}

int fail(const Error& error) {
  std::fputs((sentence(error) + "\n").c_str(), stderr);
  return exit_status(error.kind);
}

void say(const std::string& text) {
  std::fputs(("tracso: " + printable(text) + "\n").c_str(), stderr);
}

}  // namespace tracso
