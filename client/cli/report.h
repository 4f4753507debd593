// What `dv` says on standard error.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "client/cli/options.h"

namespace dv::cli {

// Returns what to say of a call that failed, without `dv: ` and newline: ErrorText, and where it
// helps what to do.
std::string CallErrorText(const Options& options, const absl::Status& status);

// Reporter
//
// Writes one line an error, `dv: ` before it. May be used by several threads at once.
class Reporter {
 public:
  // `stream` must outlive the reporter.
  explicit Reporter(std::ostream& stream) : stream_(stream) {}

  // Reports what is wrong on this side: `text` stands alone, without a code.
  void Local(absl::string_view text);
  // Reports a call that failed.
  void Call(const Options& options, const absl::Status& status);
  // Reports that one of several sources failed.
  void Source(const std::string& source, const absl::Status& status);

 private:
  absl::Mutex mutex_;
  std::ostream& stream_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dv::cli
