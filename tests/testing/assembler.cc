#include "tests/testing/assembler.h"

#include <algorithm>
#include <utility>

namespace dv::testing {
namespace {

constexpr uint32_t kCookieWithoutRuns = 12346;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr size_t kContainersWithOffsetHeader = 4;

std::string LittleEndian(uint64_t number, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
  return out;
}

}  // namespace

std::string Le16(uint64_t number) { return LittleEndian(number, 2); }
std::string Le32(uint64_t number) { return LittleEndian(number, 4); }
std::string Le64(uint64_t number) { return LittleEndian(number, 8); }

std::string Be32(uint64_t number) {
  std::string out = Le32(number);
  std::reverse(out.begin(), out.end());
  return out;
}

uint32_t BitwiseCrc32(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

Container Array(uint32_t key, const std::vector<uint32_t>& values) {
  Container container;
  container.key = key;
  container.cardinality_minus_one = static_cast<uint32_t>(values.size()) - 1;
  for (const uint32_t value : values) container.payload += Le16(value);
  return container;
}

Container Bitset(uint32_t key, const std::vector<uint32_t>& values) {
  Container container;
  container.key = key;
  container.cardinality_minus_one = static_cast<uint32_t>(values.size()) - 1;
  std::vector<uint8_t> bits(8192);
  for (const uint32_t value : values) {
    bits[value / 8] = static_cast<uint8_t>(bits[value / 8] | 1u << value % 8);
  }
  container.payload.assign(bits.begin(), bits.end());
  return container;
}

Container Runs(uint32_t key, const std::vector<StoredRun>& runs) {
  Container container;
  container.key = key;
  container.is_run = true;
  container.payload = Le16(runs.size());
  uint32_t cardinality = 0;
  for (const StoredRun& run : runs) {
    container.payload += Le16(run.start) + Le16(run.length_minus_one);
    cardinality += run.length_minus_one + 1;
  }
  container.cardinality_minus_one = cardinality == 0 ? 0 : cardinality - 1;
  return container;
}

std::vector<uint32_t> Values(uint32_t first, uint32_t count, uint32_t step) {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < count; ++i) values.push_back(first + i * step);
  return values;
}

bool Bitmap32::UsesRunCookie() const {
  return run_cookie || std::any_of(containers.begin(), containers.end(),
                                   [](const Container& container) { return container.is_run; });
}

bool Bitmap32::WritesOffsetHeader() const {
  return has_offset_header.value_or(!UsesRunCookie() ||
                                    containers.size() >= kContainersWithOffsetHeader);
}

size_t Bitmap32::DescriptiveHeaderOffset() const {
  if (!UsesRunCookie()) return 8;
  return 4 + (run_flags.has_value() ? run_flags->size() : (containers.size() + 7) / 8);
}

size_t Bitmap32::OffsetHeaderOffset() const {
  return DescriptiveHeaderOffset() + 4 * containers.size();
}

size_t Bitmap32::PayloadOffset(size_t container) const {
  size_t offset = OffsetHeaderOffset();
  if (WritesOffsetHeader()) offset += 4 * containers.size();
  for (size_t i = 0; i < container; ++i) offset += containers[i].payload.size();
  return offset;
}

std::string Bitmap32::Bytes() const {
  std::string out;
  if (UsesRunCookie()) {
    const auto high = static_cast<uint32_t>(containers.size() - 1);
    out += Le32(cookie.value_or(kCookieWithRuns | high << 16));
    if (run_flags.has_value()) {
      out += *run_flags;
    } else {
      std::vector<uint8_t> flags((containers.size() + 7) / 8);
      for (size_t i = 0; i < containers.size(); ++i) {
        if (containers[i].is_run) flags[i / 8] = static_cast<uint8_t>(flags[i / 8] | 1u << i % 8);
      }
      out.append(flags.begin(), flags.end());
    }
  } else {
    out += Le32(cookie.value_or(kCookieWithoutRuns));
    out += Le32(count.value_or(static_cast<uint32_t>(containers.size())));
  }
  for (const Container& container : containers) {
    out += Le16(container.key) + Le16(container.cardinality_minus_one);
  }
  if (WritesOffsetHeader()) {
    size_t offset = PayloadOffset(0);
    for (size_t i = 0; i < containers.size(); ++i) {
      const auto given = offsets.find(i);
      out += Le32(given == offsets.end() ? offset : given->second);
      offset += containers[i].payload.size();
    }
  }
  for (const Container& container : containers) out += container.payload;
  return out + trailing;
}

Bitmap32 Bitmap(std::vector<Container> containers) {
  Bitmap32 bitmap;
  bitmap.containers = std::move(containers);
  return bitmap;
}

size_t Bitmap64::KeyOffset(size_t bucket) const {
  size_t offset = 8;
  for (size_t i = 0; i < bucket; ++i) offset += 4 + buckets[i].bitmap.size();
  return offset;
}

std::string Bitmap64::Bytes() const {
  std::string out = Le64(count.value_or(buckets.size()));
  for (const Bucket& bucket : buckets) out += Le32(bucket.key) + bucket.bitmap;
  return out + trailing;
}

Bitmap64 OneBucket(uint32_t key, const Bitmap32& bitmap) {
  Bitmap64 out;
  out.buckets.push_back({key, bitmap.Bytes()});
  return out;
}

std::string Frame::Bytes() const {
  const std::string data = magic + vector;
  return Be32(length.value_or(static_cast<uint32_t>(data.size()))) + data +
         Be32(crc.value_or(BitwiseCrc32(data))) + trailing;
}

std::string FrameOf(std::string vector) {
  Frame frame;
  frame.vector = std::move(vector);
  return frame.Bytes();
}

std::string WithCrcRepaired(std::string frame) {
  const std::string_view data = std::string_view(frame).substr(4, frame.size() - 8);
  const std::string crc = Be32(BitwiseCrc32(data));
  frame.replace(frame.size() - 4, 4, crc);
  return frame;
}

}  // namespace dv::testing
