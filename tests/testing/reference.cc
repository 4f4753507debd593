#include "tests/testing/reference.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "tests/testing/assembler.h"

namespace dv::testing {
namespace {

// One container as the headers describe it.
struct Found {
  uint64_t first_position;
  uint32_t cardinality;
  enum { kArray, kBitset, kRun } kind;
  size_t offset;
};

class Reader {
 public:
  Reader(std::string_view bytes, uint32_t max_key) : bytes_(bytes), max_key_(max_key) {}

  ReferenceResult Read() {
    if (ReadHeaders()) {
      for (const Found& found : found_) {
        if (!ReadContent(found)) break;
      }
    }
    if (!result_.ok()) result_.positions = Intervals();
    return result_;
  }

 private:
  size_t left() const { return bytes_.size() - at_; }

  uint64_t Number(size_t offset, size_t size) const {
    uint64_t number = 0;
    for (size_t i = size; i > 0; --i) {
      number = number << 8 | static_cast<uint8_t>(bytes_[offset + i - 1]);
    }
    return number;
  }

  bool Fail(const char* reason, size_t offset) {
    result_.reason = reason;
    result_.offset = offset;
    return false;
  }

  bool ReadHeaders() {
    if (left() < 8) return Fail("TRUNCATED", at_);
    const uint64_t count = Number(0, 8);
    at_ = 8;
    if (count > 0xFFFFFFFF || count > left() / 12) return Fail("BITMAP_COUNT_TOO_LARGE", 0);
    std::optional<uint64_t> previous;
    for (uint64_t i = 0; i < count; ++i) {
      if (left() < 4) return Fail("TRUNCATED", at_);
      const uint64_t key = Number(at_, 4);
      if (previous.has_value() && key <= *previous) return Fail("KEYS_NOT_ASCENDING", at_);
      if (key > max_key_) return Fail("KEY_OUT_OF_RANGE", at_);
      previous = key;
      at_ += 4;
      if (!ReadBitmap(key << 32)) return false;
    }
    if (left() != 0) return Fail("TRAILING_BYTES", at_);
    return true;
  }

  bool ReadBitmap(uint64_t first_position) {
    const size_t start = at_;
    if (left() < 4) return Fail("TRUNCATED", at_);
    const uint64_t cookie = Number(at_, 4);
    at_ += 4;
    uint64_t count = 0;
    size_t flags = 0;
    const bool with_runs = cookie % 65536 == 12347;
    if (with_runs) {
      count = cookie / 65536 + 1;
      flags = at_;
      const size_t size = static_cast<size_t>(count + 7) / 8;
      if (left() < size) return Fail("TRUNCATED", at_);
      at_ += size;
    } else if (cookie == 12346) {
      if (left() < 4) return Fail("TRUNCATED", at_);
      count = Number(at_, 4);
      if (count > 65536) return Fail("CONTAINER_COUNT_TOO_LARGE", at_);
      at_ += 4;
    } else {
      return Fail("COOKIE_INVALID", start);
    }

    const size_t header = at_;
    if (left() < 4 * count) return Fail("TRUNCATED", at_);
    at_ += static_cast<size_t>(4 * count);
    const size_t offsets = at_;
    const bool with_offsets = !with_runs || count >= 4;
    if (with_offsets) {
      if (left() < 4 * count) return Fail("TRUNCATED", at_);
      at_ += static_cast<size_t>(4 * count);
    }
    for (size_t i = 0; i < count; ++i) {
      const uint64_t key = Number(header + 4 * i, 2);
      if (i > 0 && key <= Number(header + 4 * (i - 1), 2)) {
        return Fail("CONTAINER_KEYS_NOT_ASCENDING", header + 4 * i);
      }
      if (with_offsets && Number(offsets + 4 * i, 4) != at_ - start) {
        return Fail("OFFSETS_INCONSISTENT", offsets + 4 * i);
      }
      Found found;
      found.first_position = first_position + (key << 16);
      found.cardinality = static_cast<uint32_t>(Number(header + 4 * i + 2, 2)) + 1;
      found.kind = found.cardinality <= 4096 ? Found::kArray : Found::kBitset;
      if (with_runs && (Number(flags + i / 8, 1) >> (i % 8) & 1) != 0) found.kind = Found::kRun;
      found.offset = at_;
      size_t size = 8192;
      if (found.kind == Found::kArray) size = 2 * found.cardinality;
      if (found.kind == Found::kRun) {
        if (left() < 2) return Fail("TRUNCATED", at_);
        size = 2 + 4 * static_cast<size_t>(Number(at_, 2));
        if (size == 2) return Fail("RUN_CONTAINER_EMPTY", at_);
      }
      if (left() < size) return Fail("TRUNCATED", at_);
      at_ += size;
      found_.push_back(found);
    }
    return true;
  }

  bool ReadContent(const Found& found) {
    switch (found.kind) {
      case Found::kArray:
        return ReadArray(found);
      case Found::kBitset:
        return ReadBitset(found);
      default:
        return ReadRuns(found);
    }
  }

  bool ReadArray(const Found& found) {
    for (size_t i = 0; i < found.cardinality; ++i) {
      const size_t at = found.offset + 2 * i;
      const uint64_t value = Number(at, 2);
      if (i > 0 && value <= Number(at - 2, 2)) return Fail("ARRAY_NOT_ASCENDING", at);
      const uint64_t position = found.first_position + value;
      result_.positions.Append(position, position);
    }
    return true;
  }

  bool ReadBitset(const Found& found) {
    uint32_t cardinality = 0;
    for (uint32_t value = 0; value < 65536; ++value) {
      if ((Number(found.offset + value / 8, 1) >> (value % 8) & 1) == 0) continue;
      const uint64_t position = found.first_position + value;
      result_.positions.Append(position, position);
      ++cardinality;
    }
    if (cardinality != found.cardinality) return Fail("BITSET_CARDINALITY_MISMATCH", found.offset);
    return true;
  }

  bool ReadRuns(const Found& found) {
    const uint64_t count = Number(found.offset, 2);
    uint64_t sum = 0;
    std::optional<uint64_t> previous_last;
    for (size_t i = 0; i < count; ++i) {
      const size_t at = found.offset + 2 + 4 * i;
      const uint64_t start = Number(at, 2);
      const uint64_t last = start + Number(at + 2, 2);
      if (previous_last.has_value() && start <= *previous_last) return Fail("RUNS_OVERLAP", at);
      if (previous_last.has_value() && start == *previous_last + 1) {
        return Fail("RUNS_ADJACENT", at);
      }
      if (last > 65535) return Fail("RUN_OUT_OF_RANGE", at);
      previous_last = last;
      sum += last - start + 1;
      result_.positions.Append(found.first_position + start, found.first_position + last);
    }
    if (sum != found.cardinality) return Fail("RUN_CARDINALITY_MISMATCH", found.offset);
    return true;
  }

  std::string_view bytes_;
  uint32_t max_key_;
  size_t at_ = 0;
  std::vector<Found> found_;
  ReferenceResult result_;
};

ReferenceResult Refuse(const char* reason, uint64_t offset) {
  ReferenceResult result;
  result.reason = reason;
  result.offset = offset;
  return result;
}

}  // namespace

ReferenceResult ReadRoaring64(std::string_view bytes, uint32_t max_key) {
  return Reader(bytes, max_key).Read();
}

ReferenceResult ReadFrame64(std::string_view bytes) {
  if (bytes.size() < 20) return Refuse("FRAME_TOO_SHORT", 0);
  if (bytes.substr(4, 4) != kMagic64) return Refuse("LAYOUT_UNKNOWN", 4);
  if (bytes.substr(0, 4) != Be32(bytes.size() - 8)) return Refuse("FRAME_LENGTH_MISMATCH", 0);
  const size_t crc_offset = bytes.size() - 4;
  if (bytes.substr(crc_offset) != Be32(BitwiseCrc32(bytes.substr(4, bytes.size() - 8)))) {
    return Refuse("CRC_MISMATCH", crc_offset);
  }
  ReferenceResult result = ReadRoaring64(bytes.substr(8, bytes.size() - 12), 0x7FFFFFFF);
  result.offset += 8;
  return result;
}

}  // namespace dv::testing
