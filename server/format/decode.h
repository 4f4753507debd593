// File: decode.h
//
// From the bytes of a deletion vector, in any supported format, to a checked view of its positions.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "server/bytes/chain.h"
#include "server/format/layout.h"
#include "server/roaring/view.h"

namespace dv::format {

// What the caller says the bytes are.
enum class Format {
  kUnspecified,
  kIceberg,
  kPuffin,
  kDelta,
  kPaimon,
  kLance,
  kRoaring64,
  kRoaring32
};

// Returns the name of a format, such as "iceberg".
const char* FormatName(Format format);

// What the caller knows of a vector, from table metadata.
struct DecodeOptions {
  // kUnspecified: found from the magic number; a frame is read by Iceberg's rules.
  Format format = Format::kUnspecified;
  // Number of positions that the vector must hold.
  std::optional<uint64_t> expected_cardinality;
  // Number of rows of the data file: all positions must be below it.
  std::optional<uint64_t> row_count;
};

// A vector, decoded and checked.
struct DecodedVector {
  roaring::View view;
  // The format by whose rules it was read: never kUnspecified.
  Format format = Format::kUnspecified;
  Layout layout = Layout::kUnknown;
  // Size in bytes of all that was given.
  uint64_t encoded_size = 0;
  // Whether the layout has a checksum (which was then right).
  bool checksum_checked = false;
};

// Decode()
//
// Reads the vector that fills `chain`. The checks come in this order: what the bytes are, the
// length of the frame, its CRC, the bitmap with all its rules, nothing left over, the cardinality,
// the row count. The bytes are not copied; the result shares the owners of `chain`.
//
// Errors, each with a reason and, where it has one, the offset in the chain:
//   DATA_LOSS            the bytes break a rule of their format, the CRC included.
//   FAILED_PRECONDITION  the bytes are not what the caller says: format, length, cardinality, rows.
//   UNIMPLEMENTED        a format or layout that is known and not supported yet.
absl::StatusOr<DecodedVector> Decode(bytes::Chain chain, const DecodeOptions& options);

}  // namespace dv::format
