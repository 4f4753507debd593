#include "tests/testing/shapes.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "server/bytes/reason.h"
#include "tests/testing/assembler.h"

namespace dv::testing {
namespace {

// Where the bitmap of the first bucket starts in a frame, and its vector.
constexpr size_t kVectorInFrame = 8;
constexpr size_t kBitmapInFrame = 20;

Sample Bare(std::string name, std::string bytes) {
  Sample sample;
  sample.name = std::move(name);
  sample.bytes = std::move(bytes);
  sample.options.format = format::Format::kRoaring64;
  return sample;
}

Sample Framed(std::string name, std::string frame) {
  Sample sample = Bare(std::move(name), std::move(frame));
  sample.options.format = format::Format::kIceberg;
  return sample;
}

Sample Framed(std::string name, const Bitmap64& bitmap) {
  return Framed(std::move(name), FrameOf(bitmap.Bytes()));
}

Sample Framed(std::string name, const Bitmap32& bitmap) {
  return Framed(std::move(name), OneBucket(0, bitmap));
}

Sample Refused(Sample sample, absl::string_view reason,
               std::optional<uint64_t> offset = std::nullopt) {
  sample.reason = std::string(reason);
  sample.offset = offset;
  return sample;
}

// Returns runs of one value each, `step` apart.
std::vector<StoredRun> SingleRuns(uint32_t count, uint32_t step) {
  std::vector<StoredRun> runs;
  for (uint32_t i = 0; i < count; ++i) runs.push_back({i * step, 0});
  return runs;
}

// Returns `count` small containers of the keys from 0 on; those that are divisible by `run_every`
// are runs.
std::vector<Container> SmallContainers(uint32_t count, uint32_t run_every) {
  std::vector<Container> containers;
  for (uint32_t key = 0; key < count; ++key) {
    if (run_every != 0 && key % run_every == 0) {
      containers.push_back(Runs(key, {{10, 2}, {20, 4}}));
    } else {
      containers.push_back(Array(key, {key, key + 2}));
    }
  }
  return containers;
}

Bitmap64 TwoBuckets(uint32_t first_key, uint32_t second_key) {
  Bitmap64 bitmap;
  bitmap.buckets.push_back({first_key, Bitmap({Array(0, {1})}).Bytes()});
  bitmap.buckets.push_back({second_key, Bitmap({Array(0, {2})}).Bytes()});
  return bitmap;
}

void AddValidContainers(std::vector<Sample>& samples) {
  samples.push_back(Framed("array-of-0", Bitmap({Array(0, {0})})));
  samples.push_back(Framed("array-of-65535", Bitmap({Array(0, {65535})})));
  samples.push_back(Framed("array-of-4096", Bitmap({Array(3, Values(61440, 4096))})));
  samples.push_back(Framed("array-of-4096-spread", Bitmap({Array(3, Values(0, 4096, 16))})));
  samples.push_back(Framed("bitset-of-4097", Bitmap({Bitset(0, Values(0, 4097, 15))})));
  samples.push_back(Framed("bitset-even", Bitmap({Bitset(0, Values(0, 32768, 2))})));
  samples.push_back(Framed("bitset-odd", Bitmap({Bitset(0, Values(1, 32768, 2))})));
  samples.push_back(Framed("bitset-without-ends", Bitmap({Bitset(0, Values(1, 65534))})));
  samples.push_back(Framed("bitset-full", Bitmap({Bitset(7, Values(0, 65536))})));
  samples.push_back(Framed("run-of-1-first", Bitmap({Runs(0, {{0, 0}})})));
  samples.push_back(Framed("run-of-1-last", Bitmap({Runs(0, {{65535, 0}})})));
  samples.push_back(Framed("run-full", Bitmap({Runs(65535, {{0, 65535}})})));
  samples.push_back(Framed("run-two-ends", Bitmap({Runs(0, {{0, 0}, {65535, 0}})})));
  samples.push_back(Framed("run-gap-of-one", Bitmap({Runs(0, {{0, 32766}, {32768, 32767}})})));
  samples.push_back(Framed("run-32768", Bitmap({Runs(0, SingleRuns(32768, 2))})));
  samples.push_back(Framed("run-larger-than-array", Bitmap({Runs(0, SingleRuns(3, 10))})));
  samples.push_back(Framed("run-larger-than-bitset", Bitmap({Runs(0, SingleRuns(5000, 13))})));
}

void AddValidHeaders(std::vector<Sample>& samples) {
  for (const uint32_t count : {1u, 3u, 4u, 8u, 9u, 16u, 17u}) {
    const std::string suffix = "-" + std::to_string(count);
    Bitmap32 no_run = Bitmap(SmallContainers(count, 0));
    samples.push_back(Framed("containers" + suffix, no_run));
    no_run.run_cookie = true;
    samples.push_back(Framed("run-cookie-without-run" + suffix, no_run));
    samples.push_back(Framed("all-runs" + suffix, Bitmap(SmallContainers(count, 1))));
    Bitmap32 mixed = Bitmap(SmallContainers(count, 3));
    samples.push_back(Framed("mixed" + suffix, mixed));
  }
  Bitmap32 spare_flags = Bitmap({Runs(0, {{3, 4}})});
  spare_flags.run_flags = "\xFF";
  samples.push_back(Framed("spare-run-flags-set", spare_flags));
  std::vector<Container> all;
  for (uint32_t key = 0; key < 65536; ++key) all.push_back(Array(key, {key}));
  samples.push_back(Framed("containers-65536", Bitmap(all)));
  for (uint32_t key = 0; key < 65536; ++key) all[key] = Runs(key, {{0, 65535}});
  samples.push_back(Framed("containers-65536-full-runs", Bitmap(all)));
}

void AddValidKeys(std::vector<Sample>& samples) {
  samples.push_back(Framed("empty", Bitmap64()));
  samples.push_back(Framed("empty-bucket", Bitmap32()));
  samples.push_back(Framed("empty-bucket-key-7fffffff", OneBucket(0x7FFFFFFF, Bitmap32())));
  Bitmap64 gaps;
  for (uint32_t key = 0; key < 20; ++key) {
    gaps.buckets.push_back({key, (key % 6 == 5 ? Bitmap({Array(1, {key})}) : Bitmap32()).Bytes()});
  }
  samples.push_back(Framed("empty-buckets-between", gaps));
  samples.push_back(Framed("keys-0-1", TwoBuckets(0, 1)));
  samples.push_back(Framed("keys-0-7fffffff", TwoBuckets(0, 0x7FFFFFFF)));
  samples.push_back(
      Framed("last-signed-position", OneBucket(0x7FFFFFFF, Bitmap({Array(65535, {65535})}))));
  Bitmap64 joined;
  joined.buckets.push_back({4, Bitmap({Runs(65535, {{65000, 535}})}).Bytes()});
  joined.buckets.push_back(
      {5, Bitmap({Array(0, Values(0, 9)), Bitset(1, Values(0, 65536))}).Bytes()});
  samples.push_back(Framed("run-across-keys", joined));
  Bitmap64 full_blocks;
  full_blocks.buckets.push_back(
      {9, Bitmap({Array(65534, {7}), Runs(65535, {{0, 65535}})}).Bytes()});
  full_blocks.buckets.push_back(
      {10, Bitmap({Bitset(0, Values(0, 65536)), Runs(1, {{0, 65535}}), Array(2, {0})}).Bytes()});
  samples.push_back(Framed("run-across-full-containers", full_blocks));

  samples.push_back(Bare("bare-empty", Bitmap64().Bytes()));
  samples.push_back(
      Bare("bare-keys-80000000-ffffffff", TwoBuckets(0x80000000, 0xFFFFFFFF).Bytes()));
  samples.push_back(Bare("bare-last-position",
                         OneBucket(0xFFFFFFFF, Bitmap({Array(65535, {0, 65535})})).Bytes()));
  samples.push_back(Bare("bare-last-position-run",
                         OneBucket(0xFFFFFFFF, Bitmap({Runs(65535, {{1, 65534}})})).Bytes()));
  samples.push_back(Bare("bare-last-position-bitset",
                         OneBucket(0xFFFFFFFF, Bitmap({Bitset(65535, Values(1, 65535))})).Bytes()));
}

void AddBrokenFrames(std::vector<Sample>& samples) {
  const std::string good = FrameOf(OneBucket(0, Bitmap({Array(0, {1, 3, 5})})).Bytes());
  samples.push_back(Refused(Framed("frame-of-0-bytes", std::string()), reason::kFrameTooShort));
  for (const size_t size : {1u, 4u, 7u, 8u, 12u, 19u}) {
    samples.push_back(
        Refused(Framed("frame-of-" + std::to_string(size) + "-bytes", good.substr(0, size)),
                reason::kFrameTooShort));
  }
  samples.push_back(
      Refused(Framed("frame-cut-at-20", good.substr(0, 20)), reason::kFrameLengthMismatch));
  samples.push_back(Refused(Framed("frame-one-byte-short", good.substr(0, good.size() - 1)),
                            reason::kFrameLengthMismatch));
  samples.push_back(
      Refused(Framed("frame-one-byte-more", good + '\0'), reason::kFrameLengthMismatch));
  samples.push_back(Refused(Framed("frame-twice", good + good), reason::kFrameLengthMismatch));

  Frame frame;
  frame.vector = OneBucket(0, Bitmap({Array(0, {1, 3, 5})})).Bytes();
  const auto right_length = static_cast<uint32_t>(frame.vector.size() + 4);
  const std::pair<const char*, uint32_t> lengths[] = {{"length-0", 0},
                                                      {"length-less-one", right_length - 1},
                                                      {"length-more-one", right_length + 1},
                                                      {"length-counts-crc", right_length + 4},
                                                      {"length-counts-all", right_length + 8},
                                                      {"length-2pow31-less-one", 0x7FFFFFFF},
                                                      {"length-negative", 0xFFFFFFFF},
                                                      {"length-most-negative", 0x80000000},
                                                      {"length-little-endian", right_length << 24}};
  for (const auto& [name, length] : lengths) {
    Frame broken = frame;
    broken.length = length;
    samples.push_back(Refused(Framed(name, broken.Bytes()), reason::kFrameLengthMismatch));
  }

  const std::string data = std::string(kMagic64) + frame.vector;
  const uint32_t right_crc = BitwiseCrc32(data);
  const std::pair<const char*, uint32_t> crcs[] = {
      {"crc-first-bit", right_crc ^ 0x80000000},
      {"crc-last-bit", right_crc ^ 1},
      {"crc-inverted", ~right_crc},
      {"crc-0", 0},
      {"crc-of-vector-only", BitwiseCrc32(frame.vector)},
      {"crc-covers-length", BitwiseCrc32(Be32(right_length) + data)},
      {"crc-little-endian", __builtin_bswap32(right_crc)}};
  for (const auto& [name, crc] : crcs) {
    Frame broken = frame;
    broken.crc = crc;
    samples.push_back(
        Refused(Framed(name, broken.Bytes()), reason::kCrcMismatch, broken.Bytes().size() - 4));
  }
  for (size_t i = kVectorInFrame; i < good.size() - 4; i += 5) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    samples.push_back(Refused(Framed("bit-flipped-at-" + std::to_string(i), flipped),
                              reason::kCrcMismatch, good.size() - 4));
  }

  const std::pair<const char*, std::string> magics[] = {{"magic-zero", std::string(4, '\0')},
                                                        {"magic-byte-swapped", "\x64\x39\xD3\xD1"},
                                                        {"magic-last-byte", "\xD1\xD3\x39\x65"}};
  for (const auto& [name, magic] : magics) {
    Frame broken = frame;
    broken.magic = magic;
    samples.push_back(Refused(Framed(name, broken.Bytes()), reason::kLayoutUnknown));
  }
}

void AddBrokenKeys(std::vector<Sample>& samples) {
  Bitmap64 one = OneBucket(0, Bitmap({Array(0, {1, 3, 5})}));
  const std::pair<const char*, uint64_t> counts[] = {
      {"count-2pow63", uint64_t{1} << 63},   {"count-2pow64-less-one", ~uint64_t{0}},
      {"count-2pow32", uint64_t{1} << 32},   {"count-2pow32-more-one", (uint64_t{1} << 32) + 1},
      {"count-2pow32-less-one", 0xFFFFFFFF}, {"count-2pow31-less-one", 0x7FFFFFFF},
      {"count-over-12-bytes-each", 3}};
  for (const auto& [name, count] : counts) {
    Bitmap64 broken = one;
    broken.count = count;
    samples.push_back(Refused(Framed(name, broken), reason::kBitmapCountTooLarge, kVectorInFrame));
  }
  Bitmap64 count_one_more = one;
  count_one_more.count = 2;
  samples.push_back(Refused(Framed("count-one-more", count_one_more), reason::kTruncated,
                            kVectorInFrame + one.Bytes().size()));
  Bitmap64 count_one_less = TwoBuckets(0, 1);
  count_one_less.count = 1;
  samples.push_back(Refused(Framed("count-one-less", count_one_less), reason::kTrailingBytes,
                            kVectorInFrame + count_one_less.KeyOffset(1)));
  Bitmap64 count_zero = one;
  count_zero.count = 0;
  samples.push_back(Refused(Framed("count-0-with-bitmap", count_zero), reason::kTrailingBytes, 16));
  Bitmap64 half_key = one;
  half_key.count = 2;
  half_key.trailing = std::string("\x01\x00", 2);
  samples.push_back(Refused(Framed("half-a-key", half_key), reason::kTruncated,
                            kVectorInFrame + one.Bytes().size()));
  Bitmap64 trailing = one;
  trailing.trailing = std::string(1, '\0');
  samples.push_back(Refused(Framed("trailing-byte", trailing), reason::kTrailingBytes,
                            kVectorInFrame + one.Bytes().size()));
  Bitmap64 empty_trailing;
  empty_trailing.trailing = "trailing";
  samples.push_back(
      Refused(Framed("empty-with-trailing-bytes", empty_trailing), reason::kTrailingBytes, 16));

  const std::pair<uint32_t, uint32_t> keys[] = {{0, 0}, {1, 0}, {0x7FFFFFFF, 0x7FFFFFFE}, {256, 1}};
  for (const auto& [first, second] : keys) {
    const Bitmap64 bitmap = TwoBuckets(first, second);
    samples.push_back(
        Refused(Framed("keys-" + std::to_string(first) + "-" + std::to_string(second), bitmap),
                reason::kKeysNotAscending, kVectorInFrame + bitmap.KeyOffset(1)));
  }
  Bitmap64 empty_twice;
  empty_twice.buckets = {{3, Bitmap32().Bytes()}, {3, Bitmap32().Bytes()}};
  samples.push_back(Refused(Framed("empty-bucket-twice", empty_twice), reason::kKeysNotAscending,
                            kVectorInFrame + empty_twice.KeyOffset(1)));
  samples.push_back(Refused(Bare("bare-keys-ffffffff-0", TwoBuckets(0xFFFFFFFF, 0).Bytes()),
                            reason::kKeysNotAscending, TwoBuckets(0, 1).KeyOffset(1)));
  samples.push_back(
      Refused(Bare("bare-keys-ffffffff-twice", TwoBuckets(0xFFFFFFFF, 0xFFFFFFFF).Bytes()),
              reason::kKeysNotAscending, TwoBuckets(0, 1).KeyOffset(1)));
  samples.push_back(Refused(Framed("key-80000000", OneBucket(0x80000000, Bitmap({Array(0, {0})}))),
                            reason::kKeyOutOfRange, 16));
  samples.push_back(Refused(Framed("key-ffffffff", OneBucket(0xFFFFFFFF, Bitmap({Array(0, {0})}))),
                            reason::kKeyOutOfRange, 16));
  samples.push_back(Refused(Framed("empty-bucket-key-80000000", OneBucket(0x80000000, Bitmap32())),
                            reason::kKeyOutOfRange, 16));
  samples.push_back(Refused(Framed("second-key-80000000", TwoBuckets(0, 0x80000000)),
                            reason::kKeyOutOfRange,
                            kVectorInFrame + TwoBuckets(0, 0x80000000).KeyOffset(1)));
  for (const size_t size : {0u, 1u, 4u, 7u}) {
    samples.push_back(
        Refused(Bare("bare-of-" + std::to_string(size) + "-bytes", std::string(size, '\0')),
                reason::kTruncated, 0));
  }
}

// Adds `bitmap` cut to each size that ends inside one of its elements, as the last of enough
// buckets that the count of buckets is plausible.
void AddCutBitmaps(std::vector<Sample>& samples, const std::string& name, const Bitmap32& bitmap) {
  const std::string whole = bitmap.Bytes();
  for (size_t size = 0; size < whole.size(); size += size < 64 ? 1 : 97) {
    Bitmap64 vector;
    vector.buckets = {{0, Bitmap({Array(0, {1, 2, 3, 4, 5, 6})}).Bytes()},
                      {1, whole.substr(0, size)}};
    samples.push_back(
        Refused(Framed("cut-" + name + "-at-" + std::to_string(size), vector), reason::kTruncated));
  }
}

void AddBrokenHeaders(std::vector<Sample>& samples) {
  const std::pair<const char*, uint32_t> cookies[] = {{"cookie-0", 0},
                                                      {"cookie-12345", 12345},
                                                      {"cookie-12348", 12348},
                                                      {"cookie-0001303a", 0x0001303A},
                                                      {"cookie-big-endian", 0x3A300000}};
  for (const auto& [name, cookie] : cookies) {
    Bitmap32 broken = Bitmap({Array(0, {1, 3, 5})});
    broken.cookie = cookie;
    samples.push_back(Refused(Framed(name, broken), reason::kCookieInvalid, kBitmapInFrame));
  }
  const std::pair<const char*, uint32_t> counts[] = {{"containers-65537", 65537},
                                                     {"containers-2pow31", 0x80000000},
                                                     {"containers-2pow32-less-one", 0xFFFFFFFF}};
  for (const auto& [name, count] : counts) {
    Bitmap32 broken = Bitmap({Array(0, {1, 3, 5})});
    broken.count = count;
    samples.push_back(
        Refused(Framed(name, broken), reason::kContainerCountTooLarge, kBitmapInFrame + 4));
  }
  Bitmap32 no_containers = Bitmap({Array(0, {1, 3, 5})});
  no_containers.count = 0;
  samples.push_back(Refused(Framed("containers-0-with-content", no_containers),
                            reason::kTrailingBytes, kBitmapInFrame + 8));
  Bitmap32 many = Bitmap({Array(0, {1, 3, 5})});
  many.count = 65536;
  samples.push_back(Refused(Framed("containers-65536-not-there", many), reason::kTruncated));

  AddCutBitmaps(samples, "arrays", Bitmap({Array(0, {1, 2, 3}), Array(9, {4})}));
  AddCutBitmaps(samples, "bitset", Bitmap({Bitset(0, Values(0, 5000))}));
  AddCutBitmaps(samples, "runs", Bitmap({Runs(0, {{1, 2}, {7, 2}}), Runs(1, {{0, 65535}})}));
  AddCutBitmaps(samples, "mixed-9", Bitmap(SmallContainers(9, 2)));

  const std::pair<uint32_t, uint32_t> keys[] = {{5, 5}, {5, 2}, {65535, 0}, {256, 1}};
  for (const auto& [first, second] : keys) {
    const std::string suffix = std::to_string(first) + "-" + std::to_string(second);
    samples.push_back(
        Refused(Framed("container-keys-" + suffix, Bitmap({Array(first, {1}), Array(second, {2})})),
                reason::kContainerKeysNotAscending, kBitmapInFrame + 12));
    samples.push_back(
        Refused(Framed("run-container-keys-" + suffix,
                       Bitmap({Array(0, {1}), Array(first, {1}), Runs(second, {{2, 2}})})),
                reason::kContainerKeysNotAscending, kBitmapInFrame + 13));
  }
}

void AddBrokenOffsets(std::vector<Sample>& samples) {
  const Bitmap32 two = Bitmap({Array(0, {7}), Array(1, {9})});
  const auto at = static_cast<uint32_t>(two.PayloadOffset(0));
  const uint32_t wrong[] = {0, 1, at - 1, at + 1, at + 2, at + 20, 0x7FFFFFFF, 0xFFFFFFFF};
  for (const uint32_t offset : wrong) {
    Bitmap32 broken = two;
    broken.offsets[0] = offset;
    samples.push_back(Refused(Framed("first-offset-" + std::to_string(offset), broken),
                              reason::kOffsetsInconsistent,
                              kBitmapInFrame + two.OffsetHeaderOffset()));
  }
  Bitmap32 swapped = two;
  swapped.offsets = {{0, at + 2}, {1, at}};
  samples.push_back(Refused(Framed("offsets-swapped", swapped), reason::kOffsetsInconsistent,
                            kBitmapInFrame + two.OffsetHeaderOffset()));
  Bitmap32 second = two;
  second.offsets[1] = at;
  samples.push_back(Refused(Framed("second-offset-of-first", second), reason::kOffsetsInconsistent,
                            kBitmapInFrame + two.OffsetHeaderOffset() + 4));
  Bitmap32 from_frame = two;
  from_frame.offsets = {{0, at + kBitmapInFrame}, {1, at + 2 + kBitmapInFrame}};
  samples.push_back(Refused(Framed("offsets-from-frame", from_frame), reason::kOffsetsInconsistent,
                            kBitmapInFrame + two.OffsetHeaderOffset()));
  Bitmap32 runs = Bitmap(SmallContainers(5, 2));
  runs.offsets[4] = 3;
  samples.push_back(Refused(Framed("last-offset-with-runs", runs), reason::kOffsetsInconsistent,
                            kBitmapInFrame + runs.OffsetHeaderOffset() + 16));
  // A header where none belongs is read as content, and content as a header where one belongs.
  Bitmap32 none = Bitmap({Array(0, {7})});
  none.has_offset_header = false;
  none.trailing = "xxxx";
  samples.push_back(Refused(Framed("offset-header-missing", none), reason::kOffsetsInconsistent,
                            kBitmapInFrame + none.OffsetHeaderOffset()));
  Bitmap32 surplus = Bitmap({Runs(0, {{5, 5}})});
  surplus.has_offset_header = true;
  samples.push_back(Refused(Framed("offset-header-surplus", surplus), reason::kTruncated));
}

void AddBrokenArrays(std::vector<Sample>& samples) {
  const auto content = kBitmapInFrame + Bitmap({Array(0, {1})}).PayloadOffset(0);
  samples.push_back(Refused(Framed("array-5-3", Bitmap({Array(0, {5, 3})})),
                            reason::kArrayNotAscending, content + 2));
  samples.push_back(Refused(Framed("array-twice-the-same", Bitmap({Array(0, {1, 2, 2, 3})})),
                            reason::kArrayNotAscending, content + 4));
  samples.push_back(Refused(Framed("array-of-zeros", Bitmap({Array(0, {0, 0})})),
                            reason::kArrayNotAscending, content + 2));
  samples.push_back(Refused(Framed("array-wraps", Bitmap({Array(0, {65535, 0})})),
                            reason::kArrayNotAscending, content + 2));
  samples.push_back(Refused(Framed("array-256-1", Bitmap({Array(0, {256, 1})})),
                            reason::kArrayNotAscending, content + 2));
  for (const size_t i : {1u, 2u, 7u, 8u, 15u, 16u, 31u, 32u, 4094u, 4095u}) {
    std::vector<uint32_t> values = Values(100, 4096, 15);
    values[i] = values[i - 1];
    samples.push_back(
        Refused(Framed("array-of-4096-repeats-at-" + std::to_string(i), Bitmap({Array(0, values)})),
                reason::kArrayNotAscending, content + 2 * i));
  }
  samples.push_back(
      Refused(Framed("second-array-unsorted", Bitmap({Array(0, {1, 2}), Array(1, {4, 3})})),
              reason::kArrayNotAscending,
              kBitmapInFrame + Bitmap({Array(0, {1, 2}), Array(1, {4, 3})}).PayloadOffset(1) + 2));
}

void AddBrokenBitsets(std::vector<Sample>& samples) {
  const auto content = kBitmapInFrame + Bitmap({Array(0, {1})}).PayloadOffset(0);
  const std::pair<const char*, std::pair<uint32_t, uint32_t>> cardinalities[] = {
      {"bitset-one-less", {5000, 4999}},
      {"bitset-one-more", {5000, 5001}},
      {"bitset-4097-holds-0", {0, 4097}},
      {"bitset-4097-holds-4096", {4096, 4097}},
      {"bitset-65536-holds-65535", {65535, 65536}},
      {"bitset-65535-holds-65536", {65536, 65535}}};
  for (const auto& [name, numbers] : cardinalities) {
    Container container = Bitset(0, Values(0, numbers.first));
    container.cardinality_minus_one = numbers.second - 1;
    samples.push_back(
        Refused(Framed(name, Bitmap({container})), reason::kBitsetCardinalityMismatch, content));
  }
}

void AddBrokenRuns(std::vector<Sample>& samples) {
  const auto content = kBitmapInFrame + Bitmap({Runs(0, {{1, 1}})}).PayloadOffset(0);
  struct BrokenRuns {
    const char* name;
    std::vector<StoredRun> runs;
    absl::string_view reason;
    size_t offset;
  };
  const BrokenRuns broken[] = {
      {"run-none", {}, reason::kRunContainerEmpty, 0},
      {"run-past-65535", {{65535, 1}}, reason::kRunOutOfRange, 2},
      {"run-far-past-65535", {{65535, 65535}}, reason::kRunOutOfRange, 2},
      {"run-from-1-of-65536", {{1, 65535}}, reason::kRunOutOfRange, 2},
      {"second-run-past-65535", {{0, 3}, {65530, 6}}, reason::kRunOutOfRange, 6},
      {"runs-overlap-by-one", {{0, 10}, {10, 5}}, reason::kRunsOverlap, 6},
      {"runs-overlap", {{0, 10}, {5, 10}}, reason::kRunsOverlap, 6},
      {"runs-same-start", {{4, 0}, {4, 0}}, reason::kRunsOverlap, 6},
      {"runs-inside", {{0, 100}, {5, 10}}, reason::kRunsOverlap, 6},
      {"runs-descending", {{50, 3}, {5, 10}}, reason::kRunsOverlap, 6},
      {"runs-full-then-more", {{0, 65535}, {0, 0}}, reason::kRunsOverlap, 6},
      {"runs-adjacent", {{0, 4}, {5, 4}}, reason::kRunsAdjacent, 6},
      {"runs-adjacent-at-end", {{0, 65534}, {65535, 0}}, reason::kRunsAdjacent, 6},
      {"third-run-adjacent", {{0, 4}, {10, 4}, {15, 0}}, reason::kRunsAdjacent, 10},
  };
  for (const BrokenRuns& sample : broken) {
    // The header counts modulo 2^16, as it must: the sum of some of these is more than a container
    // holds.
    Container container = Runs(0, sample.runs);
    container.cardinality_minus_one &= 0xFFFF;
    samples.push_back(
        Refused(Framed(sample.name, Bitmap({container})), sample.reason, content + sample.offset));
  }
  const std::pair<const char*, uint32_t> cardinalities[] = {
      {"run-100-says-5", 5}, {"run-100-says-99", 99},     {"run-100-says-101", 101},
      {"run-100-says-1", 1}, {"run-100-says-5000", 5000}, {"run-100-says-65536", 65536}};
  for (const auto& [name, cardinality] : cardinalities) {
    Container container = Runs(0, {{0, 49}, {60, 49}});
    container.cardinality_minus_one = cardinality - 1;
    samples.push_back(
        Refused(Framed(name, Bitmap({container})), reason::kRunCardinalityMismatch, content));
  }
  Container more_runs = Runs(0, {{0, 4}, {10, 4}});
  more_runs.payload.replace(0, 2, Le16(3));
  samples.push_back(
      Refused(Framed("run-count-one-more", Bitmap({more_runs})), reason::kTruncated, content));
  Container most_runs = Runs(0, {{0, 4}, {10, 4}});
  most_runs.payload.replace(0, 2, Le16(65535));
  samples.push_back(
      Refused(Framed("run-count-65535", Bitmap({most_runs})), reason::kTruncated, content));
  Container fewer_runs = Runs(0, {{0, 4}, {10, 4}});
  fewer_runs.payload.replace(0, 2, Le16(1));
  samples.push_back(Refused(Framed("run-count-one-less", Bitmap({fewer_runs})),
                            reason::kTrailingBytes, content + 6));
}

}  // namespace

std::vector<Sample> ValidShapes() {
  std::vector<Sample> samples;
  AddValidContainers(samples);
  AddValidHeaders(samples);
  AddValidKeys(samples);
  return samples;
}

std::vector<Sample> BrokenShapes() {
  std::vector<Sample> samples;
  AddBrokenFrames(samples);
  AddBrokenKeys(samples);
  AddBrokenHeaders(samples);
  AddBrokenOffsets(samples);
  AddBrokenArrays(samples);
  AddBrokenBitsets(samples);
  AddBrokenRuns(samples);
  return samples;
}

}  // namespace dv::testing
