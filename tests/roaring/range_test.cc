#include "server/roaring/range.h"

#include <gtest/gtest.h>

namespace dv::roaring {
namespace {

constexpr uint64_t kMax = ~uint64_t{0};

TEST(RangeTest, AllRowsByDefault) {
  EXPECT_EQ(Range().first, 0u);
  EXPECT_EQ(Range().last, kMax);
  EXPECT_FALSE(Range().empty());
}

TEST(RangeTest, HalfOpen) {
  EXPECT_EQ(Range::HalfOpen(3, 7).first, 3u);
  EXPECT_EQ(Range::HalfOpen(3, 7).last, 6u);
  EXPECT_EQ(Range::HalfOpen(0, 1).last, 0u);
  EXPECT_EQ(Range::HalfOpen(5, kMax).last, kMax - 1);
}

TEST(RangeTest, WithoutEndThroughTheLastRow) {
  EXPECT_EQ(Range::HalfOpen(3, std::nullopt).last, kMax);
  EXPECT_EQ(Range::HalfOpen(kMax, std::nullopt).first, kMax);
  EXPECT_FALSE(Range::HalfOpen(kMax, std::nullopt).empty());
}

TEST(RangeTest, EmptyAnywhere) {
  EXPECT_TRUE(Range::HalfOpen(0, 0).empty());
  EXPECT_TRUE(Range::HalfOpen(7, 7).empty());
  EXPECT_TRUE(Range::HalfOpen(kMax, kMax).empty());
}

}  // namespace
}  // namespace dv::roaring
