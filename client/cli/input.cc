#include "client/cli/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dv::cli {
namespace {

template <typename... Parts>
absl::Status InputError(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}

std::string ErrnoText() { return std::generic_category().message(errno); }

// Reads at most `size` bytes, from `offset` if there is one. Returns how many; 0 at the end; -1 on
// an error.
ssize_t ReadSome(int descriptor, char* out, size_t size, std::optional<uint64_t> offset) {
  while (true) {
    const ssize_t count = offset ? pread(descriptor, out, size, static_cast<off_t>(*offset))
                                 : read(descriptor, out, size);
    if (count >= 0 || errno != EINTR) return count;
  }
}

}  // namespace

Input::Input(std::string name, int descriptor) : name_(std::move(name)), descriptor_(descriptor) {}

Input::~Input() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

Input::Input(Input&& other) noexcept
    : name_(std::move(other.name_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      next_(other.next_) {}

absl::StatusOr<Input> Input::Open(const std::string& source, std::optional<uint64_t> offset,
                                  std::optional<uint64_t> length) {
  const bool standard_input = source == "-";
  Input input(standard_input ? "standard input" : source,
              standard_input ? STDIN_FILENO : open(source.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (input.descriptor_ < 0 || fstat(input.descriptor_, &about) != 0) {
    return InputError(input.name_, ": ", ErrnoText());
  }
  if (S_ISDIR(about.st_mode)) {
    return InputError(input.name_, ": it is a directory; name the file of one vector");
  }
  absl::Status status;
  if (S_ISREG(about.st_mode) && !standard_input) {
    status = input.SetRange(static_cast<uint64_t>(about.st_size), offset, length);
  } else {
    // One byte more than is wanted tells apart what fits and what is too large.
    const uint64_t skipped = offset.value_or(0);
    const uint64_t wanted = std::min(length.value_or(kMaxBytes + 1), kMaxBytes + 1);
    status = skipped > kMaxBytes
                 ? InputError(input.name_, ": --offset ", skipped,
                              " is too far for what is not a file; the limit is ", kMaxBytes)
                 : input.Buffer(skipped + wanted);
    if (status.ok()) status = input.SetRange(input.buffer_.size(), offset, length);
    if (status.ok() && input.size() > kMaxBytes) {
      status = InputError(input.name_, ": more than ", kMaxBytes,
                          " bytes, the limit for what is not a file");
    }
  }
  if (!status.ok()) return status;
  return input;
}

absl::Status Input::SetRange(uint64_t available, std::optional<uint64_t> offset,
                             std::optional<uint64_t> length) {
  begin_ = offset.value_or(0);
  if (begin_ > available || (length && *length > available - begin_)) {
    return InputError(name_, ": ", offset ? absl::StrCat("--offset ", *offset) : "",
                      offset && length ? " with " : "",
                      length ? absl::StrCat("--length ", *length) : "",
                      " goes past the end: it has ", available, " bytes");
  }
  end_ = length ? begin_ + *length : available;
  next_ = begin_;
  return absl::OkStatus();
}

absl::Status Input::Buffer(uint64_t wanted) {
  constexpr size_t kStep = 64 << 10;
  while (buffer_.size() < wanted) {
    const size_t size = buffer_.size();
    const size_t step = static_cast<size_t>(std::min<uint64_t>(kStep, wanted - size));
    buffer_.resize(size + step);
    const ssize_t count = ReadSome(descriptor_, buffer_.data() + size, step, std::nullopt);
    if (count < 0) return InputError(name_, ": ", ErrnoText());
    buffer_.resize(size + static_cast<size_t>(count));
    if (count == 0) break;
  }
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
  descriptor_ = -1;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Input::Read(size_t max_bytes) {
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(max_bytes, end_ - next_));
  std::string bytes;
  if (descriptor_ < 0) {
    bytes = buffer_.substr(static_cast<size_t>(next_), wanted);
  } else {
    bytes.resize(wanted);
    size_t read = 0;
    while (read < wanted) {
      const ssize_t count = ReadSome(descriptor_, bytes.data() + read, wanted - read, next_ + read);
      if (count < 0) return InputError(name_, ": ", ErrnoText());
      if (count == 0) {
        return InputError(name_, ": it became shorter while it was read: no byte at ", next_ + read,
                          ", expected ", end_);
      }
      read += static_cast<size_t>(count);
    }
  }
  next_ += wanted;
  return bytes;
}

absl::StatusOr<std::string> Input::ReadAll() {
  if (size() > kMaxBytes) {
    return InputError(name_, ": ", size(), " bytes are too many for one message, of ", kMaxBytes,
                      " at most; dv scan sends a vector in pieces");
  }
  return Read(static_cast<size_t>(size()));
}

}  // namespace dv::cli
