#pragma once
// Files that a process makes, or can open, while a thread of it is borrowed: the agent, and the
// memory that is shared with it. A memfd where there is one; else a file in a folder of the process
// that can be written and from which code may be run.

#include "tracso/result.hpp"

#include "base/unique_fd.hpp"
#include "tracee/borrowed_thread.hpp"

#include <cstdint>
#include <string>

namespace tracso::calls {

class ForeignFile {
 public:
  /// What makes a memfd of the process; `place` is one of the places for texts.
  static tracee::RemoteCall memory_call(tracee::BorrowedThread& thread,
                                        const std::string& name,
                                        std::size_t place);
  /// The memfd of that call, whose result was `number`. failed: the kernel did not let it make one,
  /// or us open it.
  static Result<ForeignFile> made_memory(tracee::BorrowedThread& thread,
                                         pid_t process,
                                         std::int64_t number);
  /// A file in one of its folders for temporary files; its name goes again with the object.
  static Result<ForeignFile> make_file(tracee::BorrowedThread& thread,
                                       pid_t process,
                                       const std::string& name);

  ForeignFile(ForeignFile&&) = default;
  ForeignFile(const ForeignFile&) = delete;
  ForeignFile& operator=(const ForeignFile&) = delete;
  ForeignFile& operator=(ForeignFile&&) = delete;
  /// Removes the name of a file.
  ~ForeignFile();

  /// The descriptor in the process.
  std::int64_t number() const { return number_; }

  /// The path by which the process can open it.
  const std::string& path() const { return path_; }

  /// Ours.
  UniqueFd take() { return std::move(ours_); }

  int descriptor() const { return ours_.get(); }

  /// What closes it in the process.
  tracee::RemoteCall close_call(const tracee::BorrowedThread& thread) const;
  /// Closes it in the process.
  void close_there(tracee::BorrowedThread& thread) const;

 private:
  ForeignFile() = default;

  std::int64_t number_ = -1;
  std::string path_, name_;
  UniqueFd ours_, folder_;
};

}  // namespace tracso::calls
