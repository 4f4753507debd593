// Vectors of the contract from what the command line says.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/options.h"
#include "deletionvector/v1/vector.pb.h"

namespace dv::cli {

// Returns a vector without a source: format, cardinality and row count.
pb::DeletionVector AboutVector(const Options& options);

// Returns a reference to the object at `uri`, for the server to read. The cardinality becomes its
// record count.
pb::DeletionVector ReferenceTo(const Options& options, const std::string& uri);

// Returns the only source of `options` as a vector: a URI as a reference, anything else with its
// bytes. Errors are those of Input.
absl::StatusOr<pb::DeletionVector> LoadVector(const Options& options);

}  // namespace dv::cli
