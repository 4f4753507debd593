#include "client/cli/print.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "client/cli/numbers.h"
#include "google/protobuf/stubs/common.h"
#include "google/protobuf/util/json_util.h"
#include "server/bytes/error.h"

namespace dv::cli {
namespace {

// Returns the name of an enum value as people write it: LAYOUT_FRAME64 is frame64.
std::string EnumText(absl::string_view name, absl::string_view prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

std::string FormatText(pb::Format format) { return EnumText(pb::Format_Name(format), "FORMAT_"); }
std::string LayoutText(pb::Layout layout) { return EnumText(pb::Layout_Name(layout), "LAYOUT_"); }

bool Bit(absl::string_view bits, uint64_t index) {
  return (static_cast<uint8_t>(bits[static_cast<size_t>(index / 8)]) >> (index % 8) & 1) != 0;
}

// Returns the length of the UTF-8 sequence at the start of `text`, or 0 if there is none.
size_t Utf8Length(absl::string_view text) {
  const auto byte = [text](size_t i) -> uint32_t { return static_cast<uint8_t>(text[i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and numbers above U+10FFFF.
  const uint32_t second = byte(1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

// Returns floor(index * rows / buckets).
uint64_t BucketStart(uint64_t index, uint64_t rows, uint64_t buckets) {
  // Without 128 bits: neither product can overflow, as there are no more than 4,096 buckets.
  return rows / buckets * index + rows % buckets * index / buckets;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
#if GOOGLE_PROTOBUF_VERSION >= 5026000
  options.always_print_fields_with_no_presence = true;
#else
  options.always_print_primitive_fields = true;
#endif
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  // Only messages with an Any of an unknown type fail; the contract has none.
  if (!status.ok()) return absl::StrCat("{\"error\":", JsonString(status.ToString()), "}");
  return json;
}

std::string JsonString(absl::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = Utf8Length(text);
    if (length == 0) {
      json.append("\\ufffd");
    } else if (c == '"' || c == '\\') {
      json.append({'\\', c});
    } else if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&json, "\\u%04x", static_cast<unsigned>(c));
    } else {
      json.append(text.data(), length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  json.push_back('"');
  return json;
}

std::string Printable(absl::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are control characters too: C2 80 to C2 9F.
    const bool control = length == 0 || absl::ascii_iscntrl(c) ||
                         (c == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
    const size_t taken = std::max<size_t>(length, 1);
    for (size_t i = 0; i < taken; ++i) {
      if (control) {
        absl::StrAppendFormat(&printable, "\\x%02x", static_cast<unsigned char>(text[i]));
      } else {
        printable.push_back(text[i]);
      }
    }
    text.remove_prefix(taken);
  }
  return printable;
}

std::string ErrorText(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return Printable(absl::StrCat(absl::StatusCodeToString(status.code()),
                                reason.empty() ? "" : absl::StrCat(" (", reason, ")"), ": ",
                                status.message()));
}

std::string SummaryText(const pb::VectorSummary& summary) {
  const pb::ContainerCounts& containers = summary.containers();
  std::string text = absl::StrCat("cardinality:     ", summary.cardinality(), "\n");
  if (summary.has_first_position()) {
    absl::StrAppend(&text, "first position:  ", summary.first_position(), "\n");
  }
  if (summary.has_last_position()) {
    absl::StrAppend(&text, "last position:   ", summary.last_position(), "\n");
  }
  absl::StrAppend(&text, "format:          ", FormatText(summary.format()), "\n",
                  "layout:          ", LayoutText(summary.layout()), "\n",
                  "encoded size:    ", summary.encoded_size(), " bytes\n",
                  "keys:            ", summary.key_count(), ", ", summary.empty_key_count(),
                  " of them empty\n");
  absl::StrAppend(
      &text, "containers:      ", containers.array(), " array, ", containers.bitset(), " bitset, ",
      containers.run(), " run\n", "bytes copied:    ", summary.bytes_copied(), "\n",
      "checksum:        ", summary.checksum_checked() ? "checked" : "none in this layout", "\n",
      "data file:       ", summary.identity_checked() ? "checked" : "not checked", "\n");
  return text;
}

std::string SummaryLine(const pb::VectorSummary& summary) {
  std::string text = absl::StrCat("cardinality ", summary.cardinality());
  if (summary.has_first_position()) {
    absl::StrAppend(&text, ", first ", summary.first_position());
  }
  if (summary.has_last_position()) {
    absl::StrAppend(&text, ", last ", summary.last_position());
  }
  return absl::StrCat(text, ", ", FormatText(summary.format()), ", ", LayoutText(summary.layout()),
                      ", ", summary.encoded_size(), " bytes\n");
}

std::string PartText(const pb::AnswerPart& part, absl::string_view prefix, bool named) {
  std::string text;
  const auto start = [&text, prefix, named](absl::string_view name) {
    text.append(prefix.data(), prefix.size());
    if (named) absl::StrAppend(&text, name, " ");
  };
  if (part.has_positions()) {
    for (const uint64_t position : part.positions().values()) {
      start("position");
      absl::StrAppend(&text, position, "\n");
    }
  } else if (part.has_runs()) {
    const pb::Runs& runs = part.runs();
    for (int i = 0; i < std::min(runs.starts_size(), runs.lengths_size()); ++i) {
      start("run");
      absl::StrAppend(&text, runs.starts(i), " ", runs.lengths(i), "\n");
    }
  } else if (part.has_mask()) {
    constexpr uint64_t kRowsALine = 64;
    const std::string& bits = part.mask().bits();
    const uint64_t rows = std::min<uint64_t>(part.row_count(), uint64_t{8} * bits.size());
    for (uint64_t row = 0; row < rows; ++row) {
      if (row % kRowsALine == 0) {
        if (row > 0) text.push_back('\n');
        start("mask");
        absl::StrAppend(&text, part.start() + row, " ");
      }
      text.push_back(Bit(bits, row) ? '1' : '0');
    }
    if (rows > 0) text.push_back('\n');
  }
  return text;
}

std::string CheckText(const pb::CheckAnswer& answer, absl::Span<const uint64_t> positions, bool all,
                      absl::string_view prefix) {
  std::string text;
  for (size_t i = 0; i < positions.size(); ++i) {
    const bool deleted = Bit(answer.deleted(), i);
    if (!deleted && !all) continue;
    absl::StrAppend(&text, prefix, positions[i], all ? (deleted ? " deleted" : " live") : "", "\n");
  }
  return text;
}

std::string CountText(const pb::CountAnswer& answer, absl::Span<const pb::PositionRange> ranges,
                      absl::string_view prefix) {
  std::string text;
  for (size_t i = 0; i < ranges.size(); ++i) {
    absl::StrAppend(&text, prefix, FormatRange(ranges[i]), " ", answer.counts(static_cast<int>(i)),
                    "\n");
  }
  return text;
}

std::string HistogramText(const pb::Histogram& histogram, absl::string_view prefix) {
  std::string text;
  const uint64_t buckets = static_cast<uint64_t>(histogram.counts_size());
  for (uint64_t i = 0; i < buckets; ++i) {
    absl::StrAppend(&text, prefix, "rows ", BucketStart(i, histogram.row_count(), buckets), ":",
                    BucketStart(i + 1, histogram.row_count(), buckets), " ");
    absl::StrAppend(&text, histogram.counts(static_cast<int>(i)), "\n");
  }
  if (histogram.beyond_count() > 0) {
    absl::StrAppend(&text, prefix, "rows ", histogram.row_count(), ": ", histogram.beyond_count(),
                    "\n");
  }
  return text;
}

}  // namespace dv::cli
