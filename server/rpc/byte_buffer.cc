#include "server/rpc/byte_buffer.h"

#include <grpcpp/support/slice.h>

#include <memory>
#include <utility>
#include <vector>

namespace dv::rpc {
namespace {

using SharedChain = std::shared_ptr<const bytes::Chain>;

void DropSharedChain(void* user_data) { delete static_cast<SharedChain*>(user_data); }

}  // namespace

ReceivedMessage FromByteBuffer(const grpc::ByteBuffer& buffer) {
  ReceivedMessage message;
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return message;
  message.owners.reserve(slices.size());
  for (grpc::Slice& slice : slices) {
    // Slices of up to 23 bytes hold their bytes inside themselves, so the pointer is taken from the
    // object that stays.
    auto owner = std::make_shared<const grpc::Slice>(std::move(slice));
    const bytes::Span span(owner->begin(), owner->size());
    message.Append(span, std::move(owner));
  }
  return message;
}

grpc::ByteBuffer ToByteBuffer(bytes::Chain chain) {
  const auto shared = std::make_shared<const bytes::Chain>(std::move(chain));
  std::vector<grpc::Slice> slices;
  slices.reserve(shared->pieces().size());
  for (const bytes::Chain::Piece& piece : shared->pieces()) {
    // gRPC takes memory that it will not write to as a plain pointer.
    slices.emplace_back(const_cast<uint8_t*>(piece.data), piece.size(), DropSharedChain,
                        new SharedChain(shared));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace dv::rpc
