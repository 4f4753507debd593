#include "client/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dv::cli {
namespace {

constexpr size_t kBufferBytes = 64 << 10;

}  // namespace

Output::Output(int descriptor, std::string name)
    : name_(std::move(name)), descriptor_(descriptor), owned_(false) {}

Output::Output(const std::string& path) : name_(path), descriptor_(-1), owned_(true) {}

Output::~Output() {
  if (owned_ && descriptor_ >= 0) close(descriptor_);
}

void Output::Write(absl::string_view text) {
  if (failed()) return;
  buffer_.append(text.data(), text.size());
  if (buffer_.size() >= kBufferBytes) Flush();
}

void Output::Flush() {
  if (failed()) return;
  if (descriptor_ < 0) {
    descriptor_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      error_ = errno;
      return;
    }
  }
  size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = write(descriptor_, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      error_ = errno;
      break;
    }
  }
  buffer_.clear();
}

void Output::Close() {
  Flush();
  if (!owned_ || descriptor_ < 0) return;
  if (close(descriptor_) != 0 && !failed()) error_ = errno;
  descriptor_ = -1;
  owned_ = false;
}

bool Output::reader_gone() const { return error_ == EPIPE; }

std::string Output::ErrorMessage() const {
  return absl::StrCat("cannot write to ", name_, ": ", std::generic_category().message(error_));
}

}  // namespace dv::cli
