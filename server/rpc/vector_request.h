// The first steps of every call about one vector: parse, check, decode.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <utility>

#include "absl/status/status.h"
#include "server/format/decode.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/limits.h"
#include "server/rpc/request.h"
#include "server/rpc/status.h"
#include "server/rpc/wire.h"

namespace dv::rpc {

// VectorRequest
//
// The request of a call about one vector, and the vector. Message is the type of the request.
template <typename Message>
class VectorRequest {
 public:
  // Parses the request and checks what it says of the vector.
  absl::Status Parse(const grpc::ByteBuffer& buffer, const Limits& limits) {
    absl::StatusOr<ParsedRequest<Message>> parsed =
        ParseRequest<Message>(FromByteBuffer(buffer), limits.max_message_fields);
    if (!parsed.ok()) return parsed.status();
    message_ = std::move(parsed->message);
    absl::StatusOr<VectorSpec> spec =
        CheckVector(message_.vector(), message_.has_vector(), "vector", CallKind::kUnary);
    if (!spec.ok()) return spec.status();
    options_ = spec->options;
    // The one source that is taken.
    payload_ = std::move(parsed->payloads.front());
    if (!parsed->in_place) bytes_copied_ = payload_.size();
    return CheckVectorSize(payload_.size(), limits.max_vector_bytes);
  }

  // Decodes the vector. REQUIRES: Parse() was fine.
  absl::Status Decode() {
    absl::StatusOr<format::DecodedVector> decoded = format::Decode(std::move(payload_), options_);
    if (!decoded.ok()) return ForBytesOfCaller(decoded.status());
    decoded_ = *std::move(decoded);
    return absl::OkStatus();
  }

  const Message& message() const { return message_; }
  const format::DecodeOptions& options() const { return options_; }
  // Valid after Decode().
  const format::DecodedVector& decoded() const { return decoded_; }
  // Bytes of the vector that were copied on receipt.
  uint64_t bytes_copied() const { return bytes_copied_; }

 private:
  Message message_;
  format::DecodeOptions options_;
  bytes::Chain payload_;
  format::DecodedVector decoded_;
  uint64_t bytes_copied_ = 0;
};

}  // namespace dv::rpc
