// File: index.h
//
// The index of a Roaring bitmap: where each container lies, of what kind it is and how many
// positions it holds. It is made by one walk over the headers, which checks their rules, and it is
// the only thing that is allocated for a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "server/bytes/chain.h"

namespace dv::roaring {

// Positions per container, and the largest number of values that an array container may hold
// (Roaring format specification).
inline constexpr uint32_t kContainerRows = 65536;
inline constexpr uint32_t kMaxArrayCardinality = 4096;
inline constexpr uint32_t kBitsetBytes = 8192;

enum class ContainerKind : uint8_t { kArray = 0, kBitset = 1, kRun = 2 };

// ContainerEntry
//
// One container. Its cardinality is the difference between the `rank` of the next entry and its
// own, so entries are only used where a next one exists (see Index).
struct ContainerEntry {
  ContainerEntry() = default;
  // REQUIRES: offset < 2^62.
  ContainerEntry(uint64_t key_bits, uint64_t positions_before, uint64_t offset, ContainerKind kind)
      : key(key_bits), rank(positions_before), place(offset << 2 | static_cast<uint64_t>(kind)) {}

  // Byte of the chain where its content starts.
  uint64_t offset() const { return place >> 2; }
  ContainerKind kind() const { return static_cast<ContainerKind>(place & 3); }

  // Position / 65,536 of all its positions: the 32-bit key and the 16-bit container key.
  uint64_t key;
  // Number of positions in all containers before it.
  uint64_t rank;
  // Offset and kind in one word: the index is 24 bytes a container.
  uint64_t place;
};
static_assert(sizeof(ContainerEntry) == 24);

// Index
//
// The containers of one bitmap in ascending order, and totals. Empty 32-bit bitmaps leave no entry.
// An index may be used again for another bitmap and then keeps its memory. It can be moved, not
// copied; one that was moved from holds nothing.
class Index {
 public:
  Index() = default;
  Index(Index&& other) noexcept { *this = std::move(other); }
  Index& operator=(Index&& other) noexcept;

  // Number of containers.
  size_t size() const { return size_; }

  // Container `i`, for i <= size(): the one past the last is a sentinel with a key above all others
  // and the total number of positions as its rank.
  // REQUIRES: BuildIndex64() succeeded on this index.
  const ContainerEntry& operator[](size_t i) const { return entries_[i]; }

  // Number of positions in container `i`, 1 to 65,536.
  uint32_t cardinality(size_t i) const {
    return static_cast<uint32_t>(entries_[i + 1].rank - entries_[i].rank);
  }

  // Number of positions in all.
  uint64_t total() const { return total_; }

  // Returns the first container whose key is at least `key`, or size(). Looks at `hint` and the one
  // after first, so that a sweep in ascending order costs no search.
  size_t LowerBound(uint64_t key, size_t hint = 0) const;

  // Number of 32-bit keys, and of those whose bitmap is empty.
  uint64_t key_count() const { return key_count_; }
  uint64_t empty_key_count() const { return empty_key_count_; }

  // Number of containers of a kind.
  uint64_t count(ContainerKind kind) const { return counts_[static_cast<size_t>(kind)]; }

  // Memory that the index takes, in bytes.
  size_t allocated_bytes() const { return capacity_ * sizeof(ContainerEntry); }

 private:
  friend class IndexBuilder;

  // Forgets the content and keeps the memory.
  void Clear();

  // Makes room for `count` more entries and the sentinel.
  void Reserve(size_t count) {
    if (capacity_ - size_ <= count) Grow(count);
  }
  void Grow(size_t count);

  // `size_` containers and the sentinel. Not a vector: entries are written once, never cleared
  // before, which is a third of the time of the walk.
  std::unique_ptr<ContainerEntry[]> entries_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  uint64_t total_ = 0;
  uint64_t key_count_ = 0;
  uint64_t empty_key_count_ = 0;
  uint64_t counts_[3] = {0, 0, 0};
};

// What a caller may ask of the walk.
struct IndexOptions {
  // Largest 32-bit key that is legal. 0x7FFFFFFF in deletion vectors, where positions fit a signed
  // number.
  uint32_t max_key = 0xFFFFFFFF;
};

// BuildIndex64()
//
// Walks over the headers of the 64-bit portable bitmap that fills the bytes [begin, end) of `chain`
// and puts its containers into `index`, whose former content is lost. All rules of the headers are
// checked: bounds, cookies, counts, order of both kinds of keys, `max_key`, each entry of the
// offset header against the place where the container is, nothing left over. Of the contents of
// containers only the number of runs is read; Validate() checks the rest.
//
// Memory is taken only for headers that are there: at most 24 bytes, doubled while the index grows,
// for each container that was seen.
//
// On failure `index` is empty and the status is DATA_LOSS with a reason and the offset in the
// chain. REQUIRES: begin <= end <= chain.size() < 2^62.
absl::Status BuildIndex64(const bytes::Chain& chain, uint64_t begin, uint64_t end,
                          const IndexOptions& options, Index& index);

}  // namespace dv::roaring
