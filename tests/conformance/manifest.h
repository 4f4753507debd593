// Files that other implementations wrote, and what a strict reader says of each: a folder with a
// MANIFEST.json.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/conformance/cases.h"

namespace dv::conformance {

// Returns the folder of the test vectors: DV_VECTORS of the environment, or `shared/vectors` beside
// the folder of the project. Empty when there is none.
std::string VectorsFolder();

// What was read of a manifest.
struct Manifest {
  // The entries that can be read, with their bytes: Iceberg blobs, bare 64-bit Roaring, and valid
  // frames of other formats that are the same bytes.
  std::vector<Case> cases;
  // Number of entries of other formats.
  size_t skipped = 0;
};

// Reads the manifest in `folder` and the files that it names. INVALID_ARGUMENT when it makes no
// sense, such as an error code that no reason of ours stands for.
absl::StatusOr<Manifest> ReadManifest(const std::string& folder);

}  // namespace dv::conformance
