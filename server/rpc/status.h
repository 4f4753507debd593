// File: status.h
//
// From the statuses of this code base, which carry a reason and details (server/bytes/error.h), to
// the forms that they have on the wire.
#pragma once

#include <grpcpp/support/status.h>

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "deletionvector/v1/scan.pb.h"

namespace dv::rpc {

// Domain of the reasons in `google.rpc.ErrorInfo`.
inline constexpr char kErrorDomain[] = "deletionvector.v1";

// Returns `status`, not OK, with word that waiting `delay` before another try helps.
absl::Status WithRetryDelay(absl::Status status, absl::Duration delay);

// Returns the delay that `status` carries, if any.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

// Returns `status` as gRPC sends it: code, message, and a `google.rpc.Status` with ErrorInfo and,
// where a delay is set, RetryInfo. Message and details together stay under 4 KiB on the wire: long
// texts are cut, and say so.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns `status` as the outcome of one item of a stream, cut to the same sizes.
deletionvector::v1::ItemStatus ToItemStatus(const absl::Status& status);

// Returns `status` as it is told to a caller who sent the bytes himself: what is DATA_LOSS of bytes
// from a store is INVALID_ARGUMENT here.
absl::Status ForBytesOfCaller(const absl::Status& status);

}  // namespace dv::rpc
