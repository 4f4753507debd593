// Answers and errors as text for people, and as JSON for programs. Text lines end in a newline;
// `prefix` stands at the start of each.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "deletionvector/v1/query.pb.h"
#include "deletionvector/v1/vector.pb.h"
#include "google/protobuf/message.h"

namespace dv::cli {

namespace pb = ::deletionvector::v1;

// Returns a message in protobuf's JSON on one line, without a newline: 64-bit numbers are strings,
// bytes are base64, and fields without a value are there.
std::string ToJson(const google::protobuf::Message& message);

// Returns `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string JsonString(absl::string_view text);

// Returns `text` with control characters written as \x1b and the like: what a server or a file name
// says cannot steer the terminal.
std::string Printable(absl::string_view text);

// Returns an error as the status code's name, the reason if there is one, and the message:
// `INVALID_ARGUMENT (CRC_MISMATCH): ...`.
std::string ErrorText(const absl::Status& status);

// A summary as one line for each thing known.
std::string SummaryText(const pb::VectorSummary& summary);

// A summary as one line.
std::string SummaryLine(const pb::VectorSummary& summary);

// A part of a ReadQuery: a position, a run or up to 64 rows of a mask a line, the lines starting
// with `prefix` and, if `named`, with what they are. A Roaring part has no text.
std::string PartText(const pb::AnswerPart& part, absl::string_view prefix = "", bool named = false);

// An answer to checks of `positions`: those that are deleted, or with `all` each with its state.
// REQUIRES: `answer` has a bit for each of `positions`.
std::string CheckText(const pb::CheckAnswer& answer, absl::Span<const uint64_t> positions, bool all,
                      absl::string_view prefix = "");

// Counts of `ranges`.
// REQUIRES: as many counts as ranges.
std::string CountText(const pb::CountAnswer& answer, absl::Span<const pb::PositionRange> ranges,
                      absl::string_view prefix = "");

// A histogram: `rows START:END COUNT` for each bucket.
std::string HistogramText(const pb::Histogram& histogram, absl::string_view prefix = "");

}  // namespace dv::cli
