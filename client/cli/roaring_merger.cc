#include "client/cli/roaring_merger.h"

#include <bitset>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dv::cli {
namespace {

constexpr uint32_t kCookie = 12346;
constexpr uint32_t kRunCookie = 12347;
// With the run cookie, fewer containers than these have no offsets.
constexpr size_t kMinOffsets = 4;
constexpr uint32_t kMaxArray = 4096;
constexpr size_t kBitsetBytes = 8192;

using Block = std::bitset<65536>;

// Reads a little-endian number of `kBytes` bytes off the front of `bytes`.
template <size_t kBytes>
std::optional<uint64_t> Take(absl::string_view& bytes) {
  if (bytes.size() < kBytes) return std::nullopt;
  uint64_t number = 0;
  for (size_t i = 0; i < kBytes; ++i) {
    number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  bytes.remove_prefix(kBytes);
  return number;
}

template <size_t kBytes>
void Put(uint64_t number, std::string& out) {
  for (size_t i = 0; i < kBytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

absl::Status Broken(absl::string_view what) {
  return absl::InternalError(
      absl::StrCat("the server sent a part that is not a portable 64-bit Roaring bitmap: ", what));
}

// Adds the values of a container to `block`.
void Expand(absl::string_view bytes, uint32_t cardinality, bool run, Block& block) {
  if (run) {
    Take<2>(bytes);
    while (!bytes.empty()) {
      const uint64_t start = *Take<2>(bytes);
      const uint64_t length = *Take<2>(bytes) + 1;
      for (uint64_t i = start; i < start + length && i < block.size(); ++i) block.set(i);
    }
  } else if (cardinality > kMaxArray) {
    for (size_t i = 0; i < block.size(); ++i) {
      if ((static_cast<uint8_t>(bytes[i / 8]) >> (i % 8) & 1) != 0) block.set(i);
    }
  } else {
    while (!bytes.empty()) block.set(static_cast<size_t>(*Take<2>(bytes)));
  }
}

// Returns the values of `block` as an array or a bitset, whichever the format wants for so many.
std::string Compact(const Block& block) {
  std::string bytes;
  if (block.count() > kMaxArray) {
    bytes.resize(kBitsetBytes);
    for (size_t i = 0; i < block.size(); ++i) {
      if (block[i]) bytes[i / 8] = static_cast<char>(bytes[i / 8] | (1 << (i % 8)));
    }
  } else {
    for (size_t i = 0; i < block.size(); ++i) {
      if (block[i]) Put<2>(i, bytes);
    }
  }
  return bytes;
}

}  // namespace

absl::Status RoaringMerger::Add(absl::string_view part) {
  const std::optional<uint64_t> count = Take<8>(part);
  if (!count) return Broken("it ends inside its count");
  for (uint64_t i = 0; i < *count; ++i) {
    const std::optional<uint64_t> key = Take<4>(part);
    if (!key) return Broken("it ends inside a key");
    absl::Status status = AddBitmap(static_cast<uint32_t>(*key), part);
    if (!status.ok()) return status;
  }
  if (!part.empty()) return Broken("bytes are left over");
  return absl::OkStatus();
}

absl::Status RoaringMerger::AddBitmap(uint32_t key, absl::string_view& bytes) {
  const std::optional<uint64_t> cookie = Take<4>(bytes);
  if (!cookie) return Broken("it ends inside a cookie");
  const bool has_runs = (*cookie & 0xFFFF) == kRunCookie;
  if (!has_runs && *cookie != kCookie) return Broken("it has an unknown cookie");
  const std::optional<uint64_t> count =
      has_runs ? std::optional<uint64_t>((*cookie >> 16) + 1) : Take<4>(bytes);
  if (!count || *count > 65536) return Broken("it has a wrong number of containers");
  const size_t containers = static_cast<size_t>(*count);

  const size_t flag_bytes = has_runs ? (containers + 7) / 8 : 0;
  const size_t offset_bytes = !has_runs || containers >= kMinOffsets ? 4 * containers : 0;
  if (bytes.size() < flag_bytes + 4 * containers + offset_bytes) {
    return Broken("it ends inside a header");
  }
  const absl::string_view flags = bytes.substr(0, flag_bytes);
  absl::string_view header = bytes.substr(flag_bytes, 4 * containers);
  bytes.remove_prefix(flag_bytes + 4 * containers + offset_bytes);

  for (size_t i = 0; i < containers; ++i) {
    Container container;
    container.key = (uint64_t{key} << 16) | *Take<2>(header);
    container.cardinality = static_cast<uint32_t>(*Take<2>(header)) + 1;
    container.run = has_runs && (static_cast<uint8_t>(flags[i / 8]) >> (i % 8) & 1) != 0;
    size_t size = container.cardinality > kMaxArray ? kBitsetBytes : 2 * container.cardinality;
    if (container.run) {
      absl::string_view rest = bytes;
      const std::optional<uint64_t> runs = Take<2>(rest);
      if (!runs) return Broken("it ends inside a run container");
      size = 2 + 4 * static_cast<size_t>(*runs);
    }
    if (bytes.size() < size) return Broken("it ends inside a container");
    container.bytes.assign(bytes.data(), size);
    bytes.remove_prefix(size);
    absl::Status status = AddContainer(std::move(container));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RoaringMerger::AddContainer(Container container) {
  if (containers_.empty() || containers_.back().key < container.key) {
    containers_.push_back(std::move(container));
    return absl::OkStatus();
  }
  Container& last = containers_.back();
  if (last.key > container.key) return Broken("its positions do not follow those before");
  Block block;
  Expand(last.bytes, last.cardinality, last.run, block);
  Expand(container.bytes, container.cardinality, container.run, block);
  last.cardinality = static_cast<uint32_t>(block.count());
  last.run = false;
  last.bytes = Compact(block);
  return absl::OkStatus();
}

std::string RoaringMerger::Finish() {
  const auto high = [this](size_t i) { return containers_[i].key >> 16; };
  uint64_t keys = 0;
  for (size_t i = 0; i < containers_.size(); ++i) {
    if (i == 0 || high(i) != high(i - 1)) ++keys;
  }
  std::string out;
  Put<8>(keys, out);
  for (size_t begin = 0, end = 0; begin < containers_.size(); begin = end) {
    bool has_runs = false;
    for (end = begin; end < containers_.size() && high(end) == high(begin); ++end) {
      has_runs = has_runs || containers_[end].run;
    }
    const size_t count = end - begin;
    Put<4>(high(begin), out);
    const size_t start = out.size();
    if (has_runs) {
      Put<4>(kRunCookie | (count - 1) << 16, out);
      std::string flags((count + 7) / 8, '\0');
      for (size_t i = 0; i < count; ++i) {
        if (containers_[begin + i].run) {
          flags[i / 8] = static_cast<char>(flags[i / 8] | (1 << (i % 8)));
        }
      }
      out.append(flags);
    } else {
      Put<4>(kCookie, out);
      Put<4>(count, out);
    }
    for (size_t i = begin; i < end; ++i) {
      Put<2>(containers_[i].key & 0xFFFF, out);
      Put<2>(containers_[i].cardinality - 1, out);
    }
    if (!has_runs || count >= kMinOffsets) {
      uint64_t offset = out.size() - start + 4 * count;
      for (size_t i = begin; i < end; ++i) {
        Put<4>(offset, out);
        offset += containers_[i].bytes.size();
      }
    }
    for (size_t i = begin; i < end; ++i) {
      out.append(containers_[i].bytes);
      std::string().swap(containers_[i].bytes);
    }
  }
  return out;
}

}  // namespace dv::cli
