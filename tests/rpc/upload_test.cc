#include "server/rpc/upload.h"

#include <gtest/gtest.h>

#include <string>

#include "server/rpc/limits.h"
#include "tests/testing/chains.h"
#include "tests/testing/random.h"

namespace dv::rpc {
namespace {

using dv::testing::Random;

std::string SomeBytes(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 256);
  return bytes;
}

TEST(Upload, PutsChunksOfAllSizesInARow) {
  Random random(dv::testing::TestSeed());
  for (int round = 0; round < 50; ++round) {
    const std::string bytes = SomeBytes(1 + random.Below(300'000));
    Upload upload(bytes.size());
    uint64_t small = 0;
    while (!upload.complete()) {
      const uint64_t left = bytes.size() - upload.received();
      const uint64_t size = std::min<uint64_t>(left, random.Below(random.OneIn(4) ? 60'000 : 300));
      const uint64_t before = upload.received();
      upload.Add(dv::testing::MakeChain(std::string_view(bytes).substr(before, size),
                                        dv::testing::RandomCuts(size, 5'000, random)));
      EXPECT_EQ(upload.received(), before + size);
      if (size < kCopyBelowBytes) small += size;
    }
    EXPECT_EQ(upload.bytes_copied(), small);
    const bytes::Chain chain = upload.Take();
    EXPECT_EQ(chain.ToString(), bytes);
  }
}

TEST(Upload, BigChunksStayWhereTheyAre) {
  const std::string bytes = SomeBytes(2 * kCopyBelowBytes);
  const bytes::Chain chunk = bytes::Chain::Own(bytes);
  Upload upload(bytes.size());
  upload.Add(chunk);
  const bytes::Chain chain = upload.Take();
  ASSERT_EQ(chain.pieces().size(), 1u);
  EXPECT_EQ(chain.pieces()[0].data, chunk.pieces()[0].data);
  EXPECT_EQ(upload.bytes_copied(), 0u);
}

TEST(Upload, TinyChunksTakeLittleMemory) {
  const std::string bytes = SomeBytes(200'000);
  Upload upload(bytes.size());
  for (const char byte : bytes) upload.Add(bytes::Chain::Own(std::string(1, byte)));
  const bytes::Chain chain = upload.Take();
  EXPECT_EQ(chain.ToString(), bytes);
  EXPECT_LE(chain.pieces().size(), 4u);
}

TEST(CopyOf, HoldsOnToNothing) {
  bytes::Chain chain = dv::testing::MakeChain("some bytes", {2, 5});
  const bytes::Chain copy = CopyOf(chain);
  EXPECT_NE(copy.pieces()[0].data, chain.pieces()[0].data);
  chain = bytes::Chain();
  EXPECT_EQ(copy.ToString(), "some bytes");
  EXPECT_EQ(copy.pieces().size(), 1u);
}

}  // namespace
}  // namespace dv::rpc
