#include "client/cli/report.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/print.h"
#include "server/bytes/error.h"

namespace dv::cli {

std::string CallErrorText(const Options& options, const absl::Status& status) {
  // A reason comes from a server that was reached and has said all itself.
  if (!ReasonOf(status).empty()) return ErrorText(status);
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
      return absl::StrCat("UNAVAILABLE: no answer from ", Printable(options.server), ": ",
                          Printable(status.message()),
                          "; is dv-server running there? --server or DV_SERVER names another one");
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat(ErrorText(status), ", after ", absl::FormatDuration(options.timeout),
                          "; --timeout gives it more time");
    case absl::StatusCode::kResourceExhausted:
      // The transport's own words, which name neither the flag nor a way out.
      return absl::StrCat(
          ErrorText(status),
          "; if the request is too large: --max_message_bytes of dv-server sets how "
          "large it may be, and dv scan sends a vector in chunks");
    default:
      return ErrorText(status);
  }
}

void Reporter::Local(absl::string_view text) {
  absl::MutexLock lock(&mutex_);
  stream_ << "dv: " << Printable(text) << std::endl;
}

void Reporter::Call(const Options& options, const absl::Status& status) {
  Local(CallErrorText(options, status));
}

void Reporter::Source(const std::string& source, const absl::Status& status) {
  Local(absl::StrCat(source, ": ", ErrorText(status)));
}

}  // namespace dv::cli
