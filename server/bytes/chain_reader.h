// Reading numbers and blocks of a chain where they lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "server/bytes/chain.h"
#include "server/bytes/endian.h"

namespace dv::bytes {

// ChainReader
//
// Loads little-endian numbers at any offset of a chain. It remembers the piece that it read last,
// so reading in ascending order costs no search. A number that a boundary cuts is put together in a
// register. Keep one reader for each place that reads. The chain must outlive the reader.
class ChainReader {
 public:
  explicit ChainReader(const Chain& chain) : chain_(&chain) {}

  // Returns the number of type T at `offset`.
  // REQUIRES: offset + sizeof(T) <= chain.size().
  template <typename T>
  T Load(uint64_t offset) {
    if (offset < begin_ || offset >= end_) Seek(offset);
    if (end_ - offset >= sizeof(T)) return LoadLittle<T>(data_ + (offset - begin_));
    uint8_t bytes[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = Byte(offset + i);
    return LoadLittle<T>(bytes);
  }

  // Returns a pointer to the byte at `offset` if the `length` bytes from there on lie in one piece,
  // else null. REQUIRES: length > 0, offset + length <= chain.size().
  const uint8_t* Contiguous(uint64_t offset, uint64_t length) {
    if (offset < begin_ || offset >= end_) Seek(offset);
    return end_ - offset >= length ? data_ + (offset - begin_) : nullptr;
  }

  // Returns the bytes from `offset` to the end of the piece that holds it.
  // REQUIRES: offset < chain.size().
  Span Rest(uint64_t offset) {
    if (offset < begin_ || offset >= end_) Seek(offset);
    return Span(data_ + (offset - begin_), static_cast<size_t>(end_ - offset));
  }

  // Calls `fn(const uint8_t* block, size_t bytes)` for the bytes [offset, offset + length) in
  // order, in as few blocks as there are pieces. `fn` returns whether to go on; so does this.
  template <typename Fn>
  bool ForEachBlock(uint64_t offset, uint64_t length, Fn&& fn) {
    while (length > 0) {
      if (offset < begin_ || offset >= end_) Seek(offset);
      const uint64_t n = std::min(length, end_ - offset);
      if (!fn(data_ + (offset - begin_), static_cast<size_t>(n))) return false;
      offset += n;
      length -= n;
    }
    return true;
  }

  // Calls `fn(const uint8_t* records, size_t count)` for `count` records of kSize bytes from
  // `offset` on, in order. Whole records of a piece come as one block; a record that a boundary
  // cuts comes alone, put together in a small buffer. `fn` returns whether to go on; so does this.
  template <size_t kSize, typename Fn>
  bool ForEachRecord(uint64_t offset, uint64_t count, Fn&& fn) {
    while (count > 0) {
      if (offset < begin_ || offset >= end_) Seek(offset);
      const uint64_t whole = std::min(count, (end_ - offset) / kSize);
      if (whole > 0) {
        if (!fn(data_ + (offset - begin_), static_cast<size_t>(whole))) return false;
        offset += whole * kSize;
        count -= whole;
      } else {
        uint8_t record[kSize];
        for (size_t i = 0; i < kSize; ++i) record[i] = Byte(offset + i);
        if (!fn(record, size_t{1})) return false;
        offset += kSize;
        --count;
      }
    }
    return true;
  }

 private:
  uint8_t Byte(uint64_t offset) {
    if (offset < begin_ || offset >= end_) Seek(offset);
    return data_[offset - begin_];  // NOLINT(clang-analyzer-core.NullDereference): Seek() set it.
  }

  void Seek(uint64_t offset) {
    piece_ = chain_->FindPiece(offset, piece_);
    const Chain::Piece& piece = chain_->pieces()[piece_];
    data_ = piece.data;
    begin_ = piece.begin;
    end_ = piece.end;
  }

  const Chain* chain_;
  // The piece that was read last, or nothing at first.
  size_t piece_ = 0;
  const uint8_t* data_ = nullptr;
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
};

}  // namespace dv::bytes
