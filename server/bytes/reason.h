// Names of everything that can be wrong, as programs see them: the values of the enum
// `deletionvector.v1.Reason` without their prefix. The table, with codes and meanings, is
// proto/deletionvector/v1/reason.proto; a test holds this list against it.
#pragma once

#include "absl/strings/string_view.h"

namespace dv::reason {

// The request.
inline constexpr absl::string_view kRequestMalformed = "REQUEST_MALFORMED";
inline constexpr absl::string_view kFieldRequired = "FIELD_REQUIRED";
inline constexpr absl::string_view kFieldInvalid = "FIELD_INVALID";
inline constexpr absl::string_view kFieldsContradictory = "FIELDS_CONTRADICTORY";
inline constexpr absl::string_view kRangeInvalid = "RANGE_INVALID";
inline constexpr absl::string_view kMaskNeedsEnd = "MASK_NEEDS_END";
inline constexpr absl::string_view kNotImplemented = "NOT_IMPLEMENTED";

// The frame.
inline constexpr absl::string_view kLayoutUnknown = "LAYOUT_UNKNOWN";
inline constexpr absl::string_view kLayoutMismatch = "LAYOUT_MISMATCH";
inline constexpr absl::string_view kFrameTooShort = "FRAME_TOO_SHORT";
inline constexpr absl::string_view kFrameLengthMismatch = "FRAME_LENGTH_MISMATCH";
inline constexpr absl::string_view kCrcMismatch = "CRC_MISMATCH";
inline constexpr absl::string_view kCardinalityMismatch = "CARDINALITY_MISMATCH";
inline constexpr absl::string_view kPositionPastRowCount = "POSITION_PAST_ROW_COUNT";

// The Roaring bitmap.
inline constexpr absl::string_view kTruncated = "TRUNCATED";
inline constexpr absl::string_view kBitmapCountTooLarge = "BITMAP_COUNT_TOO_LARGE";
inline constexpr absl::string_view kKeysNotAscending = "KEYS_NOT_ASCENDING";
inline constexpr absl::string_view kKeyOutOfRange = "KEY_OUT_OF_RANGE";
inline constexpr absl::string_view kCookieInvalid = "COOKIE_INVALID";
inline constexpr absl::string_view kContainerCountTooLarge = "CONTAINER_COUNT_TOO_LARGE";
inline constexpr absl::string_view kContainerKeysNotAscending = "CONTAINER_KEYS_NOT_ASCENDING";
inline constexpr absl::string_view kOffsetsInconsistent = "OFFSETS_INCONSISTENT";
inline constexpr absl::string_view kArrayNotAscending = "ARRAY_NOT_ASCENDING";
inline constexpr absl::string_view kBitsetCardinalityMismatch = "BITSET_CARDINALITY_MISMATCH";
inline constexpr absl::string_view kRunContainerEmpty = "RUN_CONTAINER_EMPTY";
inline constexpr absl::string_view kRunOutOfRange = "RUN_OUT_OF_RANGE";
inline constexpr absl::string_view kRunsOverlap = "RUNS_OVERLAP";
inline constexpr absl::string_view kRunsAdjacent = "RUNS_ADJACENT";
inline constexpr absl::string_view kRunCardinalityMismatch = "RUN_CARDINALITY_MISMATCH";
inline constexpr absl::string_view kTrailingBytes = "TRAILING_BYTES";

// Limits.
inline constexpr absl::string_view kVectorTooLarge = "VECTOR_TOO_LARGE";
inline constexpr absl::string_view kTooManyItems = "TOO_MANY_ITEMS";
inline constexpr absl::string_view kTooManyVectors = "TOO_MANY_VECTORS";
inline constexpr absl::string_view kTooManyOpenBytes = "TOO_MANY_OPEN_BYTES";
inline constexpr absl::string_view kAnswerTooLarge = "ANSWER_TOO_LARGE";
inline constexpr absl::string_view kTooManyPending = "TOO_MANY_PENDING";
inline constexpr absl::string_view kTooManyFields = "TOO_MANY_FIELDS";

// Items of a Scan.
inline constexpr absl::string_view kVectorIdInUse = "VECTOR_ID_IN_USE";
inline constexpr absl::string_view kQueryIdInUse = "QUERY_ID_IN_USE";
inline constexpr absl::string_view kVectorNotOpen = "VECTOR_NOT_OPEN";
inline constexpr absl::string_view kChunkOutOfOrder = "CHUNK_OUT_OF_ORDER";
inline constexpr absl::string_view kChunkPastTotalSize = "CHUNK_PAST_TOTAL_SIZE";
inline constexpr absl::string_view kUploadIncomplete = "UPLOAD_INCOMPLETE";
inline constexpr absl::string_view kQueryCancelled = "QUERY_CANCELLED";

// The server.
inline constexpr absl::string_view kShuttingDown = "SHUTTING_DOWN";

}  // namespace dv::reason
