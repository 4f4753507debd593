#include "tests/testing/generators.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "tests/testing/assembler.h"

namespace dv::testing {
namespace {

constexpr uint32_t kRows = 65536;
constexpr uint32_t kMaxArray = 4096;

using Content = std::vector<Interval>;

// Returns the intervals of the values that are set.
Content ToContent(const std::vector<bool>& rows) {
  Intervals content;
  for (uint32_t value = 0; value < kRows; ++value) {
    if (rows[value]) content.Append(value, value);
  }
  return content.list();
}

Content SparseContent(Random& random, uint32_t count, uint32_t width) {
  std::vector<bool> rows(kRows);
  const auto first = static_cast<uint32_t>(random.Below(kRows - width + 1));
  for (uint32_t i = 0; i < count; ++i) rows[first + random.Below(width)] = true;
  return ToContent(rows);
}

// Returns intervals between random ends; none touches another.
Content RunContent(Random& random, uint32_t runs) {
  std::set<uint32_t> ends;
  while (ends.size() < 2 * runs) ends.insert(static_cast<uint32_t>(random.Below(kRows + 1)));
  Content content;
  for (auto it = ends.begin(); it != ends.end(); ++it) {
    const uint32_t first = *it;
    ++it;
    content.push_back({first, *it - 1});
  }
  return content;
}

Content DenseContent(Random& random, uint64_t holes) {
  std::vector<bool> rows(kRows, true);
  for (uint64_t i = 0; i < holes; ++i) rows[random.Below(kRows)] = false;
  return ToContent(rows);
}

Content RandomContent(Random& random) {
  switch (random.Below(12)) {
    case 0: {
      const uint64_t value = random.OneIn(2) ? 0 : kRows - 1;
      return {{value, value}};
    }
    case 1:
      return SparseContent(random, static_cast<uint32_t>(random.Between(1, 20)), kRows);
    case 2:
      return SparseContent(random, static_cast<uint32_t>(random.Between(1, 4000)), kRows);
    case 3:
      return SparseContent(random, static_cast<uint32_t>(random.Between(1, 5000)), 6000);
    case 4:
      return SparseContent(random, static_cast<uint32_t>(random.Between(3500, 60000)), kRows);
    case 5:
      return DenseContent(random, random.Between(1, 3));
    case 6:
      return DenseContent(random, random.Between(1, 30000));
    case 7:
      return RunContent(random, static_cast<uint32_t>(random.Between(1, 6)));
    case 8:
      return RunContent(random, static_cast<uint32_t>(random.Between(1, 3000)));
    case 9:
      return {{0, kRows - 1}};
    case 10:
      return {{0, random.Below(kRows)}};
    default:
      return {{random.Below(kRows), kRows - 1}};
  }
}

Container Encode(uint32_t key, const Content& content, Random& random) {
  uint64_t cardinality = 0;
  for (const Interval& interval : content) cardinality += interval.length();
  if (random.OneIn(3) || (random.OneIn(2) && content.size() < cardinality / 4)) {
    std::vector<StoredRun> runs;
    for (const Interval& interval : content) {
      runs.push_back(
          {static_cast<uint32_t>(interval.first), static_cast<uint32_t>(interval.length() - 1)});
    }
    return Runs(key, runs);
  }
  std::vector<uint32_t> values;
  for (const Interval& interval : content) {
    for (uint64_t i = 0; i < interval.length(); ++i) {
      values.push_back(static_cast<uint32_t>(interval.first + i));
    }
  }
  return cardinality <= kMaxArray ? Array(key, values) : Bitset(key, values);
}

// Returns ascending keys up to `max_key`: some of them next to each other, some at the ends.
std::vector<uint32_t> RandomKeys(Random& random, uint64_t count, uint32_t max_key) {
  std::set<uint32_t> keys;
  while (keys.size() < count) {
    if (keys.size() > 0 && !random.OneIn(3) && *keys.rbegin() < max_key) {
      keys.insert(*keys.rbegin() + 1);
    } else if (random.OneIn(4)) {
      keys.insert(random.OneIn(2) ? 0 : max_key);
    } else {
      keys.insert(
          static_cast<uint32_t>(random.Between(0, random.OneIn(2) ? max_key : max_key / 4096)));
    }
  }
  return {keys.begin(), keys.end()};
}

}  // namespace

RandomBitmap RandomRoaring64(Random& random, uint32_t max_key) {
  RandomBitmap result;
  Bitmap64 bitmap;
  const bool many_containers = random.OneIn(20);
  for (const uint32_t key : RandomKeys(random, random.Below(5), max_key)) {
    Bitmap32 bucket;
    const uint64_t containers = many_containers ? random.Between(50, 400) : random.Below(7);
    for (const uint32_t container_key : RandomKeys(random, containers, kRows - 1)) {
      const Content content =
          many_containers ? SparseContent(random, 3, kRows) : RandomContent(random);
      bucket.containers.push_back(Encode(container_key, content, random));
      const uint64_t base = uint64_t{key} << 32 | uint64_t{container_key} << 16;
      for (const Interval& interval : content) {
        result.positions.Append(base + interval.first, base + interval.last);
      }
    }
    bucket.run_cookie = !bucket.containers.empty() && random.OneIn(4);
    bitmap.buckets.push_back({key, bucket.Bytes()});
  }
  result.bytes = bitmap.Bytes();
  return result;
}

uint64_t RandomPosition(const Intervals& positions, Random& random) {
  if (positions.list().empty() || random.OneIn(16)) {
    switch (random.Below(4)) {
      case 0:
        return 0;
      case 1:
        return ~uint64_t{0};
      case 2:
        return random.Bits();
      default:
        return random.Bits() >> random.Below(64);
    }
  }
  const Interval& interval = positions.list()[random.Below(positions.list().size())];
  const uint64_t end = random.OneIn(2) ? interval.first : interval.last;
  switch (random.Below(6)) {
    case 0:
      return end;
    case 1:
      return end - 1;
    case 2:
      return end + 1;
    case 3:
      return (end & ~uint64_t{0xFFFF}) + (random.OneIn(2) ? 0 : 0xFFFF);
    case 4:
      return end + random.Below(200000) - 100000;
    default:
      return random.Between(interval.first, interval.last);
  }
}

}  // namespace dv::testing
