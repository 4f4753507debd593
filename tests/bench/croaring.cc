#include "tests/bench/croaring.h"

#include <roaring/roaring.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "server/bytes/endian.h"

namespace dv::bench {
namespace {

[[noreturn]] void Refused(const char* function, const char* why) {
  std::fprintf(stderr, "CRoaring: %s refuses the payload: %s\n", function, why);
  std::exit(1);
}

uint64_t Crc(std::string_view payload) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(payload.data()), payload.size());
}

// Checks and frees `bitmap`.
uint64_t Finish(const char* function, Bitmap bitmap, std::string_view payload, Checks checks) {
  if (bitmap == nullptr) Refused(function, "null");
  uint64_t result = roaring64_bitmap_is_empty(bitmap.get()) ? 0 : 1;
  if (checks != Checks::kIndex) {
    const char* reason = nullptr;
    if (!roaring64_bitmap_internal_validate(bitmap.get(), &reason)) Refused(function, reason);
  }
  if (checks == Checks::kContentAndCrc) result += Crc(payload);
  return result;
}

// Positions that are read at a time where they are not the answer, and the first time: CRoaring's
// iterator has no end, so what lies behind the range is read in vain.
constexpr uint64_t kBatch = 1024;
constexpr uint64_t kFirstBatch = 64;

// Calls `fn(const uint64_t* positions, uint64_t count)` for the positions in [start, start + rows).
template <typename Fn>
uint64_t ForEachBatch(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                      uint64_t* buffer, uint64_t capacity, Fn&& fn) {
  roaring64_iterator_t* const iterator = roaring64_iterator_create(bitmap);
  uint64_t total = 0;
  uint64_t batch = std::min(kFirstBatch, capacity);
  bool more = roaring64_iterator_move_equalorlarger(iterator, start);
  while (more) {
    uint64_t count = roaring64_iterator_read(iterator, buffer, batch);
    more = count == batch;
    if (count > 0 && buffer[count - 1] >= start + rows) {
      count =
          static_cast<uint64_t>(std::lower_bound(buffer, buffer + count, start + rows) - buffer);
      more = false;
    }
    fn(buffer, count);
    total += count;
    batch = std::min(4 * batch, capacity);
  }
  roaring64_iterator_free(iterator);
  return total;
}

}  // namespace

bool HaveFrozen64() {
#ifdef DV_BENCH_HAVE_FROZEN64
  return true;
#else
  return false;
#endif
}

std::string CRoaringVersion() { return ROARING_VERSION; }

uint64_t DecodeSafe(std::string_view payload, Checks checks) {
  Bitmap bitmap(roaring64_bitmap_portable_deserialize_safe(payload.data(), payload.size()));
  return Finish("roaring64_bitmap_portable_deserialize_safe", std::move(bitmap), payload, checks);
}

uint64_t DecodeFrozen64(std::string_view payload, Checks checks) {
  Bitmap bitmap;
#ifdef DV_BENCH_HAVE_FROZEN64
  bitmap.reset(roaring64_bitmap_portable_deserialize_frozen(payload.data(), payload.size()));
#endif
  return Finish("roaring64_bitmap_portable_deserialize_frozen", std::move(bitmap), payload, checks);
}

uint64_t DecodeFrozen32(std::string_view payload, std::vector<roaring_bitmap_t*>& bitmaps) {
  const char* const function = "roaring_bitmap_portable_deserialize_frozen";
  bitmaps.clear();
  if (payload.size() < 8) Refused(function, "too short");
  const auto count = bytes::LoadLittle<uint64_t>(reinterpret_cast<const uint8_t*>(payload.data()));
  payload.remove_prefix(8);
  for (uint64_t i = 0; i < count; ++i) {
    if (payload.size() < 4) Refused(function, "too short");
    payload.remove_prefix(4);
    const size_t size = roaring_bitmap_portable_deserialize_size(payload.data(), payload.size());
    if (size == 0) Refused(function, "too short");
    bitmaps.push_back(roaring_bitmap_portable_deserialize_frozen(payload.data()));
    if (bitmaps.back() == nullptr) Refused(function, "null");
    payload.remove_prefix(size);
  }
  for (roaring_bitmap_t* bitmap : bitmaps) roaring_bitmap_free(bitmap);
  return bitmaps.size();
}

Bitmap ReadBitmap(std::string_view payload) {
  Bitmap bitmap(roaring64_bitmap_portable_deserialize_safe(payload.data(), payload.size()));
  if (bitmap == nullptr) Refused("roaring64_bitmap_portable_deserialize_safe", "null");
  return bitmap;
}

uint64_t ReadPositions(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                       absl::Span<uint64_t> out) {
  return ForEachBatch(bitmap, start, rows, out.data(), out.size(),
                      [](const uint64_t*, uint64_t) {});
}

uint64_t ReadRuns(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                  absl::Span<uint64_t> out) {
  uint64_t buffer[kBatch];
  size_t filled = 0;
  uint64_t first = 0;
  uint64_t length = 0;
  const auto flush = [&] {
    if (filled + 2 > out.size()) filled = 0;
    out[filled++] = first;
    out[filled++] = length;
  };
  const uint64_t total = ForEachBatch(bitmap, start, rows, buffer, kBatch,
                                      [&](const uint64_t* positions, uint64_t count) {
                                        for (uint64_t i = 0; i < count; ++i) {
                                          if (length > 0 && positions[i] == first + length) {
                                            ++length;
                                            continue;
                                          }
                                          if (length > 0) flush();
                                          first = positions[i];
                                          length = 1;
                                        }
                                      });
  if (length > 0) flush();
  return total;
}

uint64_t WriteMask(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows, bool live,
                   absl::Span<uint8_t> out) {
  uint64_t buffer[kBatch];
  std::memset(out.data(), live ? 0xFF : 0, out.size());
  return ForEachBatch(bitmap, start, rows, buffer, kBatch,
                      [&](const uint64_t* positions, uint64_t count) {
                        for (uint64_t i = 0; i < count; ++i) {
                          const uint64_t bit = positions[i] - start;
                          out[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
                        }
                      });
}

uint64_t WriteRoaring(const roaring64_bitmap_t* bitmap, uint64_t start, uint64_t rows,
                      std::string& out) {
  const Bitmap range(roaring64_bitmap_from_range(start, start + rows, 1));
  const Bitmap part(roaring64_bitmap_and(bitmap, range.get()));
  out.resize(roaring64_bitmap_portable_size_in_bytes(part.get()));
  roaring64_bitmap_portable_serialize(part.get(), out.data());
  return roaring64_bitmap_get_cardinality(part.get());
}

uint64_t ReadAllPositions(const roaring64_bitmap_t* bitmap, absl::Span<uint64_t> out) {
  roaring64_bitmap_to_uint64_array(bitmap, out.data());
  return out.size();
}

struct AllMask::State {
  roaring_bitmap_t* bitmap;
  bitset_t* bitset;
};

AllMask::AllMask(std::string_view payload) : state_(std::make_unique<State>()) {
  // Behind the count and the key.
  payload.remove_prefix(12);
  state_->bitmap = roaring_bitmap_portable_deserialize_safe(payload.data(), payload.size());
  if (state_->bitmap == nullptr) Refused("roaring_bitmap_portable_deserialize_safe", "null");
  state_->bitset = bitset_create();
}

AllMask::~AllMask() {
  bitset_free(state_->bitset);
  roaring_bitmap_free(state_->bitmap);
}

uint64_t AllMask::Write() {
  if (!roaring_bitmap_to_bitset(state_->bitmap, state_->bitset)) {
    Refused("roaring_bitmap_to_bitset", "out of memory");
  }
  return state_->bitset->arraysize;
}

}  // namespace dv::bench
