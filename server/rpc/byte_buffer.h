// Between gRPC's byte buffers and chains: nothing is copied either way.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "server/bytes/chain.h"
#include "server/rpc/wire.h"

namespace dv::rpc {

// Returns the slices of `buffer` as a message whose pieces hold references to them: `buffer` may be
// cleared afterwards.
ReceivedMessage FromByteBuffer(const grpc::ByteBuffer& buffer);

// Returns a buffer with one slice for each piece of `chain`. The slices keep the owners of the
// chain alive; the last slice that is destroyed, in whichever thread, lets go of them.
grpc::ByteBuffer ToByteBuffer(bytes::Chain chain);

}  // namespace dv::rpc
