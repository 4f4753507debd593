// One Roaring bitmap from the parts of an answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dv::cli {

// RoaringMerger
//
// Takes the parts of an answer in ENCODING_ROARING, each a complete bitmap in the portable 64-bit
// format, and writes their union as one such bitmap. It keeps the containers as they come, so it
// holds about as many bytes as the parts have.
//
// Example:
//
//   RoaringMerger merger;
//   while (reader->Next(&part)) {
//     absl::Status status = merger.Add(part.roaring());
//     if (!status.ok()) return status;
//   }
//   output.Write(merger.Finish());
class RoaringMerger {
 public:
  // Adds a part. Its positions follow those of the parts before; a block of 65,536 may be cut in
  // two. INTERNAL: the part is no bitmap, or does not follow.
  absl::Status Add(absl::string_view part);

  // Returns the union. Nothing may be added after.
  std::string Finish();

 private:
  struct Container {
    // Upper 48 bits of its positions.
    uint64_t key;
    // 1 to 65,536.
    uint32_t cardinality;
    bool run;
    // As in the format.
    std::string bytes;
  };

  // Reads the 32-bit bitmap under `key` off the front of `bytes`.
  absl::Status AddBitmap(uint32_t key, absl::string_view& bytes);
  absl::Status AddContainer(Container container);

  std::vector<Container> containers_;
};

}  // namespace dv::cli
