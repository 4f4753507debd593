// File: cursor.h
//
// Cursors read the positions of a view, in a range, in ascending order, a bounded number at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/roaring/range.h"
#include "server/roaring/view.h"

namespace dv::roaring {

// PositionCursor
//
// Positions one by one. The view must outlive the cursor.
class PositionCursor {
 public:
  PositionCursor(const View& view, const Range& range);

  // Writes up to `capacity` next positions to `out` as little-endian numbers of 8 bytes, at any
  // alignment, and returns how many: fewer than `capacity` only at the end.
  size_t Next(uint8_t* out, size_t capacity);

  // Whether no position is left.
  bool Done();

 private:
  const View* view_;
  // Next row to look at, and the last.
  Range rest_;
  // A container at or before the next row.
  size_t hint_ = 0;
};

// A run: `length` positions from `start` on.
struct Run {
  uint64_t start;
  uint64_t length;
};

// RunCursor
//
// Maximal runs of positions: neighbours are joined across containers and keys, and only the range
// cuts a run, or its length: none is longer than kMaxLength. The view must outlive the cursor.
class RunCursor {
 public:
  static constexpr uint64_t kMaxLength = uint64_t{1} << 63;

  RunCursor(const View& view, const Range& range);

  // Writes up to `capacity` next runs to `out` and returns how many: fewer than `capacity` only at
  // the end.
  size_t Next(Run* out, size_t capacity);

 private:
  // Reads more runs into `pending_` and behind, as far as there is room.
  const View* view_;
  Range rest_;
  size_t hint_ = 0;
  // The run that may still grow; none when its length is 0.
  Run pending_{0, 0};
};

}  // namespace dv::roaring
