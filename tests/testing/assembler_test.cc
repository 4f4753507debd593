#include "tests/testing/assembler.h"

#include <gtest/gtest.h>

#include "tests/testing/hex.h"
#include "tests/testing/oracle.h"

namespace dv::testing {
namespace {

TEST(AssemblerTest, CrcOfKnownText) {
  EXPECT_EQ(BitwiseCrc32(""), 0u);
  EXPECT_EQ(BitwiseCrc32("123456789"), 0xCBF43926u);
}

TEST(AssemblerTest, FrameOfThreePositions) {
  EXPECT_EQ(ToHex(FrameOf(OneBucket(0, Bitmap({Array(0, {1, 3, 5})})).Bytes())),
            ToHex(FromHex("00000026 d1d33964 0100000000000000 00000000"
                          "3a300000 01000000 0000 0200 10000000 0100 0300 0500 5a9e5d39")));
}

TEST(AssemblerTest, FrameOfOneRun) {
  EXPECT_EQ(ToHex(FrameOf(OneBucket(0, Bitmap({Runs(0, {{0, 99}})})).Bytes())),
            ToHex(FromHex("0000001f d1d33964 0100000000000000 00000000"
                          "3b300000 01 0000 6300 0100 0000 6300 883cd529")));
}

TEST(AssemblerTest, OffsetHeaderNeedsFourContainersWithRuns) {
  EXPECT_FALSE(Bitmap({Runs(0, {{0, 1}}), Array(1, {1}), Array(2, {1})}).WritesOffsetHeader());
  EXPECT_TRUE(Bitmap({Runs(0, {{0, 1}}), Array(1, {1}), Array(2, {1}), Array(3, {1})})
                  .WritesOffsetHeader());
  EXPECT_TRUE(Bitmap({Array(0, {0})}).WritesOffsetHeader());
}

TEST(AssemblerTest, CRoaringReadsEveryKindOfContainer) {
  const Bitmap32 bitmap = Bitmap({Array(0, {1, 3}), Bitset(1, Values(0, 5000, 2)),
                                  Runs(2, {{5, 9}, {100, 0}}), Array(65535, {65535})});
  const std::string bytes = OneBucket(7, bitmap).Bytes();
  ASSERT_TRUE(Oracle::Judge(bytes).accepted) << Oracle::Judge(bytes).why;
  const Oracle oracle(bytes);
  EXPECT_EQ(oracle.Cardinality(), 2u + 5000 + 11 + 1);
  EXPECT_EQ(oracle.First(), (uint64_t{7} << 32) + 1);
  EXPECT_EQ(oracle.Last(), (uint64_t{7} << 32) + 0xFFFFFFFF);
  EXPECT_TRUE(oracle.Contains((uint64_t{7} << 32) + 65536 + 9998));
  EXPECT_FALSE(oracle.Contains((uint64_t{7} << 32) + 65536 + 9997));
}

TEST(AssemblerTest, EveryFieldCanBeChanged) {
  Bitmap32 bitmap = Bitmap({Array(0, {1})});
  bitmap.cookie = 0x11223344;
  bitmap.count = 0x55667788;
  bitmap.offsets[0] = 0xAABBCCDD;
  bitmap.trailing = "z";
  EXPECT_EQ(ToHex(bitmap.Bytes()),
            "4433221188776655"
            "00000000"
            "ddccbbaa"
            "0100"
            "7a");
}

}  // namespace
}  // namespace dv::testing
