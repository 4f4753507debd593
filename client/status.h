// From the errors of the wire to absl::Status.
#pragma once

#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "deletionvector/v1/scan.pb.h"
#include "grpcpp/support/status.h"

namespace dv::client {

// StatusFromGrpc()
//
// Returns the status of a call with all that the server said of it: besides code and message the
// reason and its metadata, which `dv::ReasonOf` and `dv::DetailsOf` (server/bytes/error.h) find,
// and the time to wait, which RetryDelayOf finds. They come from the call's
// `grpc-status-details-bin`; details that are absent or cannot be read are left out.
//
// Example:
//
//   absl::Status status = client.Describe(request).status();
//   if (dv::ReasonOf(status) == "FRAME_LENGTH_MISMATCH") {
//     std::string needed = dv::DetailsOf(status)["needed"];
//   }
absl::Status StatusFromGrpc(const grpc::Status& status);

// Returns the status of one item of a stream: the same as for a call, from the terms of an
// ItemStatus.
absl::Status StatusFromItem(const deletionvector::v1::ItemStatus& item);

// Returns how long the server says to wait before trying again, if it says so.
std::optional<absl::Duration> RetryDelayOf(const absl::Status& status);

}  // namespace dv::client
