// What a vector costs: nothing is allocated for it but its index. The operators that all of C++
// allocates with are replaced in this program, and counted.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "server/format/decode.h"
#include "tests/testing/assembler.h"
#include "tests/testing/chains.h"

namespace {

bool counting = false;
size_t allocated_bytes = 0;
size_t largest_allocation = 0;

void* Allocate(size_t size) {
  if (counting) {
    allocated_bytes += size;
    if (size > largest_allocation) largest_allocation = size;
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace dv::testing {
namespace {

// Bytes that are allocated while `chain` is decoded, and the vector.
std::pair<size_t, format::DecodedVector> CountDecode(bytes::Chain chain) {
  allocated_bytes = largest_allocation = 0;
  counting = true;
  auto vector = format::Decode(std::move(chain), {});
  counting = false;
  EXPECT_TRUE(vector.ok()) << vector.status();
  return {allocated_bytes, *std::move(vector)};
}

// A frame with `count` bitsets of 8 KiB, each under a key of its own.
std::string Bitsets(uint32_t count) {
  Bitmap64 bitmap;
  for (uint32_t key = 0; key < count; ++key) {
    bitmap.buckets.push_back({key, Bitmap({Bitset(0, Values(0, 32768, 2))}).Bytes()});
  }
  return FrameOf(bitmap.Bytes());
}

TEST(Allocation, OnlyTheIndex) {
  const std::string frame = Bitsets(400);
  ASSERT_GT(frame.size(), 3'000'000u);
  Random random(1);
  for (const uint64_t piece : {uint64_t{64} << 10, uint64_t{16} << 10, uint64_t{1000}}) {
    bytes::Chain chain = MakeChain(frame, RandomCuts(frame.size(), piece, random));
    const auto [bytes, vector] = CountDecode(std::move(chain));
    // While it grows, the index is doubled: all its sizes together are at most twice the last one.
    EXPECT_LE(bytes, 2 * vector.view.index().allocated_bytes());
    EXPECT_LE(vector.view.index().allocated_bytes(), 64u * 400);
    EXPECT_LT(largest_allocation, size_t{64} << 10) << "as large as a piece: a copy?";
  }
}

TEST(Allocation, EmptyBitmapsCostNothing) {
  Bitmap64 bitmap;
  for (uint32_t key = 0; key < 100'000; ++key) bitmap.buckets.push_back({key, Bitmap({}).Bytes()});
  const auto [bytes, vector] = CountDecode(MakeChain(FrameOf(bitmap.Bytes())));
  EXPECT_EQ(vector.view.index().empty_key_count(), 100'000u);
  EXPECT_LT(bytes, 1024u);
}

TEST(Allocation, NotWhatHeadersClaim) {
  // A count of bitmaps that the bytes could just hold, and of containers that they could not.
  std::string bytes(12 * 50'000, '\0');
  Bitmap64 bitmap = OneBucket(0, Bitmap({}));
  bitmap.count = 50'000;
  bitmap.trailing = bytes;
  bytes::Chain chain = MakeChain(FrameOf(bitmap.Bytes()));
  allocated_bytes = 0;
  counting = true;
  const absl::Status broken = format::Decode(std::move(chain), {}).status();
  counting = false;
  EXPECT_FALSE(broken.ok());
  EXPECT_LT(allocated_bytes, 8192u) << broken;

  Bitmap32 claims = Bitmap({Array(0, {1})});
  claims.count = 65'536;
  chain = MakeChain(FrameOf(OneBucket(0, claims).Bytes()));
  allocated_bytes = 0;
  counting = true;
  const absl::Status cut = format::Decode(std::move(chain), {}).status();
  counting = false;
  EXPECT_FALSE(cut.ok());
  EXPECT_LT(allocated_bytes, 8192u) << cut;
}

}  // namespace
}  // namespace dv::testing
