// File: request.h
//
// What is checked of a request before anything is read or decoded. Errors are INVALID_ARGUMENT with
// a reason of reason.h and the path of the field, such as "query.range.end", unless noted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "deletionvector/v1/query.pb.h"
#include "deletionvector/v1/vector.pb.h"
#include "server/format/decode.h"
#include "server/roaring/mask.h"
#include "server/roaring/range.h"

namespace dv::rpc {

// A vector that a request names.
struct VectorSpec {
  // How to read it.
  format::DecodeOptions options;
  // Size in bytes if it comes in chunks; else it is inline.
  std::optional<uint64_t> chunked_size;
};

// Where a request may name vectors whose bytes follow in chunks.
enum class CallKind { kUnary, kStream };

// Checks a vector at the field `path`. `present` says whether the field is there at all. Sources
// and formats that this server cannot read are UNIMPLEMENTED, after all else.
absl::StatusOr<VectorSpec> CheckVector(const deletionvector::v1::DeletionVector& vector,
                                       bool present, absl::string_view path, CallKind kind);

// Checks that a vector of `size` bytes may be read: RESOURCE_EXHAUSTED (VECTOR_TOO_LARGE) if not.
absl::Status CheckVectorSize(uint64_t size, uint64_t allowed);

// What a ReadQuery asks for.
struct ReadSpec {
  roaring::Range range;
  // ENCODING_UNSPECIFIED is resolved.
  deletionvector::v1::Encoding encoding = deletionvector::v1::ENCODING_POSITIONS;
  roaring::Polarity polarity = roaring::Polarity::kDeleted;
  std::optional<uint64_t> limit;
};

// Checks a ReadQuery at the field `path`.
absl::StatusOr<ReadSpec> CheckRead(const deletionvector::v1::ReadQuery& query,
                                   absl::string_view path);

// Checks a range at the field `path`.
absl::StatusOr<roaring::Range> CheckRange(const deletionvector::v1::PositionRange& range,
                                          absl::string_view path);

// Checks all ranges of a request at the field `path`.
absl::Status CheckRanges(
    const google::protobuf::RepeatedPtrField<deletionvector::v1::PositionRange>& ranges,
    absl::string_view path);

// Checks that a unary call may answer `found` items of a kind, such as "positions":
// RESOURCE_EXHAUSTED (TOO_MANY_ITEMS) if not.
absl::Status CheckUnaryItems(uint64_t found, absl::string_view what);

// What a HistogramQuery asks for.
struct HistogramSpec {
  uint64_t row_count = 0;
  uint32_t bucket_count = 0;
};

// Checks a HistogramQuery at the field `path` about a vector whose row count is `row_count`. Too
// many buckets are RESOURCE_EXHAUSTED (TOO_MANY_ITEMS).
absl::StatusOr<HistogramSpec> CheckHistogram(const deletionvector::v1::HistogramQuery& query,
                                             std::optional<uint64_t> row_count,
                                             absl::string_view path);

// Returns the error for a part of the contract that this server does not have: `feature` for
// programs, `message` for people.
absl::Status NotImplemented(absl::string_view feature, absl::string_view message);

// Returns the error for the field `path` that is needed and absent. `why` completes "<path> is
// required: ".
absl::Status FieldRequired(absl::string_view path, absl::string_view why);

// Names of formats and layouts in the contract.
format::Format FromProto(deletionvector::v1::Format format);
deletionvector::v1::Format ToProto(format::Format format);
deletionvector::v1::Layout ToProto(format::Layout layout);

}  // namespace dv::rpc
