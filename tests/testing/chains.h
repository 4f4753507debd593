// Bytes in pieces: how chains are cut in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "server/bytes/chain.h"
#include "tests/testing/random.h"

namespace dv::testing {

// Where bytes are cut: ascending offsets, each the first byte of a new piece. Repeated offsets, 0
// and the size make empty pieces, which are legal.
using Cuts = std::vector<uint64_t>;

// Returns cuts that make pieces of one byte.
Cuts CutsEverywhere(uint64_t size);

// Returns cuts that make pieces of 1 to `max_piece` bytes. REQUIRES: max_piece > 0.
Cuts RandomCuts(uint64_t size, uint64_t max_piece, Random& random);

// Returns the pieces of `bytes` between `cuts`.
std::vector<std::string_view> Pieces(std::string_view bytes, const Cuts& cuts);

// MakeChain()
//
// Returns a chain of copies of the pieces of `bytes`. Each piece is the end of a heap allocation of
// its own, so that a sanitizer sees a read past it, and lies `misalignment` bytes past an aligned
// address, or at another one each if `misalignment` is kVaried. The chain owns the pieces.
inline constexpr size_t kVaried = 64;
bytes::Chain MakeChain(std::string_view bytes, const Cuts& cuts = {},
                       size_t misalignment = kVaried);

}  // namespace dv::testing
