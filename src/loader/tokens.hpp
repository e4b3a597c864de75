#pragma once
// The text of search paths: dynamic string tokens and the elements between colons (ld.so(8), glibc
// elf/dl-load.c).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracso::loader {

/// What $ORIGIN, $LIB and $PLATFORM stand for; an empty one has no value.
struct TokenValues {
  std::string_view origin, lib, platform;
};

/// What AT_SECURE allows: everything; $ORIGIN only as the first component; that, and for the
/// program itself only if the result lies under one of the trusted directories.
enum class TokenTrust : std::uint8_t { all, first_component, trusted_directories };

struct TokenRules {
  TokenTrust trust = TokenTrust::all;
  const std::vector<std::string>* trusted = nullptr;  ///< needed for trusted_directories
};

/// True if the text holds $ORIGIN, $LIB or $PLATFORM, with or without braces. $ORIGINAL is no
/// token: the longest identifier counts.
bool has_token(std::string_view text);

/// The text with its tokens replaced; nullopt: a token has no value or AT_SECURE forbids it, and
/// the loader drops the text. A dollar sign that starts no token stays.
std::optional<std::string> expand_tokens(std::string_view text,
                                         const TokenValues& values,
                                         const TokenRules& rules = {});

/// One element of a search path.
struct PathElement {
  std::string written;    ///< as it stands between the separators
  std::size_t position;   ///< 1 for the first element
  bool dropped = false;   ///< a token without a value: the loader ignores the element
  std::string directory;  ///< ends in a slash; empty: the working directory
  bool operator==(const PathElement&) const = default;
};

/// The elements in order, tokens expanded, repeated directories left out. An empty text is no path
/// at all; an empty element is the working directory.
std::vector<PathElement> split_search_path(std::string_view text,
                                           std::string_view separators,
                                           const TokenValues& values,
                                           const TokenRules& rules = {});

/// The path from the root: a relative one is put behind the working directory. Nothing else
/// changes.
std::string absolute_path(std::string_view path, std::string_view working_directory);

}  // namespace tracso::loader
