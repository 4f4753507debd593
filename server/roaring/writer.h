// Pieces of a view as Roaring bitmaps of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "server/roaring/range.h"
#include "server/roaring/view.h"

namespace dv::roaring {

// RoaringCursor
//
// Reads the positions of a view, in a range, as a sequence of complete bitmaps in the portable
// 64-bit format. Containers that are wholly inside are copied as they are; one that the range or
// the limit cuts is written anew in its smallest form. The view must outlive the cursor.
class RoaringCursor {
 public:
  RoaringCursor(const View& view, const Range& range);

  // What Next() wrote.
  struct Part {
    uint64_t position_count = 0;
    // Largest position in the part. Undefined when it has none.
    uint64_t last_position = 0;
  };

  // Appends to `out` one bitmap with the next positions: at most `max_positions` of them and as
  // many containers as fit into about `max_bytes` (at least one container, so at most
  // max(max_bytes, 8,232) bytes). The part has no position, and nothing is appended, at the end.
  // REQUIRES: max_positions > 0.
  Part Next(size_t max_bytes, uint64_t max_positions, std::string& out);

 private:
  const View* view_;
  Range rest_;
  size_t hint_ = 0;
};

}  // namespace dv::roaring
