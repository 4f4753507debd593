// File: wire.h
//
// From the bytes of a received message to a parsed request whose deletion vectors lie where they
// were received.
//
// The wire format of Protocol Buffers is walked over the chain. The `bytes` fields that carry
// vectors are kept as sub-chains; the small rest is put together again, with those fields present
// and empty, and is parsed by the generated code. Whatever is odd, such as a field that occurs
// twice, is parsed by the generated code as a whole, which copies the vectors and has the same
// result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "deletionvector/v1/scan.pb.h"
#include "server/bytes/chain.h"

namespace dv::rpc {

// ReceivedMessage
//
// The bytes of one message, and what keeps each piece of them alive. Owners are held piece by
// piece, so that a vector that is kept holds on to the pieces that it lies in and to no other part
// of the message.
struct ReceivedMessage {
  bytes::Chain chain;
  // owners[i] keeps the piece chain.pieces()[i] alive.
  std::vector<std::shared_ptr<const void>> owners;

  // Adds a piece at the end. Empty ones are left out.
  void Append(bytes::Span span, std::shared_ptr<const void> owner);
};

// ParsedRequest
//
// A request without the bytes of its vectors, and these bytes beside it.
template <typename Message>
struct ParsedRequest {
  // Fields that carry bytes of vectors are present where they were sent, and empty.
  Message message;
  // The bytes of these fields in the order of the message: of `vector.inline`, of `inline` of those
  // among `open.vectors` that have it, or of `chunk.data`.
  std::vector<bytes::Chain> payloads;
  // Whether the payloads lie where they were received. False when the generic parser had to copy
  // them.
  bool in_place = false;
};

// ParseRequest()
//
// Parses one message. Messages with more than `max_fields` fields, nested and unknown ones
// included, are RESOURCE_EXHAUSTED (TOO_MANY_FIELDS) before anything is allocated for them; what is
// not valid protobuf is INVALID_ARGUMENT (REQUEST_MALFORMED). The payloads hold their own
// references: `received` may go.
//
// Message is one of DescribeRequest, ReadPositionsRequest, CheckPositionsRequest,
// CountPositionsRequest and ScanRequest.
template <typename Message>
absl::StatusOr<ParsedRequest<Message>> ParseRequest(const ReceivedMessage& received,
                                                    uint64_t max_fields);

// ParseGeneric()
//
// The same by the generated parser alone, without a bound on fields: every payload is copied.
// ParseRequest() falls back on it; tests compare the two.
template <typename Message>
absl::StatusOr<ParsedRequest<Message>> ParseGeneric(const ReceivedMessage& received);

}  // namespace dv::rpc
