// File: chain.h
//
// A chain is a sequence of bytes that lies in memory in pieces: how gRPC hands over a message, and
// how a vector that was sent in chunks arrives. Nothing here copies the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace dv::bytes {

using Span = absl::Span<const uint8_t>;

// Chain
//
// An append-only list of pieces and of the owners that keep them alive. Copying a chain copies the
// list, not the bytes; both copies share the owners. A chain that is not being appended to may be
// read by several threads at once.
//
// Lifetime: pointers that a chain gives out are valid while any chain that holds the same owner
// exists. A piece that was appended without an owner must outlive the chain: the caller sees to it.
class Chain {
 public:
  // One piece: the bytes [begin, end) of the chain.
  struct Piece {
    const uint8_t* data;
    uint64_t begin;
    uint64_t end;

    size_t size() const { return static_cast<size_t>(end - begin); }
  };

  Chain() = default;

  // Returns a chain of one piece that borrows `span`: no owner.
  static Chain Borrow(Span span);

  // Returns a chain of one piece that owns `text`.
  static Chain Own(std::string text);

  // Adds `span` at the end. `owner` keeps it alive and may be null (see Lifetime). Several pieces
  // in a row may have the same owner, which is then kept once. Empty spans are left out.
  void Append(Span span, std::shared_ptr<const void> owner);

  // Adds the bytes [offset, offset + length) of `other` at the end, sharing all its owners.
  // REQUIRES: the range lies within `other`.
  void AppendRange(const Chain& other, uint64_t offset, uint64_t length);

  // Number of bytes.
  uint64_t size() const { return pieces_.empty() ? 0 : pieces_.back().end; }
  bool empty() const { return pieces_.empty(); }

  // The pieces in order, none empty: piece i ends where piece i + 1 begins.
  absl::Span<const Piece> pieces() const { return pieces_; }

  // Returns the index of the piece that holds byte `offset`. `hint` is where to look first: the
  // result of an earlier call, if offsets are asked for in ascending order. REQUIRES: offset <
  // size().
  size_t FindPiece(uint64_t offset, size_t hint = 0) const;

  // Copies the bytes [offset, offset + length) to `out`.
  // REQUIRES: the range lies within the chain.
  void CopyTo(uint64_t offset, uint64_t length, uint8_t* out) const;

  // Returns the bytes as one string: a copy. For tests and small things.
  std::string ToString() const;

  // Memory that the chain itself takes, in bytes: the list, not the pieces.
  size_t bookkeeping_bytes() const {
    return pieces_.capacity() * sizeof(Piece) + owners_.capacity() * sizeof(owners_[0]);
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::shared_ptr<const void>> owners_;
};

}  // namespace dv::bytes
