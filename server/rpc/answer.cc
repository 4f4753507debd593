#include "server/rpc/answer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "server/bytes/endian.h"
#include "server/roaring/cursor.h"
#include "server/roaring/writer.h"
#include "server/rpc/encode.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// Field numbers of the contract.
constexpr uint32_t kResponsePart = 1;   // ReadPositionsResponse.part
constexpr uint32_t kScanPart = 2;       // ScanResponse.part
constexpr uint32_t kQueryPartId = 1;    // QueryPart.query_id
constexpr uint32_t kQueryPartRead = 2;  // QueryPart.read
constexpr uint32_t kPartStart = 1;      // AnswerPart
constexpr uint32_t kPartRowCount = 2;
constexpr uint32_t kPartNextStart = 3;
constexpr uint32_t kPartPositionCount = 4;
constexpr uint32_t kPartPositions = 5;
constexpr uint32_t kPartRuns = 6;
constexpr uint32_t kPartMask = 7;
constexpr uint32_t kPartRoaring = 8;
constexpr uint32_t kFirstArray = 1;    // Positions.values, Runs.starts, Mask.bits
constexpr uint32_t kRunsLengths = 2;   // Runs.lengths
constexpr uint32_t kMaskPolarity = 2;  // Mask.polarity

// Room in front of the content: nine fields of at most a tag and a varint.
constexpr size_t kPrefixBytes = 9 * (1 + kMaxVarintBytes);

// Room in front of the second array of runs.
constexpr size_t kGapBytes = 1 + kMaxVarintBytes;

// Runs that are taken from the cursor at a time.
constexpr size_t kRunsAtATime = 512;

// A 64-bit bitmap without a position in the portable format: no keys.
constexpr size_t kEmptyRoaringBytes = 8;

constexpr uint64_t kLastRow = std::numeric_limits<uint64_t>::max();

}  // namespace

// The memory of a message, with its content in place and room for the prefix.
struct Answer::Buffer {
  std::shared_ptr<const void> owner;
  // Where the content of the first array starts, behind kPrefixBytes of room.
  uint8_t* content = nullptr;
  // Bytes of the first array, or of the content where it is no message.
  size_t first_bytes = 0;
  // What follows the first array in the same message, with its own tag.
  uint8_t* second = nullptr;
  size_t second_bytes = 0;
  // Field of AnswerPart.
  uint32_t field = 0;

  // Takes room for `bytes` bytes of content.
  static Buffer Allocate(size_t bytes) {
    // Not cleared: every byte that is sent is written.
    const std::shared_ptr<uint8_t[]> memory(new uint8_t[kPrefixBytes + bytes]);
    Buffer buffer;
    buffer.content = memory.get() + kPrefixBytes;
    buffer.owner = memory;
    return buffer;
  }
};

Answer::Answer(const roaring::View& view, const ReadSpec& spec, std::optional<uint64_t> query_id)
    : view_(view), spec_(spec), query_id_(query_id), next_(spec.range.first) {
  if (spec_.range.empty()) return;
  if (spec_.encoding == pb::ENCODING_MASK) {
    left_ = spec_.range.last - spec_.range.first + 1;
    return;
  }
  const uint64_t total = view_.Count(spec_.range);
  left_ = spec_.limit.has_value() ? std::min(total, *spec_.limit) : total;
  limit_reached_ = left_ < total;
}

bytes::Chain Answer::Next() {
  if (spec_.encoding == pb::ENCODING_MASK) return NextMask();
  // What one part may cover, and how many positions can lie there.
  uint64_t last = spec_.range.last;
  uint64_t most = left_;
  if (last - next_ >= kMaxRowsPerPart) {
    last = next_ + (kMaxRowsPerPart - 1);
    most = std::min(most, view_.Count(roaring::Range{next_, last}));
    if (most == 0) return EmptyPart(kMaxRowsPerPart);
  }
  switch (spec_.encoding) {
    case pb::ENCODING_RUNS:
      return NextRuns(last, most);
    case pb::ENCODING_ROARING:
      return NextRoaring(last, most);
    default:
      return NextPositions(last, most);
  }
}

bytes::Chain Answer::NextPositions(uint64_t last, uint64_t most) {
  const size_t capacity = static_cast<size_t>(std::min(most, kPositionsPerPart));
  Buffer buffer = Buffer::Allocate(capacity * 8);
  roaring::PositionCursor cursor(view_, roaring::Range{next_, last});
  const size_t count = cursor.Next(buffer.content, capacity);
  buffer.first_bytes = count * 8;
  buffer.field = kPartPositions;
  PartHeader header;
  header.position_count = count;
  header.row_count = bytes::LoadLittle<uint64_t>(buffer.content + (count - 1) * 8) - next_ + 1;
  left_ -= count;
  return Finish(header, std::move(buffer));
}

bytes::Chain Answer::NextRuns(uint64_t last, uint64_t most) {
  const size_t capacity = static_cast<size_t>(std::min(most, kRunsPerPart));
  Buffer buffer = Buffer::Allocate(capacity * 16 + kGapBytes);
  uint8_t* const starts = buffer.content;
  uint8_t* const lengths = starts + capacity * 8 + kGapBytes;

  roaring::RunCursor cursor(view_, roaring::Range{next_, last});
  std::array<roaring::Run, kRunsAtATime> runs;
  roaring::Run last_run{0, 0};
  size_t count = 0;
  uint64_t positions = 0;
  while (count < capacity && positions < left_) {
    const size_t wanted = std::min(kRunsAtATime, capacity - count);
    const size_t got = cursor.Next(runs.data(), wanted);
    for (size_t i = 0; i < got && positions < left_; ++i) {
      last_run = runs[i];
      last_run.length = std::min(last_run.length, left_ - positions);
      bytes::StoreLittle(starts + count * 8, last_run.start);
      bytes::StoreLittle(lengths + count * 8, last_run.length);
      positions += last_run.length;
      ++count;
    }
    if (got < wanted) break;
  }

  // Only the range and the limit may cut a run. One that goes on behind the rows that a part may
  // cover is left to the next part, which starts later.
  const bool cut = last != spec_.range.last && last_run.start + (last_run.length - 1) == last &&
                   positions < left_ && view_.Contains(last + 1);
  if (cut && last_run.start > next_) {
    if (count == 1) return EmptyPart(last_run.start - next_);
    --count;
    positions -= last_run.length;
    last_run.start = bytes::LoadLittle<uint64_t>(starts + (count - 1) * 8);
    last_run.length = bytes::LoadLittle<uint64_t>(lengths + (count - 1) * 8);
  }

  buffer.first_bytes = count * 8;
  const size_t prefix_bytes = LengthPrefixSize(count * 8);
  buffer.second = lengths - prefix_bytes;
  buffer.second_bytes = prefix_bytes + count * 8;
  WriteLengthPrefix(kRunsLengths, count * 8, buffer.second);
  buffer.field = kPartRuns;
  PartHeader header;
  header.position_count = positions;
  header.row_count = last_run.start + (last_run.length - 1) - next_ + 1;
  left_ -= positions;
  return Finish(header, std::move(buffer));
}

bytes::Chain Answer::NextMask() {
  const uint64_t rows = std::min(left_, kMaskRowsPerPart);
  const size_t bytes = static_cast<size_t>((rows + 7) / 8);
  constexpr size_t kPolarityBytes = 2;
  Buffer buffer = Buffer::Allocate(bytes + kPolarityBytes);
  PartHeader header;
  header.row_count = rows;
  header.position_count = roaring::WriteMask(view_, next_, rows, spec_.polarity, buffer.content);
  buffer.first_bytes = bytes;
  buffer.second = buffer.content + bytes;
  buffer.second_bytes = kPolarityBytes;
  WriteVarintField(kMaskPolarity,
                   spec_.polarity == roaring::Polarity::kLive ? pb::MASK_POLARITY_LIVE
                                                              : pb::MASK_POLARITY_DELETED,
                   buffer.second);
  buffer.field = kPartMask;
  left_ -= rows;
  return Finish(header, std::move(buffer));
}

bytes::Chain Answer::NextRoaring(uint64_t last, uint64_t most) {
  const auto memory = std::make_shared<std::string>();
  // Two bytes a position and some headers are enough unless the positions are far apart.
  memory->reserve(kPrefixBytes +
                  static_cast<size_t>(std::min(most * 2 + 64, kRoaringBytesPerPart)));
  memory->append(kPrefixBytes, '\0');
  roaring::RoaringCursor cursor(view_, roaring::Range{next_, last});
  const roaring::RoaringCursor::Part part = cursor.Next(kRoaringBytesPerPart, most, *memory);
  Buffer buffer;
  buffer.owner = memory;
  buffer.content = reinterpret_cast<uint8_t*>(memory->data()) + kPrefixBytes;
  buffer.first_bytes = memory->size() - kPrefixBytes;
  buffer.field = kPartRoaring;
  PartHeader header;
  header.position_count = part.position_count;
  header.row_count = part.last_position - next_ + 1;
  left_ -= part.position_count;
  return Finish(header, std::move(buffer));
}

bytes::Chain Answer::EmptyPart(uint64_t row_count) {
  Buffer buffer = Buffer::Allocate(kEmptyRoaringBytes);
  switch (spec_.encoding) {
    case pb::ENCODING_RUNS:
      buffer.field = kPartRuns;
      break;
    case pb::ENCODING_ROARING:
      std::memset(buffer.content, 0, kEmptyRoaringBytes);
      buffer.first_bytes = kEmptyRoaringBytes;
      buffer.field = kPartRoaring;
      break;
    default:
      buffer.field = kPartPositions;
      break;
  }
  PartHeader header;
  header.row_count = row_count;
  return Finish(header, std::move(buffer));
}

bytes::Chain Answer::Finish(const PartHeader& header, Buffer buffer) {
  const uint64_t start = next_;
  at_top_ = header.row_count - 1 == kLastRow - start;
  next_ = start + header.row_count;
  position_count_ += header.position_count;
  ++part_count_;

  // The small fields of AnswerPart.
  std::array<uint8_t, 4 * (1 + kMaxVarintBytes)> fields;
  uint8_t* end = fields.data();
  if (start != 0) end = WriteVarintField(kPartStart, start, end);
  if (header.row_count != 0) end = WriteVarintField(kPartRowCount, header.row_count, end);
  if (!at_top_) end = WriteVarintField(kPartNextStart, next_, end);
  if (header.position_count != 0) {
    end = WriteVarintField(kPartPositionCount, header.position_count, end);
  }
  const size_t field_bytes = static_cast<size_t>(end - fields.data());

  // Lengths, from the inside out. Roaring is no message: its bytes are the field itself.
  const bool has_array = buffer.field != kPartRoaring && buffer.first_bytes != 0;
  const size_t content_bytes = (has_array ? LengthPrefixSize(buffer.first_bytes) : 0) +
                               buffer.first_bytes + buffer.second_bytes;
  const size_t part_bytes = field_bytes + LengthPrefixSize(content_bytes) + content_bytes;

  std::array<uint8_t, kPrefixBytes> prefix;
  end = prefix.data();
  if (query_id_.has_value()) {
    const size_t id_bytes = *query_id_ == 0 ? 0 : 1 + VarintSize(*query_id_);
    end = WriteLengthPrefix(kScanPart, id_bytes + LengthPrefixSize(part_bytes) + part_bytes, end);
    if (id_bytes != 0) end = WriteVarintField(kQueryPartId, *query_id_, end);
    end = WriteLengthPrefix(kQueryPartRead, part_bytes, end);
  } else {
    end = WriteLengthPrefix(kResponsePart, part_bytes, end);
  }
  end = std::copy_n(fields.data(), field_bytes, end);
  end = WriteLengthPrefix(buffer.field, content_bytes, end);
  if (has_array) end = WriteLengthPrefix(kFirstArray, buffer.first_bytes, end);

  const size_t prefix_bytes = static_cast<size_t>(end - prefix.data());
  uint8_t* const message = buffer.content - prefix_bytes;
  std::copy_n(prefix.data(), prefix_bytes, message);
  bytes::Chain chain;
  const size_t first_bytes = prefix_bytes + buffer.first_bytes;
  if (buffer.second == message + first_bytes) {
    chain.Append(bytes::Span(message, first_bytes + buffer.second_bytes), std::move(buffer.owner));
  } else {
    chain.Append(bytes::Span(message, first_bytes), buffer.owner);
    chain.Append(bytes::Span(buffer.second, buffer.second_bytes), std::move(buffer.owner));
  }
  return chain;
}

pb::AnswerEnd Answer::End() const {
  pb::AnswerEnd end;
  end.set_position_count(position_count_);
  end.set_part_count(part_count_);
  if (limit_reached_) {
    end.set_limit_reached(true);
    end.set_next_start(next_);
  }
  return end;
}

}  // namespace dv::rpc
