// Positions from a text file, a bounded number at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace dv::cli {

// PositionList
//
// Decimal numbers, separated by white space, from positions of the command line and then from a
// file.
class PositionList {
 public:
  // `path` is a file, `-` for standard input, or empty for none. FAILED_PRECONDITION if it cannot
  // be opened.
  static absl::StatusOr<PositionList> Open(std::vector<uint64_t> positions,
                                           const std::string& path);

  // Returns the next positions, at most `max_count`; fewer only at the end. Errors:
  // INVALID_ARGUMENT for a text that is no position, with its line; FAILED_PRECONDITION if the file
  // cannot be read.
  absl::StatusOr<std::vector<uint64_t>> Next(size_t max_count);

 private:
  struct Closer {
    void operator()(FILE* file) const {
      if (file != stdin) fclose(file);
    }
  };

  PositionList(std::vector<uint64_t> positions, std::string name);

  // Reads the next word of the file into `word`: empty at the end.
  absl::Status NextWord(std::string& word);

  std::vector<uint64_t> positions_;
  size_t next_ = 0;
  std::string name_;
  // Null: no file, or no more of it.
  std::unique_ptr<FILE, Closer> file_;
  uint64_t line_ = 1;
};

}  // namespace dv::cli
