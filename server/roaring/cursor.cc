#include "server/roaring/cursor.h"

#include <algorithm>

#include "server/bytes/chain_reader.h"
#include "server/bytes/endian.h"
#include "server/roaring/container.h"
#include "server/roaring/slice.h"

namespace dv::roaring {

PositionCursor::PositionCursor(const View& view, const Range& range) : view_(&view), rest_(range) {}

size_t PositionCursor::Next(uint8_t* out, size_t capacity) {
  const Index& index = view_->index();
  bytes::ChainReader reader(view_->chain());
  size_t written = 0;
  while (written < capacity) {
    const auto slice = FirstSlice(index, rest_, hint_);
    if (!slice.has_value()) {
      rest_ = Range{1, 0};
      break;
    }
    Container container(reader, index, slice->i);
    uint8_t* to = out + 8 * written;
    const size_t n =
        container.WritePositions(slice->low, slice->high, slice->base, to, capacity - written);
    written += n;
    if (written == capacity) {
      DropThrough(bytes::LoadLittle<uint64_t>(to + 8 * (n - 1)), rest_);
    } else {
      DropThrough(slice->base + slice->high, rest_);
    }
  }
  return written;
}

bool PositionCursor::Done() { return view_->Count(rest_) == 0; }

RunCursor::RunCursor(const View& view, const Range& range) : view_(&view), rest_(range) {}

size_t RunCursor::Next(Run* out, size_t capacity) {
  const Index& index = view_->index();
  bytes::ChainReader reader(view_->chain());
  size_t written = 0;
  while (written < capacity) {
    const auto slice = FirstSlice(index, rest_, hint_);
    if (!slice.has_value()) {
      rest_ = Range{1, 0};
      if (pending_.length > 0) {
        out[written++] = pending_;
        pending_.length = 0;
      }
      break;
    }
    Container container(reader, index, slice->i);
    const bool all =
        container.ForEachRun(slice->low, slice->high, [&](uint32_t low, uint32_t high) {
          Run run{slice->base + low, uint64_t{high} - low + 1};
          if (pending_.length > 0) {
            if (pending_.start + pending_.length == run.start) {
              const uint64_t taken = std::min(run.length, kMaxLength - pending_.length);
              pending_.length += taken;
              run.start += taken;
              run.length -= taken;
              if (run.length == 0) return true;
            }
            out[written++] = pending_;
            if (written == capacity) {
              // No room to remember this run's successors: it is read again by the next call.
              pending_.length = 0;
              rest_.first = run.start;
              return false;
            }
          }
          pending_ = run;
          return true;
        });
    if (all) DropThrough(slice->base + slice->high, rest_);
  }
  return written;
}

}  // namespace dv::roaring
