#include "server/roaring/writer.h"

#include <algorithm>
#include <vector>

#include "server/bytes/chain_reader.h"
#include "server/bytes/endian.h"
#include "server/roaring/container.h"
#include "server/roaring/slice.h"

namespace dv::roaring {
namespace {

// The values from `first` to `last`.
struct ValueRun {
  uint32_t first;
  uint32_t last;
};

// A container of the bitmap to be written.
struct Planned {
  uint64_t key;
  ContainerKind kind;
  uint32_t cardinality;
  // Size in bytes of the content.
  uint64_t size;
  // Where the content lies in the chain, if it is copied as it is ...
  uint64_t offset = 0;
  // ... or its runs of values, if it is written anew.
  std::vector<ValueRun> runs;
};

// Appends numbers and contents to a string.
class Output {
 public:
  explicit Output(std::string& out) : out_(out) {}

  template <typename T>
  void Number(T value) {
    uint8_t bytes[sizeof(T)];
    bytes::StoreLittle(bytes, value);
    out_.append(reinterpret_cast<const char*>(bytes), sizeof(T));
  }

  // Appends `size` bytes, all 0, and returns where they start. Valid until the next call.
  uint8_t* Room(size_t size) {
    out_.append(size, '\0');
    return reinterpret_cast<uint8_t*>(out_.data() + out_.size() - size);
  }

 private:
  std::string& out_;
};

// Returns up to `limit` values of a slice as a container in its smallest form.
// REQUIRES: limit > 0.
Planned Rewrite(Container& container, const ContainerSlice& slice, uint64_t limit) {
  Planned planned{slice.base >> 16, ContainerKind::kArray, 0, 0, 0, {}};
  container.ForEachRun(slice.low, slice.high, [&](uint32_t first, uint32_t last) {
    const uint64_t room = limit - planned.cardinality;
    if (last - first >= room) last = first + static_cast<uint32_t>(room) - 1;
    planned.runs.push_back(ValueRun{first, last});
    planned.cardinality += last - first + 1;
    return planned.cardinality < limit;
  });
  planned.size = 2 * uint64_t{planned.cardinality};
  if (planned.cardinality > kMaxArrayCardinality) {
    planned.kind = ContainerKind::kBitset;
    planned.size = kBitsetBytes;
  }
  const uint64_t run_size = 2 + 4 * planned.runs.size();
  if (run_size < planned.size) {
    planned.kind = ContainerKind::kRun;
    planned.size = run_size;
  }
  return planned;
}

// Sets the bits of a run of values in a bitset of 8 KiB.
void SetBits(const ValueRun& run, uint8_t* bitset) {
  const uint32_t first_byte = run.first / 8;
  const uint32_t last_byte = run.last / 8;
  const auto from = static_cast<uint8_t>(0xFF << (run.first % 8));
  const auto to = static_cast<uint8_t>(0xFF >> (7 - run.last % 8));
  if (first_byte == last_byte) {
    bitset[first_byte] |= from & to;
    return;
  }
  bitset[first_byte] |= from;
  std::fill(bitset + first_byte + 1, bitset + last_byte, uint8_t{0xFF});
  bitset[last_byte] |= to;
}

void WriteContent(const bytes::Chain& chain, const Planned& planned, Output& out) {
  uint8_t* to = out.Room(static_cast<size_t>(planned.size));
  if (planned.runs.empty()) {
    chain.CopyTo(planned.offset, planned.size, to);
    return;
  }
  switch (planned.kind) {
    case ContainerKind::kArray:
      for (const ValueRun& run : planned.runs) {
        for (uint32_t value = run.first; value <= run.last; ++value, to += 2) {
          bytes::StoreLittle(to, static_cast<uint16_t>(value));
        }
      }
      return;
    case ContainerKind::kBitset:
      for (const ValueRun& run : planned.runs) SetBits(run, to);
      return;
    case ContainerKind::kRun:
      bytes::StoreLittle(to, static_cast<uint16_t>(planned.runs.size()));
      to += 2;
      for (const ValueRun& run : planned.runs) {
        bytes::StoreLittle(to, static_cast<uint16_t>(run.first));
        bytes::StoreLittle(to + 2, static_cast<uint16_t>(run.last - run.first));
        to += 4;
      }
      return;
  }
}

// Writes the 32-bit bitmap of the containers [begin, end), which share a 32-bit key.
void WriteBitmap32(const bytes::Chain& chain, const Planned* begin, const Planned* end,
                   Output& out) {
  const auto count = static_cast<uint32_t>(end - begin);
  const bool has_runs = std::any_of(
      begin, end, [](const Planned& planned) { return planned.kind == ContainerKind::kRun; });
  uint32_t content = 0;
  if (has_runs) {
    out.Number<uint32_t>(12347 | (count - 1) << 16);
    uint8_t* flags = out.Room((count + 7) / 8);
    for (uint32_t i = 0; i < count; ++i) {
      if (begin[i].kind == ContainerKind::kRun) flags[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    }
    content = 4 + (count + 7) / 8;
  } else {
    out.Number<uint32_t>(12346);
    out.Number<uint32_t>(count);
    content = 8;
  }
  for (const Planned* p = begin; p != end; ++p) {
    out.Number(static_cast<uint16_t>(p->key & 0xFFFF));
    out.Number(static_cast<uint16_t>(p->cardinality - 1));
  }
  const bool has_offsets = !has_runs || count >= 4;
  content += has_offsets ? 8 * count : 4 * count;
  if (has_offsets) {
    for (const Planned* p = begin; p != end; ++p) {
      out.Number(content);
      content += static_cast<uint32_t>(p->size);
    }
  }
  for (const Planned* p = begin; p != end; ++p) WriteContent(chain, *p, out);
}

}  // namespace

RoaringCursor::RoaringCursor(const View& view, const Range& range) : view_(&view), rest_(range) {}

RoaringCursor::Part RoaringCursor::Next(size_t max_bytes, uint64_t max_positions,
                                        std::string& out) {
  const Index& index = view_->index();
  bytes::ChainReader reader(view_->chain());
  std::vector<Planned> plan;
  Part part;
  // Count, and for each container as much as a bitmap of its own would take.
  constexpr uint64_t kContainerOverhead = 4 + 8 + 8;
  uint64_t size = 8;
  while (part.position_count < max_positions) {
    const auto slice = FirstSlice(index, rest_, hint_);
    if (!slice.has_value()) {
      rest_ = Range{1, 0};
      break;
    }
    Container container(reader, index, slice->i);
    const uint64_t room = max_positions - part.position_count;
    Planned planned;
    // A run container may be larger than the bitset it stands for.
    if (slice->whole() && container.cardinality() <= room &&
        container.ContentBytes() <= kBitsetBytes) {
      planned =
          Planned{slice->base >> 16,        container.kind(),           container.cardinality(),
                  container.ContentBytes(), container.content_offset(), {}};
    } else {
      planned = Rewrite(container, *slice, room);
    }
    if (planned.cardinality == 0) {
      DropThrough(slice->base + slice->high, rest_);
      continue;
    }
    if (!plan.empty() && size + planned.size + kContainerOverhead > max_bytes) break;
    size += planned.size + kContainerOverhead;
    part.position_count += planned.cardinality;
    part.last_position =
        slice->base + (planned.runs.empty() ? container.Last() : planned.runs.back().last);
    DropThrough(
        part.position_count < max_positions ? slice->base + slice->high : part.last_position,
        rest_);
    plan.push_back(std::move(planned));
  }
  if (plan.empty()) return part;

  uint64_t key_count = 1;
  for (size_t i = 1; i < plan.size(); ++i) key_count += plan[i].key >> 16 != plan[i - 1].key >> 16;
  out.reserve(out.size() + static_cast<size_t>(size));
  Output output(out);
  output.Number<uint64_t>(key_count);
  for (const Planned* begin = plan.data(); begin != plan.data() + plan.size();) {
    const Planned* end = begin + 1;
    while (end != plan.data() + plan.size() && end->key >> 16 == begin->key >> 16) ++end;
    output.Number(static_cast<uint32_t>(begin->key >> 16));
    WriteBitmap32(view_->chain(), begin, end, output);
    begin = end;
  }
  return part;
}

}  // namespace dv::roaring
