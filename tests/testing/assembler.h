// File: assembler.h
//
// Builds deletion vectors byte by byte, whole ones and broken ones: every field can be given a
// value of its own. It shares no code with the server and uses no library of bitmaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dv::testing {

// Numbers as bytes.
std::string Le16(uint64_t number);
std::string Le32(uint64_t number);
std::string Le64(uint64_t number);
std::string Be32(uint64_t number);

// Returns the CRC-32 of zip, computed bit by bit.
uint32_t BitwiseCrc32(std::string_view bytes);

// One run as it is stored: its first value, and its number of values less one.
struct StoredRun {
  uint32_t start;
  uint32_t length_minus_one;
};

// One container. The factories make right ones; then any field may be changed.
struct Container {
  uint32_t key = 0;
  // What the descriptive header says: the number of values less one.
  uint32_t cardinality_minus_one = 0;
  // Whether the run flag is set.
  bool is_run = false;
  // The content.
  std::string payload;
};

// Returns an array container of `values`, written in the order given.
Container Array(uint32_t key, const std::vector<uint32_t>& values);

// Returns a bitset container of `values`, in any order.
Container Bitset(uint32_t key, const std::vector<uint32_t>& values);

// Returns a run container. Its cardinality is the sum of the lengths; with no run, 1.
Container Runs(uint32_t key, const std::vector<StoredRun>& runs);

// Returns count values from `first` on, `step` apart.
std::vector<uint32_t> Values(uint32_t first, uint32_t count, uint32_t step = 1);

// A 32-bit bitmap.
struct Bitmap32 {
  std::vector<Container> containers;

  // The rest is computed unless it is given.

  // Takes the cookie that allows runs although no container is one.
  bool run_cookie = false;
  // The first word.
  std::optional<uint32_t> cookie;
  // The second word, where the cookie without runs has its count.
  std::optional<uint32_t> count;
  // The bytes of the run flags, with the cookie that allows runs.
  std::optional<std::string> run_flags;
  // Whether there is an offset header.
  std::optional<bool> has_offset_header;
  // Entries of the offset header, by container.
  std::map<size_t, uint32_t> offsets;
  // Behind the last container.
  std::string trailing;

  // Whether the cookie that allows runs is taken.
  bool UsesRunCookie() const;
  // Whether an offset header is written.
  bool WritesOffsetHeader() const;

  // Where the parts start, counted from the first byte of the bitmap.
  size_t DescriptiveHeaderOffset() const;
  size_t OffsetHeaderOffset() const;
  size_t PayloadOffset(size_t container) const;

  std::string Bytes() const;
};

// Returns a bitmap of these containers.
Bitmap32 Bitmap(std::vector<Container> containers);

// A 64-bit bitmap: keys and the bytes of their bitmaps.
struct Bitmap64 {
  struct Bucket {
    uint32_t key;
    std::string bitmap;
  };

  std::vector<Bucket> buckets;
  // The number of buckets; computed unless it is given.
  std::optional<uint64_t> count;
  // Behind the last bucket.
  std::string trailing;

  // Where the key of a bucket, or its bitmap, starts.
  size_t KeyOffset(size_t bucket) const;
  size_t BitmapOffset(size_t bucket) const { return KeyOffset(bucket) + 4; }

  std::string Bytes() const;
};

// Returns a bitmap with one bucket.
Bitmap64 OneBucket(uint32_t key, const Bitmap32& bitmap);

inline constexpr std::string_view kMagic64("\xD1\xD3\x39\x64", 4);
inline constexpr std::string_view kMagic32("\x5E\x43\xF2\xD0", 4);
inline constexpr std::string_view kMagicNative("\xD0\xD3\x39\x64", 4);

// A frame: length, magic, vector, CRC.
struct Frame {
  std::string vector;

  // The rest is computed unless it is given.
  std::string magic = std::string(kMagic64);
  std::optional<uint32_t> length;
  std::optional<uint32_t> crc;
  // Behind the CRC.
  std::string trailing;

  std::string Bytes() const;
};

// Returns the frame around `vector`.
std::string FrameOf(std::string vector);

// Returns `frame` with its CRC put right. REQUIRES: at least 8 bytes.
std::string WithCrcRepaired(std::string frame);

}  // namespace dv::testing
