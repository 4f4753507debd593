#include "server/format/decode.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/format/frame.h"

namespace dv::format {
namespace {

using roaring::IndexOptions;
using roaring::View;

// Positions of deletion vectors fit a signed 64-bit number (Puffin spec: "the most significant bit
// is 0").
constexpr uint32_t kMaxDvKey = 0x7FFFFFFF;

absl::Status NotImplemented(absl::string_view feature, absl::string_view advice = "") {
  return Error(absl::StatusCode::kUnimplemented, reason::kNotImplemented,
               absl::StrCat(feature,
                            " cannot be read yet: this server reads single Iceberg blobs (format "
                            "iceberg) and bare 64-bit Roaring (format roaring64)",
                            advice),
               {{"feature", feature}});
}

// Returns what the magic number says, for callers that did not.
absl::StatusOr<Format> FindFormat(const bytes::Chain& chain) {
  const Layout layout = DetectLayout(chain);
  switch (layout) {
    case Layout::kFrame64:
      return Format::kIceberg;
    case Layout::kUnknown:
      break;
    case Layout::kPuffin:
    case Layout::kFramedFile:
      return NotImplemented(LayoutName(layout),
                            ". Send the one blob in it: the range that table metadata names "
                            "(Iceberg's content_offset and content_size_in_bytes)");
    default:
      return NotImplemented(LayoutName(layout));
  }
  uint8_t head[8] = {};
  const auto size = static_cast<size_t>(std::min<uint64_t>(chain.size(), sizeof(head)));
  chain.CopyTo(0, size, head);
  std::string found;
  for (size_t i = 0; i < size; ++i)
    absl::StrAppendFormat(&found, "%s%02X", i == 0 ? "" : " ", head[i]);
  if (size == 0) {
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kFrameTooShort,
        absl::StrCat("the vector is empty: 0 bytes were given, and even that of no position has ",
                     kMinFrameBytes, ". Check the file, the offset and the length"),
        {{"found", uint64_t{0}}, {"expected", absl::StrCat("at least ", kMinFrameBytes)}});
  }
  return Error(
      absl::StatusCode::kFailedPrecondition, reason::kLayoutUnknown,
      absl::StrCat(
          "no magic number of a deletion vector at the start of the ", chain.size(),
          " bytes given: found ", found,
          ", expected D1 D3 39 64 at offset 4 (Iceberg blob). Check the "
          "file, the offset and the length; a bare Roaring bitmap must be named by its format, "
          "roaring64"),
      {{"offset", uint64_t{0}}, {"found", found}, {"expected", "D1 D3 39 64 at offset 4"}});
}

absl::StatusOr<DecodedVector> DecodeIceberg(bytes::Chain chain) {
  const absl::StatusOr<FrameContent> content = ReadFrame(chain);
  if (!content.ok()) return content.status();
  absl::StatusOr<View> view = View::Open(std::move(chain), content->begin, content->end,
                                         IndexOptions{kMaxDvKey}, content->checksum);
  if (!view.ok()) return view.status();
  DecodedVector vector;
  vector.view = *std::move(view);
  vector.layout = Layout::kFrame64;
  vector.checksum_checked = true;
  return vector;
}

absl::StatusOr<DecodedVector> DecodeRoaring64(bytes::Chain chain) {
  const uint64_t size = chain.size();
  const Layout magic = DetectLayout(chain);
  absl::StatusOr<View> view = View::Open(std::move(chain), 0, size);
  if (!view.ok()) {
    // A bitmap may begin like this by chance, and is then read; one that cannot be read is more
    // likely what its magic number says.
    if (magic == Layout::kUnknown) return view.status();
    return Error(absl::StatusCode::kFailedPrecondition, reason::kLayoutMismatch,
                 absl::StrCat("expected a bare 64-bit Roaring bitmap, found ", LayoutName(magic),
                              ": name that format, or leave the format out"),
                 {{"format", FormatName(Format::kRoaring64)},
                  {"found", LayoutName(magic)},
                  {"expected", LayoutName(Layout::kRoaring64)}});
  }
  DecodedVector vector;
  vector.view = *std::move(view);
  vector.layout = Layout::kRoaring64;
  return vector;
}

absl::StatusOr<DecodedVector> DecodeAs(Format format, bytes::Chain chain) {
  switch (format) {
    case Format::kIceberg:
      return DecodeIceberg(std::move(chain));
    case Format::kRoaring64:
      return DecodeRoaring64(std::move(chain));
    default:
      return NotImplemented(absl::StrCat("format ", FormatName(format)));
  }
}

absl::Status CheckExpectations(const View& view, const DecodeOptions& options) {
  if (options.expected_cardinality.has_value() &&
      *options.expected_cardinality != view.cardinality()) {
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kCardinalityMismatch,
        absl::StrFormat(
            "the vector holds %d positions, the caller expects %d: it may belong to another "
            "snapshot or data file",
            view.cardinality(), *options.expected_cardinality),
        {{"found", view.cardinality()}, {"expected", *options.expected_cardinality}});
  }
  const std::optional<uint64_t> last = view.Last();
  if (options.row_count.has_value() && last.has_value() && *last >= *options.row_count) {
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kPositionPastRowCount,
        absl::StrFormat(
            "the vector deletes row %d, but the data file has only %d rows: it may belong to "
            "another data file",
            *last, *options.row_count),
        {{"found", *last}, {"expected", absl::StrCat("below ", *options.row_count)}});
  }
  return absl::OkStatus();
}

}  // namespace

const char* FormatName(Format format) {
  switch (format) {
    case Format::kUnspecified:
      return "unspecified";
    case Format::kIceberg:
      return "iceberg";
    case Format::kPuffin:
      return "puffin";
    case Format::kDelta:
      return "delta";
    case Format::kPaimon:
      return "paimon";
    case Format::kLance:
      return "lance";
    case Format::kRoaring64:
      return "roaring64";
    case Format::kRoaring32:
      return "roaring32";
  }
  return "unknown";
}

absl::StatusOr<DecodedVector> Decode(bytes::Chain chain, const DecodeOptions& options) {
  Format format = options.format;
  if (format == Format::kUnspecified) {
    const absl::StatusOr<Format> found = FindFormat(chain);
    if (!found.ok()) return found.status();
    format = *found;
  }
  const uint64_t size = chain.size();
  absl::StatusOr<DecodedVector> vector = DecodeAs(format, std::move(chain));
  if (!vector.ok()) return vector.status();
  vector->format = format;
  vector->encoded_size = size;
  absl::Status status = CheckExpectations(vector->view, options);
  if (!status.ok()) return status;
  return vector;
}

}  // namespace dv::format
