#include "client/cli/position_list.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/cli/numbers.h"

namespace dv::cli {
namespace {

// No position has more digits; a longer word is quoted up to here.
constexpr size_t kMaxWord = 40;

absl::Status FileError(const std::string& name) {
  return absl::FailedPreconditionError(
      absl::StrCat(name, ": ", std::generic_category().message(errno)));
}

}  // namespace

PositionList::PositionList(std::vector<uint64_t> positions, std::string name)
    : positions_(std::move(positions)), name_(std::move(name)) {}

absl::StatusOr<PositionList> PositionList::Open(std::vector<uint64_t> positions,
                                                const std::string& path) {
  PositionList list(std::move(positions), path == "-" ? "standard input" : path);
  if (path == "-") {
    list.file_.reset(stdin);
  } else if (!path.empty()) {
    list.file_.reset(fopen(path.c_str(), "re"));
    if (!list.file_) return FileError(path);
  }
  return list;
}

absl::Status PositionList::NextWord(std::string& word) {
  word.clear();
  while (file_) {
    const int c = getc(file_.get());
    if (c == EOF) {
      if (ferror(file_.get()) != 0) return FileError(name_);
      file_.reset();
    } else if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      word.push_back(static_cast<char>(c));
      if (word.size() > kMaxWord) break;
    } else if (!word.empty()) {
      // It is read again, so that the line of the word is still known.
      ungetc(c, file_.get());
      break;
    } else if (c == '\n') {
      ++line_;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> PositionList::Next(size_t max_count) {
  std::vector<uint64_t> positions;
  while (positions.size() < max_count && next_ < positions_.size()) {
    positions.push_back(positions_[next_++]);
  }
  std::string word;
  while (positions.size() < max_count && file_) {
    absl::Status status = NextWord(word);
    if (!status.ok()) return status;
    if (word.empty()) break;
    const absl::StatusOr<uint64_t> position = ParseUint64(word);
    if (!position.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ", line ", line_, ": ", position.status().message()));
    }
    positions.push_back(*position);
  }
  return positions;
}

}  // namespace dv::cli
