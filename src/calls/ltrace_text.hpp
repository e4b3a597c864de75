#pragma once
// One line of a configuration file of ltrace, read from the left; the first thing that is wrong
// with it stays.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracso::calls {

class ConfigText {
 public:
  explicit ConfigText(std::string_view text) : text_(text) {}

  /// Why the line is not understood; empty: it is.
  const std::string& problem() const { return problem_; }

  /// false.
  bool fail(std::string reason);

  bool is_next(char character);
  /// Passes it; false: something else comes.
  bool take(char character);
  bool take(std::string_view what);
  /// As take(), and it must be there.
  bool want(char character);
  /// The end of what the line says; a comment may follow.
  bool want_end();
  /// Letters, digits and underscores, and the characters of `also`; empty: none come.
  std::string_view word(std::string_view also = "");
  /// Decimal, 0x or 0; may be negative, in two's complement.
  std::optional<std::uint64_t> number();

  /// Where it stands, for a message, and to come back to.
  std::string here();

  std::size_t place() const { return at_; }

  void go_back(std::size_t place) { at_ = place; }

 private:
  void skip();

  std::string_view text_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace tracso::calls
