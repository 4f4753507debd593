// Limits of one call, as the flags of the server set them.
#pragma once

#include <cstdint>

namespace dv::rpc {

// Limits
//
// What one call may ask for and hold. Every error that a limit causes names the flag of the same
// name.
struct Limits {
  // Fields of one request message, those of nested messages and unknown ones included. It bounds
  // the memory that parsing takes: 64 MiB of tiny ranges would become gigabytes of objects.
  uint64_t max_message_fields = 1'000'000;
  // Bytes of one vector.
  uint64_t max_vector_bytes = uint64_t{64} << 20;
  // Vectors of one Scan: open, loading, failed and not yet closed.
  uint64_t max_open_vectors = 10'000;
  // Bytes of all vectors of one Scan.
  uint64_t max_open_bytes = uint64_t{128} << 20;
  // Queries of one Scan that are not done. At this number the server stops reading.
  uint64_t max_pending_queries = 1'024;
  // Bytes of the queries of one Scan that are not done. At this number the server stops reading.
  uint64_t max_pending_bytes = uint64_t{16} << 20;
};

// Positions or ranges of one unary call (contract).
inline constexpr uint64_t kMaxUnaryItems = 100'000;

// Buckets of one histogram (contract).
inline constexpr uint32_t kMaxHistogramBuckets = 4'096;

// Work that a reaction thread of gRPC does by itself, in bytes to look at; more goes to the worker
// pool.
inline constexpr uint64_t kInlineCost = uint64_t{1} << 20;

// Vectors and chunks below this size are copied when a Scan keeps them: a piece that is kept pins
// the whole block of 64 KiB that the transport read it into.
inline constexpr uint64_t kCopyBelowBytes = uint64_t{16} << 10;

}  // namespace dv::rpc
