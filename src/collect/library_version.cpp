#include "collect/library_version.hpp"

#include "base/text.hpp"
#include "elf/versions.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace tracso {
namespace {

// What stands before the version in the bytes of the library.
struct Mark {
  std::string_view stem, before;
};

constexpr std::array marks{Mark{"libcrypto", "OpenSSL "},
                           Mark{"libssl", "OpenSSL "},
                           Mark{"libz", "deflate "},
                           Mark{"libcurl", "libcurl/"},
                           Mark{"libpng", "libpng version "},
                           Mark{"libexpat", "expat_"},
                           Mark{"libc.", "stable release version "},
                           Mark{"ld-linux", "stable release version "},
                           Mark{"libopenblas", "OpenBLAS "},
                           Mark{"libscipy_openblas", "OpenBLAS "},
                           Mark{"libhdf5", "HDF5 library version "},
                           Mark{"libpq", "PostgreSQL "},
                           Mark{"libav", "FFmpeg version "},
                           Mark{"libjemalloc", "jemalloc "}};
constexpr std::array notes{std::string_view(R"("version":")"), std::string_view(R"("version": ")")};
constexpr std::size_t most_searched_bytes = std::size_t{64} << 20U, most_length = 40;

bool is_version_letter(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || letter == '.' ||
         letter == '-' || letter == '+' || letter == '~' || letter == ':' || letter == '_' ||
         (letter >= 'A' && letter <= 'Z');
}

// "3.0.19" of "3.0.19 27 Jan 2026"; empty: no digit, or no point, stands there.
std::string version_at(std::string_view text) {
  std::size_t end = 0;
  while (end < std::min(text.size(), most_length) && is_version_letter(text[end])) {
    ++end;
  }
  std::string_view found = text.substr(0, end);
  while (!found.empty() && (found.back() == '.' || found.back() == '-' || found.back() == ':')) {
    found.remove_suffix(1);
  }
  const bool digit = !found.empty() && found.front() >= '0' && found.front() <= '9';
  return digit && found.find('.') != std::string_view::npos ? std::string(found) : "";
}

std::string first_version_behind(std::string_view text, std::string_view mark) {
  for (auto at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (std::string found = version_at(text.substr(at + mark.size())); !found.empty()) {
      return found;
    }
  }
  return "";
}

// The file piece by piece; pieces overlap, so that nothing is cut in two.
template <class Look>
std::string search(const File& file, std::size_t most, Look look) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20U, overlap = 256;
  std::string piece(piece_bytes, '\0');
  for (std::uint64_t offset = 0; offset < most; offset += piece_bytes - overlap) {
    const auto got = file.read_at(offset, std::as_writable_bytes(std::span(piece)));
    if (!got || *got == 0) {
      break;
    }
    if (std::string found = look(std::string_view(piece).substr(0, *got)); !found.empty()) {
      return found;
    }
    if (*got < piece_bytes) {
      break;
    }
  }
  return "";
}

// The JSON of .note.package lies among the first bytes of a file, as all notes do.
std::string from_package_note(const File& file) {
  return search(file, std::size_t{1} << 16U, [](std::string_view text) -> std::string {
    const auto start = text.find(R"({"type":")");
    if (start == std::string_view::npos) {
      return "";
    }
    const std::string_view note = text.substr(start, 1024);
    for (const std::string_view mark : notes) {
      if (const auto at = note.find(mark); at != std::string_view::npos) {
        const std::string_view rest = note.substr(at + mark.size());
        return std::string(rest.substr(0, std::min(rest.find('"'), most_length)));
      }
    }
    return "";
  });
}

// "1.2.13" of "libz.so.1.2.13", "3.11" of "libpython3.11.so.1.0" would be 1.0: not for Python.
std::string from_name(std::string_view name) {
  const auto suffix = name.find(".so.");
  const auto stem = name.substr(0, name.find(".so"));
  const auto dash = stem.rfind('-');
  if (suffix != std::string_view::npos) {
    return version_at(name.substr(suffix + 4));
  }
  return dash == std::string_view::npos ? "" : version_at(stem.substr(dash + 1));
}

std::vector<std::uint64_t> numbers_of(std::string_view version) {
  std::vector<std::uint64_t> numbers;
  for (const auto part : split(version, '.')) {
    numbers.push_back(parse_unsigned(part).value_or(0));
  }
  return numbers;
}

// The highest of "OPENSSL_3.0.0", "OPENSSL_3.0.9".
std::string from_symbol_versions(const File& file, std::string_view path) {
  const auto versions = elf::read_versions(file, path);
  std::string best;
  for (const auto& defined : versions ? versions->defined : std::vector<elf::DefinedVersion>()) {
    const auto underscore = defined.name.rfind('_');
    const std::string version =
        defined.base || underscore == std::string::npos
            ? ""
            : version_at(std::string_view(defined.name).substr(underscore + 1));
    if (!version.empty() && (best.empty() || numbers_of(best) < numbers_of(version))) {
      best = version;
    }
  }
  return best;
}

std::string from_soname(std::string_view soname) {
  const auto suffix = soname.find(".so.");
  return suffix == std::string_view::npos ? "" : std::string(soname.substr(suffix + 4));
}

}  // namespace

LibraryVersion find_library_version(const File& file,
                                    std::string_view path,
                                    std::string_view soname) {
  const std::string name = lower_case(base_name(path));
  for (const Mark& mark : marks) {
    if (name.starts_with(mark.stem)) {
      const std::string found = search(file, most_searched_bytes, [&](std::string_view text) {
        return first_version_behind(text, mark.before);
      });
      if (!found.empty()) {
        return {found, "its own text"};
      }
    }
  }
  if (const std::string found = from_package_note(file); !found.empty()) {
    return {found, "package note"};
  }
  if (const std::string found = from_name(base_name(path)); !found.empty()) {
    return {found, "file name"};
  }
  if (const std::string found = from_symbol_versions(file, path); !found.empty()) {
    return {found, "symbol versions: at least"};
  }
  const std::string found = from_soname(soname);
  return {found, found.empty() ? "" : "soname"};
}

}  // namespace tracso
