#include "server/rpc/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "google/protobuf/util/message_differencer.h"
#include "server/bytes/reason.h"
#include "tests/rpc/requests.h"
#include "tests/testing/hex.h"
#include "tests/testing/random.h"
#include "tests/testing/status_matchers.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::HasCode;
using dv::testing::HasReason;
using dv::testing::IsOk;
using dv::testing::Random;
using dv::testing::ToHex;

constexpr uint64_t kNoLimit = 1'000'000;

// A number as a varint of at least `bytes` bytes: more than it needs, if there are more.
std::string Varint(uint64_t value, size_t bytes = 1) {
  std::string text;
  while (value >= 0x80 || text.size() + 1 < bytes) {
    text.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  text.push_back(static_cast<char>(value));
  return text;
}

std::string Tag(uint32_t number, uint32_t type) { return Varint(number << 3 | type); }

std::string Field(uint32_t number, const std::string& content) {
  return Tag(number, 2) + Varint(content.size()) + content;
}

std::string Number(uint32_t number, uint64_t value) { return Tag(number, 0) + Varint(value); }

// Parses `bytes`, cut in many ways, in place and by the generated parser, and expects the same.
// Returns whether the message is valid.
template <typename Message>
bool ExpectSame(const std::string& bytes, Random& random) {
  const absl::StatusOr<ParsedRequest<Message>> generic = ParseGeneric<Message>(InOnePiece(bytes));
  for (const uint64_t max_piece : {uint64_t{1} << 20, uint64_t{1}, uint64_t{2}, uint64_t{40}}) {
    const absl::StatusOr<ParsedRequest<Message>> request =
        ParseRequest<Message>(InPieces(bytes, max_piece, random), kNoLimit);
    EXPECT_EQ(request.ok(), generic.ok())
        << request.status() << " instead of " << generic.status() << ": " << ToHex(bytes);
    if (!request.ok()) {
      EXPECT_THAT(request, HasCode(absl::StatusCode::kInvalidArgument));
      EXPECT_THAT(request, HasReason(reason::kRequestMalformed));
      continue;
    }
    if (!generic.ok()) continue;
    EXPECT_EQ(request->message.SerializeAsString(), generic->message.SerializeAsString())
        << ToHex(bytes);
    EXPECT_EQ(request->payloads.size(), generic->payloads.size()) << ToHex(bytes);
    for (size_t i = 0; i < std::min(request->payloads.size(), generic->payloads.size()); ++i) {
      EXPECT_EQ(request->payloads[i].ToString(), generic->payloads[i].ToString()) << ToHex(bytes);
    }
  }
  return generic.ok();
}

// All message types on the same bytes: what is right for one is odd for another.
void ExpectSameForAll(const std::string& bytes, Random& random) {
  ExpectSame<pb::DescribeRequest>(bytes, random);
  ExpectSame<pb::ReadPositionsRequest>(bytes, random);
  ExpectSame<pb::CheckPositionsRequest>(bytes, random);
  ExpectSame<pb::CountPositionsRequest>(bytes, random);
  ExpectSame<pb::ScanRequest>(bytes, random);
}

pb::DeletionVector SomeVector(Random& random) {
  pb::DeletionVector vector;
  switch (random.Below(5)) {
    case 0:
      vector.mutable_object()->set_location("s3://bucket/key");
      vector.mutable_object()->set_content_offset(static_cast<int64_t>(random.Bits()));
      break;
    case 1:
      vector.mutable_chunked()->set_total_size(random.Bits());
      break;
    default:
      vector.set_inline_(std::string(random.Below(300), static_cast<char>(random.Bits())));
      break;
  }
  if (random.OneIn(2)) vector.set_format(pb::FORMAT_ICEBERG);
  if (random.OneIn(2)) vector.set_expected_cardinality(random.Bits());
  if (random.OneIn(3)) vector.set_row_count(random.Below(200));
  return vector;
}

std::string SomeUnary(Random& random) {
  switch (random.Below(4)) {
    case 0: {
      pb::DescribeRequest request;
      *request.mutable_vector() = SomeVector(random);
      if (random.OneIn(2)) request.mutable_histogram()->set_bucket_count(3);
      if (random.OneIn(3)) (*request.mutable_access()->mutable_properties())["a"] = "b";
      return request.SerializeAsString();
    }
    case 1: {
      pb::ReadPositionsRequest request;
      *request.mutable_vector() = SomeVector(random);
      request.mutable_query()->mutable_range()->set_end(random.Bits());
      return request.SerializeAsString();
    }
    case 2: {
      pb::CheckPositionsRequest request;
      *request.mutable_vector() = SomeVector(random);
      for (uint64_t i = random.Below(50); i > 0; --i) request.add_positions(random.Bits());
      return request.SerializeAsString();
    }
    default: {
      pb::CountPositionsRequest request;
      *request.mutable_vector() = SomeVector(random);
      for (uint64_t i = random.Below(20); i > 0; --i) {
        request.add_ranges()->set_start(random.Below(300));
      }
      return request.SerializeAsString();
    }
  }
}

std::string SomeScan(Random& random) {
  pb::ScanRequest request;
  switch (random.Below(5)) {
    case 0:
    case 1:
      for (uint64_t i = random.Below(4); i > 0; --i) {
        pb::OpenVector& open = *request.mutable_open()->add_vectors();
        open.set_vector_id(random.Below(1000));
        if (!random.OneIn(8)) *open.mutable_vector() = SomeVector(random);
      }
      break;
    case 2:
      request.mutable_chunk()->set_vector_id(random.Below(3));
      request.mutable_chunk()->set_offset(random.Below(1000));
      request.mutable_chunk()->set_data(std::string(random.Below(200), 'x'));
      break;
    case 3:
      request.mutable_query()->set_query_id(random.Bits());
      for (uint64_t i = random.Below(50); i > 0; --i) {
        request.mutable_query()->mutable_check()->add_positions(random.Bits());
      }
      break;
    default:
      request.mutable_close_vector()->set_vector_id(random.Bits());
      break;
  }
  return request.SerializeAsString();
}

// Changes some bytes, cuts, or inserts.
std::string Mutated(std::string bytes, Random& random) {
  for (uint64_t i = random.Below(4); i > 0 && !bytes.empty(); --i) {
    const size_t at = random.Below(bytes.size());
    switch (random.Below(5)) {
      case 0:
        bytes[at] = static_cast<char>(random.Bits());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 2:
        bytes.erase(at, 1 + random.Below(4));
        break;
      case 3:
        bytes.insert(at, 1 + random.Below(3), static_cast<char>(random.Below(30)));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

TEST(ParseRequest, FindsTheSameAsTheGeneratedParser) {
  Random random(dv::testing::TestSeed());
  for (size_t i = dv::testing::Iterations("DV_WIRE_CASES", 3000); i > 0; --i) {
    const std::string unary = SomeUnary(random);
    const std::string scan = SomeScan(random);
    ExpectSameForAll(unary, random);
    ExpectSameForAll(scan, random);
    ExpectSameForAll(Mutated(unary, random), random);
    ExpectSameForAll(Mutated(scan, random), random);
    // Two messages in a row are merged.
    if (i % 8 == 0) ExpectSameForAll(scan + SomeScan(random), random);
    if (HasFailure()) break;
  }
}

TEST(ParseRequest, TakesMessagesCutAnywhereLikeTheGeneratedParser) {
  Random random(dv::testing::TestSeed());
  for (int i = 0; i < 20; ++i) {
    const std::string bytes = i % 2 == 0 ? SomeUnary(random) : SomeScan(random);
    for (size_t size = 0; size < bytes.size(); ++size) {
      ExpectSameForAll(bytes.substr(0, size), random);
      if (HasFailure()) return;
    }
  }
}

TEST(ParseRequest, TakesOddEncodingsLikeTheGeneratedParser) {
  const std::string one = Field(1, "first");
  const std::string two = Field(1, "second");
  const std::string object = Field(2, Field(1, "s3://b/k"));
  const std::string group = Tag(15, 3) + Number(1, 7) + Tag(3, 3) + Tag(3, 4) + Tag(15, 4);
  const auto open = [](const std::string& vector) {
    return Field(1, Field(1, Number(1, 3) + Field(2, vector)));
  };
  const std::string chunk = Field(2, Number(1, 3) + Field(3, "chunk"));
  const std::string query = Field(3, Number(1, 3));

  struct Case {
    std::string name;
    std::string bytes;
    bool valid = true;
  };
  const std::vector<Case> cases = {
      {"a payload twice", Field(1, one + two)},
      {"a message with a payload twice", Field(1, one) + Field(1, two)},
      {"a message twice, one without a payload", Field(1, one) + Field(1, Number(5, 1))},
      {"a payload, then another source", Field(1, one + object)},
      {"another source, then a payload", Field(1, object + one)},
      {"a payload, another source, a payload", Field(1, one + object + two)},
      {"an empty payload", Field(1, Field(1, ""))},
      {"a source over an empty payload", Field(1, Field(1, "") + object)},
      {"a number where the payload is", Field(1, Number(1, 9))},
      {"both", Field(1, Number(1, 9) + one)},
      {"a fixed number where the payload is", Field(1, Tag(1, 1) + std::string(8, 'x') + one)},
      {"a number where the vector is", Number(1, 5) + Field(1, one)},
      {"a group where the vector is", Tag(1, 3) + one + Tag(1, 4)},
      {"a group beside the payload", Field(1, group + one + group)},
      {"a group that holds a payload", Field(1, Tag(9, 3) + one + Tag(9, 4))},
      {"a group that does not end", Field(1, Tag(9, 3) + one), false},
      {"a group that ends outside", Field(1, Tag(9, 3)) + Tag(9, 4), false},
      {"a group that ends with another number", Field(1, Tag(9, 3) + Tag(8, 4)), false},
      {"an end without a start", Field(1, one) + Tag(9, 4), false},
      {"unknown fields",
       Field(77, "x") + Field(1, Field(99, "y") + one + Number(55, 5)) + Tag(78, 5) + "abcd"},
      {"a long tag", Varint(1 << 3 | 2, 4) + Varint(one.size(), 5) + one},
      {"a tag of five bytes", Varint(1 << 3 | 2, 5) + Varint(one.size()) + one},
      {"a tag of six bytes", Varint(1 << 3 | 2, 6) + Varint(one.size()) + one, false},
      {"a length of six bytes", Tag(1, 2) + Varint(one.size(), 6) + one, false},
      {"a number of ten bytes", Number(50, 1) + Tag(50, 0) + Varint(1, 10) + Field(1, one)},
      {"a number of eleven bytes", Tag(50, 0) + Varint(1, 11) + Field(1, one), false},
      {"field number 0", Tag(0, 0) + "x" + Field(1, one), false},
      {"a zero byte at the end", Field(1, one) + std::string(1, '\0'), false},
      {"wire type 6", Tag(3, 6) + Field(1, one), false},
      {"wire type 7", Tag(3, 7) + Field(1, one), false},
      {"a length past the end", Field(1, Tag(1, 2) + Varint(1000) + "x"), false},
      {"a length past the message, not past the end", Field(1, Tag(1, 2) + Varint(3)) + "abc",
       false},
      {"a huge length", Tag(1, 2) + Varint(0xFFFFFFFFFFFFFFFF), false},
      {"a length of 2 GiB", Tag(1, 2) + Varint(uint64_t{1} << 31), false},
      {"text that is not UTF-8", Field(1, one + Field(8, Field(2, "\xFF"))), false},
      {"text that is not UTF-8, no payload", Field(1, Field(2, Field(1, "\xFF"))), false},
      {"an unknown format", Field(1, one + Number(5, 1000))},
      {"empty", ""},
      {"an empty vector", Field(1, "")},
      {"an open", open(one)},
      {"an open and a chunk", open(one) + chunk},
      {"a chunk and an open", chunk + open(one)},
      {"a chunk without data and an open", Field(2, Number(1, 3)) + open(one)},
      {"an open and a chunk without data", open(one) + Field(2, Number(1, 3))},
      {"an open and a query", open(one) + query},
      {"a query and an open", query + open(one)},
      {"an open twice", open(one) + open(two)},
      {"an open, a query, an open", open(one) + query + open(two)},
      {"two vectors under one id", Field(1, Field(1, Field(2, one) + Field(2, two)))},
      {"opens with and without payload",
       Field(1, Field(1, Field(2, one)) + Field(1, "") + Field(1, Field(2, object)) +
                    Field(1, Field(2, two)))},
      {"an open whose payload another source replaces",
       Field(1, Field(1, Field(2, one + object)) + Field(1, Field(2, two)))},
      {"a chunk", chunk},
      {"a chunk with data twice", Field(2, Field(3, "a") + Field(3, "b"))},
      {"a chunk with a number for data", Field(2, Number(3, 1))},
      {"a chunk without anything", Field(2, "")},
      {"a chunk twice", chunk + chunk},
      {"a query", query},
  };
  Random random(dv::testing::TestSeed());
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    // Vectors are at field 1 of the unary requests, opens and chunks belong to ScanRequest.
    const bool unary = ExpectSame<pb::DescribeRequest>(c.bytes, random);
    const bool scan = ExpectSame<pb::ScanRequest>(c.bytes, random);
    EXPECT_EQ(unary || scan, c.valid);
    ExpectSameForAll(c.bytes, random);
    // Deeper in, and behind something else.
    ExpectSameForAll(open(c.bytes), random);
    ExpectSameForAll(query + c.bytes, random);
  }
}

TEST(ParseRequest, TakesNestingAsDeepAsTheGeneratedParserDoes) {
  Random random(dv::testing::TestSeed());
  for (const size_t depth : {1, 98, 99, 100, 101, 5000}) {
    SCOPED_TRACE(depth);
    std::string groups;
    for (size_t i = 0; i < depth; ++i) groups += Tag(9, 3);
    for (size_t i = 0; i < depth; ++i) groups += Tag(9, 4);
    ExpectSameForAll(groups, random);
    ExpectSameForAll(Field(1, Field(1, "x") + groups), random);
    ExpectSameForAll(Field(1, Field(1, Field(2, Field(1, "x") + groups))), random);
  }
}

// Where the payload of a big message lies.
template <typename Message>
void ExpectInPlace(const std::string& bytes, const std::string& payload) {
  Random random(dv::testing::TestSeed());
  for (const uint64_t max_piece : {uint64_t{1} << 20, uint64_t{1}, uint64_t{700}}) {
    const ReceivedMessage received = InPieces(bytes, max_piece, random);
    const auto request = ParseRequest<Message>(received, kNoLimit);
    ASSERT_THAT(request, IsOk());
    EXPECT_TRUE(request->in_place);
    ASSERT_EQ(request->payloads.size(), 1u);
    EXPECT_EQ(request->payloads[0].ToString(), payload);
    for (const bytes::Chain::Piece& piece : request->payloads[0].pieces()) {
      const auto holds = [&piece](const bytes::Chain::Piece& whole) {
        return !std::less<>()(piece.data, whole.data) &&
               !std::less<>()(whole.data + whole.size(), piece.data + piece.size());
      };
      EXPECT_TRUE(
          std::any_of(received.chain.pieces().begin(), received.chain.pieces().end(), holds));
    }
  }
}

TEST(ParseRequest, LeavesPayloadsWhereTheyWereReceived) {
  const std::string payload(5000, 'p');
  pb::CheckPositionsRequest check;
  check.mutable_vector()->set_inline_(payload);
  check.mutable_vector()->set_row_count(5);
  check.add_positions(9);
  ExpectInPlace<pb::CheckPositionsRequest>(check.SerializeAsString(), payload);

  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(payload);
  open.mutable_open()->add_vectors()->set_vector_id(4);
  ExpectInPlace<pb::ScanRequest>(open.SerializeAsString(), payload);

  pb::ScanRequest chunk;
  chunk.mutable_chunk()->set_data(payload);
  chunk.mutable_chunk()->set_offset(77);
  ExpectInPlace<pb::ScanRequest>(chunk.SerializeAsString(), payload);
}

TEST(ParseRequest, PayloadsHoldOnToTheirPiecesAlone) {
  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(std::string(3000, 'a'));
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(std::string(3000, 'b'));
  Random random(dv::testing::TestSeed());
  ReceivedMessage received = InPieces(open.SerializeAsString(), 200, random);
  const std::weak_ptr<const void> first = received.owners[1];
  const std::weak_ptr<const void> last = received.owners.back();
  auto request = ParseRequest<pb::ScanRequest>(received, kNoLimit);
  ASSERT_THAT(request, IsOk());
  ASSERT_EQ(request->payloads.size(), 2u);
  received = ReceivedMessage();
  EXPECT_FALSE(first.expired());
  EXPECT_FALSE(last.expired());
  request->payloads[0] = bytes::Chain();
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(request->payloads[1].ToString(), std::string(3000, 'b'));
}

TEST(ParseRequest, RefusesMoreFieldsThanAllowed) {
  pb::ScanRequest request;
  for (int i = 0; i < 1000; ++i) request.mutable_query()->mutable_count()->add_ranges();
  const std::string bytes = request.SerializeAsString();
  // The query, its count, and the ranges.
  EXPECT_THAT(ParseRequest<pb::ScanRequest>(InOnePiece(bytes), 1002), IsOk());
  const auto refused = ParseRequest<pb::ScanRequest>(InOnePiece(bytes), 1001);
  EXPECT_THAT(refused, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(refused, HasReason(reason::kTooManyFields));
  EXPECT_THAT(refused, dv::testing::HasDetail("limit", "--max_message_fields"));
  EXPECT_THAT(refused, dv::testing::HasDetail("allowed", "1001"));

  // Odd messages too, and unknown fields in known messages and in groups.
  std::string unknown;
  for (int i = 0; i < 500; ++i) unknown += Number(99, 1);
  for (const std::string& odd :
       {Field(2, Field(3, "a") + Field(3, "b")) + unknown, Field(3, Field(5, Field(1, unknown))),
        Tag(9, 3) + unknown + Tag(9, 4)}) {
    EXPECT_THAT(ParseRequest<pb::ScanRequest>(InOnePiece(odd), 500),
                HasReason(reason::kTooManyFields));
    EXPECT_THAT(ParseRequest<pb::ScanRequest>(InOnePiece(odd), 510), IsOk());
  }
}

}  // namespace
}  // namespace dv::rpc
