#include "proc/loader_command.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace tracso::proc {
namespace {

constexpr std::string_view dashes = "--";

// glibc: those that change nothing of what is loaded.
constexpr std::array<std::string_view, 6> silent_options{
    "--list", "--verify", "--list-tunables", "--list-diagnostics", "--help", "--version"};

/// Takes an option with its value, as glibc writes it; false: it is none of these.
bool take_glibc_value(LoaderCommand& taken, std::string_view option, const std::string& value) {
  if (option == "--library-path") {
    taken.library_path = value;
  } else if (option == "--preload") {
    taken.preload = value;
  } else if (option == "--audit") {
    taken.audit.push_back(value);
  } else if (option == "--inhibit-rpath") {
    taken.inhibit_rpath = value;
  } else if (option == "--glibc-hwcaps-prepend") {
    taken.hwcaps_prepend = value;
  } else if (option == "--glibc-hwcaps-mask") {
    taken.hwcaps_mask = value;
  } else {
    return option == "--argv0";
  }
  return true;
}

LoaderCommand parse_glibc(std::span<const std::string> command) {
  LoaderCommand taken;
  std::size_t at = 1;
  while (at < command.size() && command[at].starts_with(dashes)) {
    const std::string& option = command[at];
    if (option == "--inhibit-cache") {
      taken.inhibit_cache = true;
      ++at;
    } else if (std::find(silent_options.begin(), silent_options.end(), option) !=
               silent_options.end()) {
      ++at;
    } else if (at + 1 < command.size() && take_glibc_value(taken, option, command[at + 1])) {
      at += 2;
    } else {
      taken.unknown = option;
      return taken;
    }
  }
  taken.program = at < command.size() ? command[at] : "";
  taken.words = std::min(at + 1, command.size());
  return taken;
}

// "--preload=X" or "--preload X"; musl knows three options with a value.
bool take_musl_value(LoaderCommand& taken, std::string_view option, const std::string& value) {
  if (option == "--library-path") {
    taken.library_path = value;
  } else if (option == "--preload") {
    taken.preload = value;
  } else {
    return option == "--argv0";
  }
  return true;
}

LoaderCommand parse_musl(std::span<const std::string> command) {
  LoaderCommand taken;
  std::size_t at = 1;
  while (at < command.size() && command[at].starts_with(dashes)) {
    const std::string_view word = command[at];
    ++at;
    if (word == dashes) {
      break;
    }
    const std::size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    const bool is_inside = equals != std::string_view::npos;
    if (word == "--list") {
      continue;
    }
    if (is_inside && take_musl_value(taken, option, std::string(word.substr(equals + 1)))) {
      continue;
    }
    if (!is_inside && at < command.size() && take_musl_value(taken, option, command[at])) {
      ++at;
      continue;
    }
    taken.unknown = word;
    return taken;
  }
  taken.program = at < command.size() ? command[at] : "";
  taken.words = std::min(at + 1, command.size());
  return taken;
}

}  // namespace

LoaderCommand parse_loader_command(std::span<const std::string> command, LoaderSyntax syntax) {
  return syntax == LoaderSyntax::musl ? parse_musl(command) : parse_glibc(command);
}

bool is_loader_name(std::string_view path) {
  const std::string_view name = base_name(path);
  const bool begins =
      name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64.so");
  return begins && name.find(".so") != std::string_view::npos;
}

}  // namespace tracso::proc
