#include "server/rpc/request.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/rpc/limits.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// What this server can read, for messages.
constexpr char kReadable[] =
    "this server reads inline bytes and chunks of FORMAT_ICEBERG (or no format) and "
    "FORMAT_ROARING64";

std::string Path(absl::string_view parent, absl::string_view field) {
  return parent.empty() ? std::string(field) : absl::StrCat(parent, ".", field);
}

absl::Status FieldInvalid(absl::string_view path, absl::string_view found,
                          absl::string_view expected) {
  return Error(absl::StatusCode::kInvalidArgument, reason::kFieldInvalid,
               absl::StrCat(path, " is ", found, "; expected ", expected),
               {{"field", path}, {"found", found}, {"expected", expected}});
}

absl::Status Contradictory(absl::string_view path, absl::string_view other, absl::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument, reason::kFieldsContradictory,
               absl::StrCat(path, " and ", other, " contradict each other: ", why),
               {{"field", path}, {"other_field", other}});
}

absl::Status CheckNotNegative(absl::string_view path, int64_t value) {
  if (value >= 0) return absl::OkStatus();
  return FieldInvalid(path, absl::StrCat(value), "0 or more");
}

// Checks that two numbers of positions, if both are there, are equal.
absl::Status CheckSameCardinality(const pb::DeletionVector& vector, absl::string_view path,
                                  absl::string_view other, uint64_t number) {
  if (!vector.has_expected_cardinality() || vector.expected_cardinality() == number) {
    return absl::OkStatus();
  }
  return Contradictory(
      Path(path, "expected_cardinality"), Path(path, other),
      absl::StrCat("one is ", vector.expected_cardinality(), ", the other ", number));
}

absl::Status CheckObject(const pb::DeletionVector& vector, absl::string_view path) {
  const pb::ObjectReference& object = vector.object();
  if (object.location().empty()) {
    return FieldRequired(Path(path, "object.location"), "it is the URI of the object");
  }
  const std::string offset_path = Path(path, "object.content_offset");
  const std::string size_path = Path(path, "object.content_size_in_bytes");
  absl::Status status = CheckNotNegative(offset_path, object.content_offset());
  if (status.ok()) status = CheckNotNegative(size_path, object.content_size_in_bytes());
  if (status.ok()) {
    status = CheckNotNegative(Path(path, "object.record_count"), object.record_count());
  }
  if (!status.ok()) return status;
  if (object.has_content_offset() && !object.has_content_size_in_bytes()) {
    return FieldRequired(size_path, "content_offset is set, and the two go together");
  }
  if (!object.has_content_offset() && object.has_content_size_in_bytes()) {
    return FieldRequired(offset_path, "content_size_in_bytes is set, and the two go together");
  }
  if (object.content_offset() >
      std::numeric_limits<int64_t>::max() - object.content_size_in_bytes()) {
    return FieldInvalid(size_path, absl::StrCat(object.content_size_in_bytes()),
                        absl::StrCat("at most 2^63-1 together with content_offset, which is ",
                                     object.content_offset()));
  }
  if (object.has_record_count()) {
    return CheckSameCardinality(vector, path, "object.record_count",
                                static_cast<uint64_t>(object.record_count()));
  }
  return absl::OkStatus();
}

absl::Status CheckDelta(const pb::DeletionVector& vector, absl::string_view path) {
  const pb::DeltaDescriptor& delta = vector.delta();
  const std::string& type = delta.storage_type();
  if (type.empty()) {
    return FieldRequired(Path(path, "delta.storage_type"), "it is u, p or i");
  }
  if (type != "u" && type != "p" && type != "i") {
    return FieldInvalid(Path(path, "delta.storage_type"), absl::StrCat("\"", type, "\""),
                        "u, p or i");
  }
  absl::Status status = CheckNotNegative(Path(path, "delta.offset"), delta.offset());
  if (status.ok()) {
    status = CheckNotNegative(Path(path, "delta.size_in_bytes"), delta.size_in_bytes());
  }
  if (status.ok()) {
    status = CheckNotNegative(Path(path, "delta.cardinality"), delta.cardinality());
  }
  if (!status.ok()) return status;
  return CheckSameCardinality(vector, path, "delta.cardinality",
                              static_cast<uint64_t>(delta.cardinality()));
}

// Checks the source but for whether this server can read it.
absl::Status CheckSource(const pb::DeletionVector& vector, absl::string_view path, CallKind kind) {
  switch (vector.source_case()) {
    case pb::DeletionVector::kInline:
      return absl::OkStatus();
    case pb::DeletionVector::kObject:
      return CheckObject(vector, path);
    case pb::DeletionVector::kDelta:
      return CheckDelta(vector, path);
    case pb::DeletionVector::kChunked:
      if (kind == CallKind::kUnary) {
        return FieldInvalid(Path(path, "chunked"), "set",
                            "inline, object or delta: chunks can only follow in Scan and Combine");
      }
      if (vector.chunked().total_size() == 0) {
        return FieldInvalid(Path(path, "chunked.total_size"), "0",
                            "the size of the vector in bytes");
      }
      return absl::OkStatus();
    case pb::DeletionVector::SOURCE_NOT_SET:
      break;
  }
  return FieldRequired(Path(path, "source"), kind == CallKind::kUnary
                                                 ? "set one of inline, object and delta"
                                                 : "set one of inline, object, delta and chunked");
}

absl::Status CheckReadable(const pb::DeletionVector& vector, absl::string_view path) {
  if (vector.has_object()) {
    return NotImplemented(Path(path, "object"),
                          absl::StrCat("references to objects are not supported yet; ", kReadable));
  }
  if (vector.has_delta()) {
    return NotImplemented(Path(path, "delta"),
                          absl::StrCat("Delta descriptors are not supported yet; ", kReadable));
  }
  const pb::Format format = vector.format();
  if (format != pb::FORMAT_UNSPECIFIED && format != pb::FORMAT_ICEBERG &&
      format != pb::FORMAT_ROARING64) {
    return NotImplemented(absl::StrCat(pb::Format_Name(format)),
                          absl::StrCat(Path(path, "format"), " is ", pb::Format_Name(format),
                                       ", which is not supported yet; ", kReadable));
  }
  if (vector.has_selector()) {
    return NotImplemented(
        Path(path, "selector"),
        absl::StrCat("files that hold several vectors are not supported yet; ", kReadable));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FieldRequired(absl::string_view path, absl::string_view why) {
  return Error(absl::StatusCode::kInvalidArgument, reason::kFieldRequired,
               absl::StrCat(path, " is required: ", why), {{"field", path}});
}

absl::Status NotImplemented(absl::string_view feature, absl::string_view message) {
  return Error(absl::StatusCode::kUnimplemented, reason::kNotImplemented, message,
               {{"feature", feature}});
}

absl::StatusOr<VectorSpec> CheckVector(const pb::DeletionVector& vector, bool present,
                                       absl::string_view path, CallKind kind) {
  if (!present) return FieldRequired(path, "it names the deletion vector");
  absl::Status status = CheckSource(vector, path, kind);
  if (!status.ok()) return status;
  if (!pb::Format_IsValid(vector.format())) {
    return FieldInvalid(Path(path, "format"), absl::StrCat(static_cast<int>(vector.format())),
                        "a value of Format");
  }
  if (vector.has_selector() && vector.selector().by_case() == pb::VectorSelector::BY_NOT_SET) {
    return FieldRequired(Path(path, "selector.by"),
                         "set one of index, referenced_data_file and offset");
  }
  status = CheckReadable(vector, path);
  if (!status.ok()) return status;

  VectorSpec spec;
  spec.options.format = FromProto(vector.format());
  if (vector.has_expected_cardinality()) {
    spec.options.expected_cardinality = vector.expected_cardinality();
  }
  if (vector.has_row_count()) spec.options.row_count = vector.row_count();
  if (vector.has_chunked()) spec.chunked_size = vector.chunked().total_size();
  return spec;
}

absl::Status CheckVectorSize(uint64_t size, uint64_t allowed) {
  if (size <= allowed) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, reason::kVectorTooLarge,
               absl::StrCat("the deletion vector has ", size, " bytes; this server takes at most ",
                            allowed, " (--max_vector_bytes)"),
               {{"limit", "--max_vector_bytes"}, {"found", size}, {"allowed", allowed}});
}

absl::StatusOr<roaring::Range> CheckRange(const pb::PositionRange& range, absl::string_view path) {
  if (!range.has_end()) return roaring::Range::HalfOpen(range.start(), std::nullopt);
  if (range.start() <= range.end()) return roaring::Range::HalfOpen(range.start(), range.end());
  return Error(absl::StatusCode::kInvalidArgument, reason::kRangeInvalid,
               absl::StrCat(path, " starts at ", range.start(), ", after its end ", range.end(),
                            "; the end is exclusive and at least the start"),
               {{"field", path}, {"start", range.start()}, {"end", range.end()}});
}

absl::Status CheckRanges(const google::protobuf::RepeatedPtrField<pb::PositionRange>& ranges,
                         absl::string_view path) {
  for (int i = 0; i < ranges.size(); ++i) {
    const pb::PositionRange& range = ranges[i];
    if (range.has_end() && range.start() > range.end()) {
      return CheckRange(range, absl::StrCat(path, "[", i, "]")).status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ReadSpec> CheckRead(const pb::ReadQuery& query, absl::string_view path) {
  ReadSpec spec;
  const absl::StatusOr<roaring::Range> range = CheckRange(query.range(), Path(path, "range"));
  if (!range.ok()) return range.status();
  spec.range = *range;
  if (query.has_limit()) spec.limit = query.limit();

  const std::string encoding_path = Path(path, "encoding");
  if (!pb::Encoding_IsValid(query.encoding())) {
    return FieldInvalid(encoding_path, absl::StrCat(static_cast<int>(query.encoding())),
                        "a value of Encoding");
  }
  if (query.encoding() != pb::ENCODING_UNSPECIFIED) spec.encoding = query.encoding();

  const std::string polarity_path = Path(path, "mask_polarity");
  if (!pb::MaskPolarity_IsValid(query.mask_polarity())) {
    return FieldInvalid(polarity_path, absl::StrCat(static_cast<int>(query.mask_polarity())),
                        "a value of MaskPolarity");
  }
  if (spec.encoding != pb::ENCODING_MASK) {
    if (query.mask_polarity() == pb::MASK_POLARITY_UNSPECIFIED) return spec;
    return Contradictory(polarity_path, encoding_path,
                         absl::StrCat("a polarity goes with ENCODING_MASK only, not with ",
                                      pb::Encoding_Name(spec.encoding)));
  }
  if (!query.range().has_end()) {
    const std::string end_path = Path(path, "range.end");
    return Error(absl::StatusCode::kInvalidArgument, reason::kMaskNeedsEnd,
                 absl::StrCat(end_path,
                              " is required with ENCODING_MASK: a mask has one bit for "
                              "every row of the range"),
                 {{"field", end_path}});
  }
  if (query.mask_polarity() == pb::MASK_POLARITY_UNSPECIFIED) {
    return FieldRequired(polarity_path,
                         "say whether a set bit of the mask is a deleted row "
                         "(MASK_POLARITY_DELETED) or a live one (MASK_POLARITY_LIVE)");
  }
  if (query.has_limit()) {
    return Contradictory(Path(path, "limit"), encoding_path,
                         "a mask has a bit for every row of the range and takes no limit");
  }
  spec.polarity = query.mask_polarity() == pb::MASK_POLARITY_LIVE ? roaring::Polarity::kLive
                                                                  : roaring::Polarity::kDeleted;
  return spec;
}

absl::Status CheckUnaryItems(uint64_t found, absl::string_view what) {
  if (found <= kMaxUnaryItems) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, reason::kTooManyItems,
               absl::StrCat("the request has ", found, " ", what, "; a unary call answers at most ",
                            kMaxUnaryItems, ". Split it, or use Scan, which takes more"),
               {{"limit", absl::StrCat(what, " of a unary call")},
                {"found", found},
                {"allowed", kMaxUnaryItems}});
}

absl::StatusOr<HistogramSpec> CheckHistogram(const pb::HistogramQuery& query,
                                             std::optional<uint64_t> row_count,
                                             absl::string_view path) {
  if (query.bucket_count() == 0) {
    return FieldInvalid(Path(path, "bucket_count"), "0",
                        absl::StrCat("1 to ", kMaxHistogramBuckets));
  }
  if (query.bucket_count() > kMaxHistogramBuckets) {
    return Error(absl::StatusCode::kResourceExhausted, reason::kTooManyItems,
                 absl::StrCat(Path(path, "bucket_count"), " is ", query.bucket_count(),
                              "; a histogram has at most ", kMaxHistogramBuckets, " buckets"),
                 {{"limit", "buckets of a histogram"},
                  {"found", query.bucket_count()},
                  {"allowed", kMaxHistogramBuckets}});
  }
  HistogramSpec spec;
  spec.bucket_count = query.bucket_count();
  if (query.has_row_count()) {
    spec.row_count = query.row_count();
  } else if (row_count.has_value()) {
    spec.row_count = *row_count;
  } else {
    return FieldRequired(Path(path, "row_count"),
                         "set it here or as row_count of the vector: the rows to spread over the "
                         "buckets");
  }
  return spec;
}

format::Format FromProto(pb::Format format) {
  switch (format) {
    case pb::FORMAT_ICEBERG:
      return format::Format::kIceberg;
    case pb::FORMAT_PUFFIN:
      return format::Format::kPuffin;
    case pb::FORMAT_DELTA:
      return format::Format::kDelta;
    case pb::FORMAT_PAIMON:
      return format::Format::kPaimon;
    case pb::FORMAT_LANCE:
      return format::Format::kLance;
    case pb::FORMAT_ROARING64:
      return format::Format::kRoaring64;
    case pb::FORMAT_ROARING32:
      return format::Format::kRoaring32;
    default:
      return format::Format::kUnspecified;
  }
}

pb::Format ToProto(format::Format format) {
  switch (format) {
    case format::Format::kUnspecified:
      break;
    case format::Format::kIceberg:
      return pb::FORMAT_ICEBERG;
    case format::Format::kPuffin:
      return pb::FORMAT_PUFFIN;
    case format::Format::kDelta:
      return pb::FORMAT_DELTA;
    case format::Format::kPaimon:
      return pb::FORMAT_PAIMON;
    case format::Format::kLance:
      return pb::FORMAT_LANCE;
    case format::Format::kRoaring64:
      return pb::FORMAT_ROARING64;
    case format::Format::kRoaring32:
      return pb::FORMAT_ROARING32;
  }
  return pb::FORMAT_UNSPECIFIED;
}

pb::Layout ToProto(format::Layout layout) {
  switch (layout) {
    case format::Layout::kUnknown:
      break;
    case format::Layout::kFrame64:
      return pb::LAYOUT_FRAME64;
    case format::Layout::kFrame32:
      return pb::LAYOUT_FRAME32;
    case format::Layout::kDvData:
      return pb::LAYOUT_DV_DATA;
    case format::Layout::kNativeLittleEndian:
      return pb::LAYOUT_NATIVE_LITTLE_ENDIAN;
    case format::Layout::kNativeBigEndian:
      return pb::LAYOUT_NATIVE_BIG_ENDIAN;
    case format::Layout::kPuffin:
      return pb::LAYOUT_PUFFIN;
    case format::Layout::kFramedFile:
      return pb::LAYOUT_FRAMED_FILE;
    case format::Layout::kRoaring64:
      return pb::LAYOUT_ROARING64;
    case format::Layout::kRoaring32:
      return pb::LAYOUT_ROARING32;
  }
  return pb::LAYOUT_UNSPECIFIED;
}

}  // namespace dv::rpc
