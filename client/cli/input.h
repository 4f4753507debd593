// The bytes of a vector from a file or from standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace dv::cli {

// Input
//
// The bytes [offset, offset + length) of a file, or of something that can only be read once, from
// start to end: standard input, a pipe. A file is read piece by piece. Anything else is read to its
// end when it is opened, since its size must be known before its bytes are sent.
//
// Errors are FAILED_PRECONDITION, with a message for people that starts with the name of the
// source.
class Input {
 public:
  // Largest vector that ReadAll() takes, and largest that is read from what is not a file: a
  // message of gRPC cannot be much larger, and no server takes that by default.
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

  // Opens `source`, a path or `-`. Without `length`: through the end. A range that is not wholly
  // inside is an error.
  static absl::StatusOr<Input> Open(const std::string& source, std::optional<uint64_t> offset = {},
                                    std::optional<uint64_t> length = {});

  ~Input();
  Input(Input&& other) noexcept;
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // Number of bytes of the range.
  uint64_t size() const { return end_ - begin_; }

  // Returns the next bytes of the range, `max_bytes` or all that are left.
  absl::StatusOr<std::string> Read(size_t max_bytes);

  // Returns all that is left of the range.
  absl::StatusOr<std::string> ReadAll();

 private:
  Input(std::string name, int descriptor);

  // Sets the range, or says why it cannot be.
  absl::Status SetRange(uint64_t available, std::optional<uint64_t> offset,
                        std::optional<uint64_t> length);
  // Reads what is not a file: `wanted` bytes at most into `buffer_`.
  absl::Status Buffer(uint64_t wanted);

  std::string name_;
  // -1: all is in `buffer_`.
  int descriptor_;
  std::string buffer_;
  // The range, and the next byte of it.
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t next_ = 0;
};

}  // namespace dv::cli
