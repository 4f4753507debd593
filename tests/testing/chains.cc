#include "tests/testing/chains.h"

#include <algorithm>
#include <memory>

namespace dv::testing {

Cuts CutsEverywhere(uint64_t size) {
  Cuts cuts;
  for (uint64_t i = 1; i < size; ++i) cuts.push_back(i);
  return cuts;
}

Cuts RandomCuts(uint64_t size, uint64_t max_piece, Random& random) {
  Cuts cuts;
  for (uint64_t at = random.Between(1, max_piece); at < size; at += random.Between(1, max_piece)) {
    cuts.push_back(at);
  }
  return cuts;
}

std::vector<std::string_view> Pieces(std::string_view bytes, const Cuts& cuts) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  for (const uint64_t cut : cuts) {
    const auto end = static_cast<size_t>(cut);
    pieces.push_back(bytes.substr(begin, end - begin));
    begin = end;
  }
  pieces.push_back(bytes.substr(begin));
  return pieces;
}

bytes::Chain MakeChain(std::string_view bytes, const Cuts& cuts, size_t misalignment) {
  bytes::Chain chain;
  size_t number = 0;
  for (const std::string_view piece : Pieces(bytes, cuts)) {
    // 1, 3, 5, 7, 2, 4, 6, 0 and again: mostly odd addresses.
    const size_t shift =
        misalignment == kVaried ? (2 * number + 1 + number / 4 % 2) % 8 : misalignment;
    ++number;
    const std::shared_ptr<uint8_t[]> owner(new uint8_t[shift + piece.size()]);
    std::copy(piece.begin(), piece.end(), owner.get() + shift);
    chain.Append(bytes::Span(owner.get() + shift, piece.size()), owner);
  }
  return chain;
}

}  // namespace dv::testing
