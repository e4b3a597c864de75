#pragma once
// What starting a program takes: pipes to it and the arrays of C it is given.

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace tracso::os {

struct Pipe {
  UniqueFd read, write;

  explicit operator bool() const { return read && write; }
};

/// Closed in what is started. Empty: errno says why.
inline Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return {};
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// As argv and environ are: with a null pointer at the end. They point into `texts`.
inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

}  // namespace tracso::os
