#include "server/bytes/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/testing/chains.h"
#include "tests/testing/random.h"

namespace dv::bytes {
namespace {

using dv::testing::CutsEverywhere;
using dv::testing::MakeChain;
using dv::testing::Random;
using dv::testing::RandomCuts;
using dv::testing::TestSeed;

Span SpanOf(const std::string& text) {
  return Span(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// Checks what must hold of the pieces of every chain.
void CheckPieces(const Chain& chain) {
  uint64_t end = 0;
  for (const Chain::Piece& piece : chain.pieces()) {
    EXPECT_EQ(piece.begin, end);
    EXPECT_GT(piece.end, piece.begin);
    EXPECT_EQ(piece.size(), piece.end - piece.begin);
    end = piece.end;
  }
  EXPECT_EQ(chain.size(), end);
  EXPECT_EQ(chain.empty(), end == 0);
}

TEST(ChainTest, EmptyChain) {
  const Chain chain;
  CheckPieces(chain);
  EXPECT_EQ(chain.size(), 0u);
  EXPECT_EQ(chain.ToString(), "");
  chain.CopyTo(0, 0, nullptr);
}

TEST(ChainTest, BorrowPointsAtTheBytes) {
  const std::string text = "abc";
  const Chain chain = Chain::Borrow(SpanOf(text));
  CheckPieces(chain);
  ASSERT_EQ(chain.pieces().size(), 1u);
  EXPECT_EQ(chain.pieces()[0].data, SpanOf(text).data());
  EXPECT_EQ(chain.ToString(), "abc");
}

TEST(ChainTest, BorrowOfNothingIsEmpty) { CheckPieces(Chain::Borrow({})); }

TEST(ChainTest, OwnKeepsTheTextWhereItIs) {
  // Longer than what a string keeps in itself.
  std::string text(100, 'x');
  const void* const data = text.data();
  const Chain chain = Chain::Own(std::move(text));
  EXPECT_EQ(chain.pieces()[0].data, data);
  // Short ones must stay readable too when the chain moves.
  Chain first = Chain::Own("short");
  const Chain second = std::move(first);
  EXPECT_EQ(second.ToString(), "short");
  CheckPieces(Chain::Own(""));
}

TEST(ChainTest, AppendLeavesOutEmptySpans) {
  const std::string text = "abcdef";
  Chain chain;
  chain.Append({}, nullptr);
  chain.Append(SpanOf(text).subspan(0, 2), nullptr);
  chain.Append(SpanOf(text).subspan(2, 0), std::make_shared<int>(1));
  chain.Append(SpanOf(text).subspan(2, 4), nullptr);
  CheckPieces(chain);
  EXPECT_EQ(chain.pieces().size(), 2u);
  EXPECT_EQ(chain.ToString(), "abcdef");
}

TEST(ChainTest, OwnersLiveAsLongAsAnyChain) {
  auto owner = std::make_shared<std::string>("abcdef");
  const std::weak_ptr<std::string> watch = owner;
  auto chain = std::make_unique<Chain>();
  chain->Append(SpanOf(*owner).subspan(0, 3), owner);
  chain->Append(SpanOf(*owner).subspan(3, 3), owner);
  EXPECT_EQ(owner.use_count(), 2) << "pieces in a row with one owner keep it once";
  owner.reset();
  EXPECT_FALSE(watch.expired());
  Chain copy = *chain;
  Chain part;
  part.AppendRange(*chain, 4, 1);
  chain.reset();
  EXPECT_EQ(copy.ToString(), "abcdef");
  copy = Chain();
  EXPECT_EQ(part.ToString(), "e");
  EXPECT_FALSE(watch.expired());
  part = Chain();
  EXPECT_TRUE(watch.expired());
}

TEST(ChainTest, AlternatingOwnersAreAllKept) {
  const auto first = std::make_shared<std::string>("ab");
  const auto second = std::make_shared<std::string>("cd");
  Chain chain;
  for (int i = 0; i < 3; ++i) {
    chain.Append(SpanOf(*first), first);
    chain.Append(SpanOf(*second), second);
  }
  EXPECT_EQ(chain.ToString(), "abcdabcdabcd");
  EXPECT_GT(first.use_count(), 1);
  EXPECT_GT(second.use_count(), 1);
  chain = Chain();
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
}

TEST(ChainTest, CopySharesTheBytes) {
  const Chain chain = MakeChain("abcdef", {2, 3});
  const Chain copy = chain;
  ASSERT_EQ(copy.pieces().size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(copy.pieces()[i].data, chain.pieces()[i].data);
}

TEST(ChainTest, AppendRangeOfEveryRange) {
  const std::string text = "abcdefghij";
  const Chain source = MakeChain(text, {1, 4, 5, 9});
  for (uint64_t offset = 0; offset <= text.size(); ++offset) {
    for (uint64_t length = 0; length <= text.size() - offset; ++length) {
      SCOPED_TRACE(::testing::Message() << offset << "+" << length);
      Chain chain = MakeChain("xyz", {1});
      chain.AppendRange(source, offset, length);
      CheckPieces(chain);
      EXPECT_EQ(chain.ToString(), "xyz" + text.substr(offset, length));
      for (const Chain::Piece& piece : chain.pieces().subspan(2)) {
        bool shared = false;
        for (const Chain::Piece& original : source.pieces()) {
          shared |= piece.data >= original.data && piece.data < original.data + original.size();
        }
        EXPECT_TRUE(shared) << "a piece was copied";
      }
    }
  }
}

TEST(ChainTest, AppendRangeOfItself) {
  Chain chain = MakeChain("abcdef", {2, 4});
  for (int i = 0; i < 3; ++i) chain.AppendRange(chain, 0, chain.size());
  CheckPieces(chain);
  EXPECT_EQ(chain.size(), 48u);
  EXPECT_EQ(chain.ToString().substr(0, 12), "abcdefabcdef");
}

TEST(ChainTest, FindPieceWithAnyHint) {
  const Chain chain = MakeChain("abcdefghij", {1, 4, 5, 9});
  const size_t expected[] = {0, 1, 1, 1, 2, 3, 3, 3, 3, 4};
  for (uint64_t offset = 0; offset < chain.size(); ++offset) {
    EXPECT_EQ(chain.FindPiece(offset), expected[offset]);
    // Hints may be wrong in any way.
    for (const size_t hint : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 1000u}) {
      EXPECT_EQ(chain.FindPiece(offset, hint), expected[offset]) << offset << ", hint " << hint;
    }
  }
}

TEST(ChainTest, CopyToOfEveryRange) {
  const std::string text = "abcdefghij";
  for (const auto& cuts : {std::vector<uint64_t>{}, {3}, {1, 4, 5, 9}, CutsEverywhere(10)}) {
    const Chain chain = MakeChain(text, cuts);
    for (uint64_t offset = 0; offset <= text.size(); ++offset) {
      for (uint64_t length = 0; length <= text.size() - offset; ++length) {
        std::string out(length + 2, '#');
        chain.CopyTo(offset, length, reinterpret_cast<uint8_t*>(out.data()) + 1);
        EXPECT_EQ(out, "#" + text.substr(offset, length) + "#");
      }
    }
  }
}

TEST(ChainTest, RandomCutsGiveTheSameBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE(::testing::Message() << "DV_TEST_SEED=" << seed);
  Random random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string text(random.Between(0, 3000), '\0');
    for (char& c : text) c = static_cast<char>(random.Bits());
    const Chain chain = MakeChain(text, RandomCuts(text.size(), random.Between(1, 700), random));
    CheckPieces(chain);
    ASSERT_EQ(chain.ToString(), text);
  }
}

TEST(ChainTest, BookkeepingCountsPiecesAndOwners) {
  Chain chain = MakeChain(std::string(100, 'x'), CutsEverywhere(100));
  EXPECT_GE(chain.bookkeeping_bytes(), 100 * sizeof(Chain::Piece));
  EXPECT_LE(chain.bookkeeping_bytes(), 256 * (sizeof(Chain::Piece) + 16));
}

}  // namespace
}  // namespace dv::bytes
