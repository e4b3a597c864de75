#include "base/result.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace tracso {

std::string sentence(const Error& error) {
  const std::string subject = error.subject.empty() ? "" : " " + printable(error.subject);
  std::string text =
      fmt::format("tracso: cannot {}{}: {}", error.action, subject, printable(error.reason));
  if (!error.detail.empty()) {
    text += "\n" + printable(error.detail);
  }
  if (error.kind == ErrorKind::internal) {
    text +=
        "\nhint: this is a fault of tracso; please report it with the folder that 'tracso record' "
        "makes";
  }
  if (!error.hint.empty()) {
    text += "\nhint: " + printable(error.hint);
  }
  return text;
}

Error errno_error(int number, std::string_view action, std::string_view subject) {
  ErrorKind kind = ErrorKind::failed;
  if (number == ENOENT || number == ENOTDIR || number == ESRCH) {
    kind = ErrorKind::not_found;
  } else if (number == EACCES || number == EPERM) {
    kind = ErrorKind::denied;
  } else if (number == EINTR) {
    kind = ErrorKind::interrupted;
  }
  // Who runs as root has no more of them.
  const char* hint = number == EMFILE ? "'ulimit -n 4096' allows tracso more open files" : "";
  return {kind, std::string(action), std::string(subject), errno_text(number), hint};
}

std::string errno_text(int number) {
  // strerror in the C locale: tracso never calls setlocale, so this is English everywhere.
  std::string text =
      std::strerror(number);  // NOLINT(concurrency-mt-unsafe): one thread speaks to the user
  if (!text.empty() && text.size() > 1 && text[1] >= 'a' && text[1] <= 'z') {
    text = lower_case(text.substr(0, 1)) + text.substr(1);
  }
  return text;
}

}  // namespace tracso
