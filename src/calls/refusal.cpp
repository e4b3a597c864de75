#include "calls/refusal.hpp"

#include "base/text.hpp"
#include "elf/file_image.hpp"
#include "elf/symbols.hpp"
#include "proc/script.hpp"

#include <elf.h>

#include <algorithm>

namespace tracso::calls {
namespace {

Error refuse(const TargetPath& program, std::string reason, std::string hint) {
  return {ErrorKind::denied,
          "trace the library calls of",
          program.text,
          std::move(reason),
          std::move(hint)};
}

// The run-time of a sanitizer wants to be first in the process and sees calls of its own; an agent
// before it crashes the program.
bool has_sanitizer(const File& file, const std::string& name) {
  auto table = elf::SymbolTable::open(file, name);
  if (!table) {
    return false;
  }
  for (const char* symbol : {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init"}) {
    const auto defined = table->defines(symbol, "");
    if (defined && *defined) {
      return true;
    }
  }
  const auto wanted = table->undefined();
  return wanted && std::any_of(wanted->begin(), wanted->end(), [](const auto& symbol) {
           return symbol.name == "__asan_init" || symbol.name == "__tsan_init" ||
                  symbol.name == "__msan_init" || symbol.name == "__lsan_init";
         });
}

}  // namespace

TargetPath started_program(const FileSystem& files, const TargetPath& path) {
  TargetPath program = path;
  for (int i = 0; i < proc::most_scripts; ++i) {
    const auto words = proc::script_words(files, program);
    if (!words || words->empty()) {
      return program;
    }
    program.text = words->front();
  }
  return program;
}

namespace {

// An Error, or nothing where the file cannot be read.
std::optional<Error> other_processor(const elf::FileImage& image, const TargetPath& program) {
  const auto& header = image.header();
  if (header.encoding.wide && header.machine == EM_X86_64) {
    return std::nullopt;
  }
  return refuse(program,
                "it is not an x86-64 program of 64 bits, the one kind that can be traced",
                "tracso --run shows what it loads");
}

Error statically_linked(const TargetPath& program) {
  return refuse(program,
                "it is statically linked: no call in it crosses from one library to another",
                "-x '*' shows calls of its functions, -S its system calls");
}

}  // namespace

std::optional<Error> engine_refusal(const FileSystem& files,
                                    const TargetPath& path,
                                    bool imports_only) {
  const TargetPath program = started_program(files, path);
  const auto file = files.open(program);
  const auto image =
      file ? elf::FileImage::open(**file, program.text) : Result<elf::FileImage>(file.error());
  if (!image) {
    return std::nullopt;
  }
  if (auto error = other_processor(*image, program)) {
    return error;
  }
  if (imports_only && image->segment(PT_INTERP) == nullptr) {
    return statically_linked(program);
  }
  return std::nullopt;
}

std::optional<Error> refusal(const FileSystem& files, const TargetPath& path) {
  const TargetPath program = started_program(files, path);
  const auto file = files.open(program);
  return file ? refusal_of_file(**file, program) : std::nullopt;
}

std::optional<Error> refusal_of_file(const File& file, const TargetPath& program) {
  const auto image = elf::FileImage::open(file, program.text);
  if (!image) {
    return std::nullopt;
  }
  if (auto error = other_processor(*image, program)) {
    return error;
  }
  if (image->segment(PT_INTERP) == nullptr) {
    return statically_linked(program);
  }
  if (has_sanitizer(file, program.text)) {
    return refuse(program,
                  "it is built with a sanitizer, whose run-time does not bear an agent beside it",
                  "a build without -fsanitize can be traced; --engine ptrace works from outside, "
                  "where LeakSanitizer does not");
  }
  return std::nullopt;
}

}  // namespace tracso::calls
