#include "server/rpc/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "server/bytes/reason.h"
#include "tests/testing/status_matchers.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::HasCode;
using dv::testing::HasDetail;
using dv::testing::HasReason;
using dv::testing::IsOk;

pb::DeletionVector Inline() {
  pb::DeletionVector vector;
  vector.set_inline_("");
  return vector;
}

pb::DeletionVector Object() {
  pb::DeletionVector vector;
  vector.mutable_object()->set_location("s3://bucket/key");
  return vector;
}

pb::DeletionVector Delta() {
  pb::DeletionVector vector;
  pb::DeltaDescriptor& delta = *vector.mutable_delta();
  delta.set_storage_type("u");
  delta.set_path_or_inline_dv("ab^-aqEH.-t@S}K{vb[*k^");
  delta.set_table_root("s3://bucket/table");
  return vector;
}

TEST(CheckVector, TakesWhatThisServerReads) {
  pb::DeletionVector vector = Inline();
  vector.set_expected_cardinality(7);
  vector.set_row_count(9);
  absl::StatusOr<VectorSpec> spec = CheckVector(vector, true, "vector", CallKind::kUnary);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->options.format, format::Format::kUnspecified);
  EXPECT_EQ(spec->options.expected_cardinality, 7u);
  EXPECT_EQ(spec->options.row_count, 9u);
  EXPECT_FALSE(spec->chunked_size.has_value());

  vector = pb::DeletionVector();
  vector.mutable_chunked()->set_total_size(12);
  vector.set_format(pb::FORMAT_ROARING64);
  spec = CheckVector(vector, true, "vector", CallKind::kStream);
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->options.format, format::Format::kRoaring64);
  EXPECT_FALSE(spec->options.expected_cardinality.has_value());
  EXPECT_EQ(spec->chunked_size, 12u);
}

TEST(CheckVector, SaysWhatIsWrong) {
  struct Case {
    std::string name;
    std::function<pb::DeletionVector()> make;
    absl::string_view reason;
    std::string field;
    absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  };
  const auto with = [](pb::DeletionVector vector, auto change) {
    return [vector, change]() mutable {
      change(vector);
      return vector;
    };
  };
  using V = pb::DeletionVector;
  const std::vector<Case> cases = {
      {"no source", [] { return V(); }, reason::kFieldRequired, "vector.source"},
      {"a format of the future", with(Inline(), [](V& v) { v.set_format(pb::Format(99)); }),
       reason::kFieldInvalid, "vector.format"},
      {"a negative format", with(Inline(), [](V& v) { v.set_format(pb::Format(-1)); }),
       reason::kFieldInvalid, "vector.format"},
      {"chunks of a unary call", with(V(), [](V& v) { v.mutable_chunked()->set_total_size(1); }),
       reason::kFieldInvalid, "vector.chunked"},
      {"an empty selector", with(Inline(), [](V& v) { v.mutable_selector(); }),
       reason::kFieldRequired, "vector.selector.by"},
      {"no location", with(V(), [](V& v) { v.mutable_object(); }), reason::kFieldRequired,
       "vector.object.location"},
      {"a negative offset",
       with(Object(),
            [](V& v) {
              v.mutable_object()->set_content_offset(-1);
              v.mutable_object()->set_content_size_in_bytes(5);
            }),
       reason::kFieldInvalid, "vector.object.content_offset"},
      {"a negative size",
       with(Object(),
            [](V& v) {
              v.mutable_object()->set_content_offset(1);
              v.mutable_object()->set_content_size_in_bytes(-5);
            }),
       reason::kFieldInvalid, "vector.object.content_size_in_bytes"},
      {"an offset and a size that overflow",
       with(Object(),
            [](V& v) {
              v.mutable_object()->set_content_offset(INT64_MAX - 4);
              v.mutable_object()->set_content_size_in_bytes(5);
            }),
       reason::kFieldInvalid, "vector.object.content_size_in_bytes"},
      {"an offset without size",
       with(Object(), [](V& v) { v.mutable_object()->set_content_offset(0); }),
       reason::kFieldRequired, "vector.object.content_size_in_bytes"},
      {"a size without offset",
       with(Object(), [](V& v) { v.mutable_object()->set_content_size_in_bytes(0); }),
       reason::kFieldRequired, "vector.object.content_offset"},
      {"a negative record count",
       with(Object(), [](V& v) { v.mutable_object()->set_record_count(-1); }),
       reason::kFieldInvalid, "vector.object.record_count"},
      {"two cardinalities",
       with(Object(),
            [](V& v) {
              v.mutable_object()->set_record_count(1);
              v.set_expected_cardinality(2);
            }),
       reason::kFieldsContradictory, "vector.expected_cardinality"},
      {"no storage type", with(Delta(), [](V& v) { v.mutable_delta()->clear_storage_type(); }),
       reason::kFieldRequired, "vector.delta.storage_type"},
      {"a storage type", with(Delta(), [](V& v) { v.mutable_delta()->set_storage_type("x"); }),
       reason::kFieldInvalid, "vector.delta.storage_type"},
      {"a negative Delta offset", with(Delta(), [](V& v) { v.mutable_delta()->set_offset(-1); }),
       reason::kFieldInvalid, "vector.delta.offset"},
      {"a negative Delta size",
       with(Delta(), [](V& v) { v.mutable_delta()->set_size_in_bytes(-1); }), reason::kFieldInvalid,
       "vector.delta.size_in_bytes"},
      {"a negative Delta cardinality",
       with(Delta(), [](V& v) { v.mutable_delta()->set_cardinality(-1); }), reason::kFieldInvalid,
       "vector.delta.cardinality"},
      {"two Delta cardinalities", with(Delta(), [](V& v) { v.set_expected_cardinality(2); }),
       reason::kFieldsContradictory, "vector.expected_cardinality"},
      {"an object", [] { return Object(); }, reason::kNotImplemented, "",
       absl::StatusCode::kUnimplemented},
      {"a Delta descriptor", [] { return Delta(); }, reason::kNotImplemented, "",
       absl::StatusCode::kUnimplemented},
      {"a selector", with(Inline(), [](V& v) { v.mutable_selector()->set_index(0); }),
       reason::kNotImplemented, "", absl::StatusCode::kUnimplemented},
      {"Puffin", with(Inline(), [](V& v) { v.set_format(pb::FORMAT_PUFFIN); }),
       reason::kNotImplemented, "", absl::StatusCode::kUnimplemented},
      {"32-bit Roaring", with(Inline(), [](V& v) { v.set_format(pb::FORMAT_ROARING32); }),
       reason::kNotImplemented, "", absl::StatusCode::kUnimplemented},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const absl::StatusOr<VectorSpec> spec = CheckVector(c.make(), true, "vector", CallKind::kUnary);
    EXPECT_THAT(spec, HasCode(c.code));
    EXPECT_THAT(spec, HasReason(c.reason));
    if (c.field.empty()) {
      EXPECT_THAT(std::string(spec.status().message()), ::testing::HasSubstr("FORMAT_ICEBERG"));
    } else {
      EXPECT_THAT(spec, HasDetail("field", c.field));
      EXPECT_THAT(std::string(spec.status().message()), ::testing::HasSubstr(c.field));
    }
  }
  EXPECT_THAT(CheckVector(V(), false, "vector", CallKind::kUnary),
              HasReason(reason::kFieldRequired));
  V empty_upload;
  empty_upload.mutable_chunked();
  EXPECT_THAT(CheckVector(empty_upload, true, "v", CallKind::kStream),
              HasDetail("field", "v.chunked.total_size"));
}

TEST(CheckVectorSize, NamesTheFlag) {
  EXPECT_THAT(CheckVectorSize(10, 10), IsOk());
  const absl::Status status = CheckVectorSize(11, 10);
  EXPECT_THAT(status, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status, HasReason(reason::kVectorTooLarge));
  EXPECT_THAT(status, HasDetail("limit", "--max_vector_bytes"));
}

TEST(CheckRead, TakesTheDefaults) {
  const absl::StatusOr<ReadSpec> spec = CheckRead(pb::ReadQuery(), "query");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->encoding, pb::ENCODING_POSITIONS);
  EXPECT_EQ(spec->range.first, 0u);
  EXPECT_EQ(spec->range.last, UINT64_MAX);
  EXPECT_FALSE(spec->limit.has_value());
}

TEST(CheckRead, SaysWhatIsWrong) {
  struct Case {
    std::string name;
    std::function<void(pb::ReadQuery&)> change;
    absl::string_view reason;
    std::string field;
  };
  const std::vector<Case> cases = {
      {"a range that runs backwards",
       [](auto& q) {
         q.mutable_range()->set_start(5);
         q.mutable_range()->set_end(4);
       },
       reason::kRangeInvalid, "query.range"},
      {"an encoding of the future", [](auto& q) { q.set_encoding(pb::Encoding(9)); },
       reason::kFieldInvalid, "query.encoding"},
      {"a polarity of the future", [](auto& q) { q.set_mask_polarity(pb::MaskPolarity(9)); },
       reason::kFieldInvalid, "query.mask_polarity"},
      {"a polarity without a mask", [](auto& q) { q.set_mask_polarity(pb::MASK_POLARITY_LIVE); },
       reason::kFieldsContradictory, "query.mask_polarity"},
      {"a mask without a range",
       [](auto& q) {
         q.set_encoding(pb::ENCODING_MASK);
         q.set_mask_polarity(pb::MASK_POLARITY_LIVE);
       },
       reason::kMaskNeedsEnd, "query.range.end"},
      {"a mask without a polarity",
       [](auto& q) {
         q.set_encoding(pb::ENCODING_MASK);
         q.mutable_range()->set_end(4);
       },
       reason::kFieldRequired, "query.mask_polarity"},
      {"a mask with a limit",
       [](auto& q) {
         q.set_encoding(pb::ENCODING_MASK);
         q.mutable_range()->set_end(4);
         q.set_mask_polarity(pb::MASK_POLARITY_DELETED);
         q.set_limit(0);
       },
       reason::kFieldsContradictory, "query.limit"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    pb::ReadQuery query;
    c.change(query);
    const absl::StatusOr<ReadSpec> spec = CheckRead(query, "query");
    EXPECT_THAT(spec, HasCode(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(spec, HasReason(c.reason));
    EXPECT_THAT(spec, HasDetail("field", c.field));
  }
}

TEST(CheckRanges, NamesTheOneThatIsWrong) {
  google::protobuf::RepeatedPtrField<pb::PositionRange> ranges;
  ranges.Add();
  pb::PositionRange& range = *ranges.Add();
  range.set_start(3);
  range.set_end(3);
  EXPECT_THAT(CheckRanges(ranges, "ranges"), IsOk());
  range.set_end(2);
  const absl::Status status = CheckRanges(ranges, "ranges");
  EXPECT_THAT(status, HasReason(reason::kRangeInvalid));
  EXPECT_THAT(status, HasDetail("field", "ranges[1]"));
  EXPECT_THAT(status, HasDetail("start", "3"));
  EXPECT_THAT(status, HasDetail("end", "2"));
}

TEST(CheckUnaryItems, NamesTheLimitAndScan) {
  EXPECT_THAT(CheckUnaryItems(100'000, "positions"), IsOk());
  const absl::Status status = CheckUnaryItems(100'001, "positions");
  EXPECT_THAT(status, HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(status, HasReason(reason::kTooManyItems));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("100000"));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("Scan"));
}

TEST(CheckHistogram, NeedsBucketsAndRows) {
  pb::HistogramQuery query;
  EXPECT_THAT(CheckHistogram(query, 5, "histogram"), HasReason(reason::kFieldInvalid));
  query.set_bucket_count(4'097);
  EXPECT_THAT(CheckHistogram(query, 5, "histogram"), HasReason(reason::kTooManyItems));
  query.set_bucket_count(4'096);
  EXPECT_THAT(CheckHistogram(query, std::nullopt, "histogram"),
              HasDetail("field", "histogram.row_count"));
  absl::StatusOr<HistogramSpec> spec = CheckHistogram(query, 5, "histogram");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->row_count, 5u);
  query.set_row_count(0);
  spec = CheckHistogram(query, 5, "histogram");
  ASSERT_THAT(spec, IsOk());
  EXPECT_EQ(spec->row_count, 0u);
}

TEST(Names, OfTheContractAndTheLibraryMatch) {
  const google::protobuf::EnumDescriptor& formats = *pb::Format_descriptor();
  for (int i = 0; i < formats.value_count(); ++i) {
    const auto format = static_cast<pb::Format>(formats.value(i)->number());
    EXPECT_EQ(ToProto(FromProto(format)), format) << formats.value(i)->name();
  }
  const google::protobuf::EnumDescriptor& layouts = *pb::Layout_descriptor();
  for (int i = 0; i < layouts.value_count(); ++i) {
    EXPECT_EQ(ToProto(static_cast<format::Layout>(i)), layouts.value(i)->number())
        << layouts.value(i)->name();
  }
}

}  // namespace
}  // namespace dv::rpc
