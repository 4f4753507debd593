#include "tests/bench/payloads.h"

#include <roaring/roaring64.h>
#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

namespace dv::bench {
namespace {

struct Free {
  void operator()(roaring64_bitmap_t* bitmap) const { roaring64_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<roaring64_bitmap_t, Free>;

// SplitMix64: a small generator with the same numbers everywhere.
class Random {
 public:
  uint64_t Below(uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  uint64_t state_ = 4181;
};

// `count` bitmaps under the keys 0, `step`, 2 * `step`..., each with the first `values` even
// numbers.
Bitmap EvenNumbers(uint64_t count, uint64_t step, uint64_t values) {
  Bitmap bitmap(roaring64_bitmap_create());
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t v = 0; v < values; ++v) {
      roaring64_bitmap_add(bitmap.get(), (i * step) << 32 | 2 * v);
    }
  }
  return bitmap;
}

// `count` random rows of `rows`.
Bitmap RandomRows(uint64_t count, uint64_t rows) {
  Bitmap bitmap(roaring64_bitmap_create());
  Random random;
  for (uint64_t found = 0; found < count;) {
    if (roaring64_bitmap_add_checked(bitmap.get(), random.Below(rows))) ++found;
  }
  roaring64_bitmap_run_optimize(bitmap.get());
  return bitmap;
}

Bitmap AllRows(uint64_t rows) {
  Bitmap bitmap(roaring64_bitmap_from_range(0, rows, 1));
  roaring64_bitmap_run_optimize(bitmap.get());
  return bitmap;
}

struct Recipe {
  const char* name;
  PayloadGroup group;
  // Published size; 0: not published.
  size_t bytes;
  // Whether it is one of PayloadNames().
  bool listed;
  std::function<Bitmap()> make;
};

constexpr uint64_t kMillion = 1'000'000;

const std::vector<Recipe>& Recipes() {
  using enum PayloadGroup;
  static const std::vector<Recipe> recipes = {
      {"small_sparse", kHeadline, 1'108, true, [] { return EvenNumbers(5, 1, 100); }},
      {"gaps_sparse_keys", kHeadline, 102'008, true, [] { return EvenNumbers(100, 10, 500); }},
      {"medium_typical", kHeadline, 410'608, true, [] { return EvenNumbers(50, 1, 20'000); }},
      {"large_dense", kHeadline, 3'282'408, true, [] { return EvenNumbers(200, 1, 50'000); }},
      {"10k_of_1m", kRealistic, 0, true, [] { return RandomRows(10'000, kMillion); }},
      {"0.95m_of_10m", kRealistic, 0, true, [] { return RandomRows(950'000, 10 * kMillion); }},
      {"3.9m_of_10m", kRealistic, 0, true, [] { return RandomRows(3'900'000, 10 * kMillion); }},
      {"1m_of_1000m", kRealistic, 0, true, [] { return RandomRows(kMillion, 1'000 * kMillion); }},
      {"all_of_4294m", kRealistic, 0, true, [] { return AllRows(4'294 * kMillion); }},
      {"10m_of_20m", kRealistic, 0, false, [] { return RandomRows(10 * kMillion, 20 * kMillion); }},
      {"64k_of_250k", kRealistic, 0, false, [] { return RandomRows(65'536, 250'000); }},
      {"250k_of_250k", kRealistic, 0, false, [] { return AllRows(250'000); }},
      {"0.1m_of_100m", kRealistic, 0, false, [] { return RandomRows(100'000, 100 * kMillion); }},
  };
  return recipes;
}

std::string Serialize(const Bitmap& bitmap) {
  std::string bytes(roaring64_bitmap_portable_size_in_bytes(bitmap.get()), '\0');
  roaring64_bitmap_portable_serialize(bitmap.get(), bytes.data());
  return bytes;
}

void AppendBig(uint32_t value, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

}  // namespace

std::vector<std::string> PayloadNames() {
  std::vector<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    if (recipe.listed) names.emplace_back(recipe.name);
  }
  return names;
}

Payload MakePayload(std::string_view name) {
  for (const Recipe& recipe : Recipes()) {
    if (recipe.name != name) continue;
    Payload payload{recipe.name, recipe.group, Serialize(recipe.make())};
    if (recipe.bytes != 0 && payload.bytes.size() != recipe.bytes) {
      std::fprintf(stderr, "payload %s has %zu bytes, expected %zu\n", recipe.name,
                   payload.bytes.size(), recipe.bytes);
      std::exit(1);
    }
    return payload;
  }
  std::fprintf(stderr, "there is no payload %s\n", std::string(name).c_str());
  std::exit(1);
}

std::string IcebergFrame(std::string_view bytes) {
  std::string content = "\xD1\xD3\x39\x64";
  content += bytes;
  std::string frame;
  frame.reserve(content.size() + 8);
  AppendBig(static_cast<uint32_t>(content.size()), frame);
  frame += content;
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  AppendBig(static_cast<uint32_t>(crc), frame);
  return frame;
}

PiecedBytes::PiecedBytes(std::string_view payload) {
  // Strings that move would take short pieces to another address.
  pieces_.reserve(payload.size() / kPieceBytes + 2);
  // An odd first piece makes every cut odd.
  size_t size = kPieceBytes - 5;
  while (!payload.empty()) {
    const std::string_view piece = payload.substr(0, size);
    // Room in front, of another odd size each time.
    const size_t room = 1 + 2 * (pieces_.size() % 32);
    std::string& copy = pieces_.emplace_back(room, '\0');
    copy += piece;
    const auto* data = reinterpret_cast<const uint8_t*>(copy.data()) + room;
    chain_.Append(bytes::Span(data, piece.size()), nullptr);
    payload.remove_prefix(piece.size());
    size = kPieceBytes;
  }
}

}  // namespace dv::bench
