// Where answers are written to.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace dv::cli {

// Output
//
// A buffered writer to standard output or to a file. The first error sticks: whoever writes looks
// at `failed()` now and then and stops early. Used by one thread at a time.
class Output {
 public:
  // Writes to `descriptor`, which stays the caller's, under `name` in messages.
  Output(int descriptor, std::string name);
  // Writes to the file `path`. It is created, or emptied, when the first byte is written to it, or
  // by Close(): a call that fails before its answer leaves an old file as it was.
  explicit Output(const std::string& path);
  // Drops what was not flushed.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Adds `text`. It is on its way once the buffer is full, or after Flush().
  void Write(absl::string_view text);
  // Hands everything to the system.
  void Flush();
  // Flushes, and closes a file.
  void Close();

  // Whether something could not be written; nothing is written any more.
  bool failed() const { return error_ != 0; }
  // Whether that was because the reader of a pipe is gone: it has all that it wants.
  bool reader_gone() const;
  // What could not be written to, and why.
  std::string ErrorMessage() const;

 private:
  std::string name_;
  // -1: a file that is not open yet.
  int descriptor_;
  bool owned_;
  // An errno value.
  int error_ = 0;
  std::string buffer_;
};

}  // namespace dv::cli
