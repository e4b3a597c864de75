#pragma once
// A program with plugins that load plugins, built for the loader that a compiler links for.

#include <string>

namespace tracso::test {

/// Where the parts are. program; plugin.so; inner.so, which needs leaf.so; needy.so, which needs
/// gone.so, which is not there; undefined.so, which needs a symbol; old.so, which needs a version
/// that version.so does not have; missing and refused, programs that need gone.so and old.so.
struct PluginPrograms {
  std::string program, folder;

  std::string operator/(const std::string& file) const { return folder + "/" + file; }
};

/// Builds it in a folder of its own below the build folder; `tag` names that. Fails the test where
/// the compiler is missing.
///
/// The program does what its arguments say, one after the other: open:FILE, plugin:FILE (the first
/// opened object opens it), space:FILE (in a new namespace), close:FILE, symbol (asks for one that
/// is not there), thread:FILE (opens and closes it 20 times in each of 8 threads), fork:FILE,
/// exec:FILE (becomes itself with open:FILE). What fails it prints with the loader's words.
PluginPrograms plugin_programs(const std::string& tag, const std::string& compiler = "cc");

}  // namespace tracso::test
