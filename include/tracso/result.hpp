#pragma once
// What every function that can fail returns: a value, or an Error whose four parts make one
// sentence.

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tracso {

/// What code may branch on; never the text of an Error.
enum class ErrorKind {
  not_found,     ///< no such process, file, module
  denied,        ///< the kernel or the target's safety says no
  malformed,     ///< foreign bytes that are not what they should be
  unsupported,   ///< understood, but not something tracso can do
  interrupted,   ///< a deadline passed, a signal came, the target ended meanwhile
  missing_tool,  ///< readelf, gdb, dot, ldconfig is not on this machine
  usage,         ///< the command line or what it names does not make sense
  failed,        ///< the system refused for another reason (disk full, too many files)
  internal       ///< our own bug
};

/// "cannot <action> <subject>: <reason>", and on its own line what to try.
struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string action;       ///< "read memory map"
  std::string subject;      ///< "/proc/4711/maps"; printed escaped
  std::string reason;       ///< "permission denied"
  std::string hint;         ///< what to try; empty: nothing helps
  std::string detail = {};  ///< a line of its own between reason and hint: what is still visible
  bool operator==(const Error&) const = default;
};

/// The value of a function that has nothing to give but success.
struct Done {
  bool operator==(const Done&) const = default;
};

/// A value or the Error that stands in its place.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {
  }  // NOLINT(google-explicit-constructor): a value is a Result

  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {
  }  // NOLINT(google-explicit-constructor): so is an Error

  explicit operator bool() const { return state_.index() == 0; }

  T& value() {
    assert(state_.index() == 0);
    return *std::get_if<0>(&state_);
  }

  const T& value() const {
    assert(state_.index() == 0);
    return *std::get_if<0>(&state_);
  }

  T& operator*() { return value(); }

  const T& operator*() const { return value(); }

  T* operator->() { return &value(); }

  const T* operator->() const { return &value(); }

  const Error& error() const {
    assert(state_.index() == 1);
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace tracso
