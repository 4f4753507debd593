#include "server/bytes/chain.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace dv::bytes {

Chain Chain::Borrow(Span span) {
  Chain chain;
  chain.Append(span, nullptr);
  return chain;
}

Chain Chain::Own(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const Span span(reinterpret_cast<const uint8_t*>(owner->data()), owner->size());
  Chain chain;
  chain.Append(span, std::move(owner));
  return chain;
}

void Chain::Append(Span span, std::shared_ptr<const void> owner) {
  if (span.empty()) return;
  const uint64_t begin = size();
  pieces_.push_back(Piece{span.data(), begin, begin + span.size()});
  if (owner != nullptr && (owners_.empty() || owners_.back() != owner)) {
    owners_.push_back(std::move(owner));
  }
}

void Chain::AppendRange(const Chain& other, uint64_t offset, uint64_t length) {
  assert(offset <= other.size() && length <= other.size() - offset);
  if (length == 0) return;
  const uint64_t end = offset + length;
  // By index and by value, since `other` may be this chain, whose lists move when they grow.
  const size_t piece_count = other.pieces_.size();
  const size_t owner_count = other.owners_.size();
  for (size_t i = other.FindPiece(offset); i < piece_count; ++i) {
    const Piece piece = other.pieces_[i];
    if (piece.begin >= end) break;
    const uint64_t from = std::max(piece.begin, offset);
    const uint64_t to = std::min(piece.end, end);
    Append(Span(piece.data + (from - piece.begin), static_cast<size_t>(to - from)), nullptr);
  }
  for (size_t i = 0; i < owner_count; ++i) {
    std::shared_ptr<const void> owner = other.owners_[i];
    if (owners_.empty() || owners_.back() != owner) owners_.push_back(std::move(owner));
  }
}

size_t Chain::FindPiece(uint64_t offset, size_t hint) const {
  assert(offset < size());
  if (hint < pieces_.size() && pieces_[hint].begin <= offset) {
    if (offset < pieces_[hint].end) return hint;
    if (hint + 1 < pieces_.size() && offset < pieces_[hint + 1].end) return hint + 1;
  }
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                       [](uint64_t value, const Piece& piece) { return value < piece.end; });
  return static_cast<size_t>(after - pieces_.begin());
}

void Chain::CopyTo(uint64_t offset, uint64_t length, uint8_t* out) const {
  assert(offset <= size() && length <= size() - offset);
  if (length == 0) return;
  for (size_t i = FindPiece(offset); length > 0; ++i) {
    const Piece& piece = pieces_[i];
    const uint64_t n = std::min(length, piece.end - offset);
    std::memcpy(out, piece.data + (offset - piece.begin), static_cast<size_t>(n));
    out += n;
    offset += n;
    length -= n;
  }
}

std::string Chain::ToString() const {
  std::string text(static_cast<size_t>(size()), '\0');
  CopyTo(0, size(), reinterpret_cast<uint8_t*>(text.data()));
  return text;
}

}  // namespace dv::bytes
