// File: view.h
//
// The zero-copy view over a Roaring bitmap in the portable format: the chain of its bytes and an
// index of its containers. Containers are read where they lie, at any alignment and cut anywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "server/bytes/chain.h"
#include "server/bytes/crc32.h"
#include "server/roaring/index.h"
#include "server/roaring/range.h"

namespace dv::roaring {

// View
//
// A checked bitmap of 64-bit positions. It shares the owners of the chain that it was made from and
// is valid while it exists. Immutable, and safe to read from several threads.
class View {
 public:
  // A place in the index from which a search starts. For many questions in a row: those in
  // ascending order then cost no search, and others are right too.
  class Hint {
   private:
    friend class View;
    size_t container_ = 0;
  };

  // An empty bitmap.
  View() = default;

  // Open()
  //
  // Returns a view of the 64-bit bitmap that fills the bytes [begin, end) of `chain`. Everything is
  // checked: the headers (BuildIndex64) and the content of every container (Validate). DATA_LOSS
  // with a reason and the offset in the chain if a rule is broken. No container is copied.
  // REQUIRES: begin <= end <= chain.size().
  static absl::StatusOr<View> Open(bytes::Chain chain, uint64_t begin, uint64_t end,
                                   const IndexOptions& options = {});

  // What a frame around the bitmap says of its bytes: the CRC-32 of the bytes [begin, end) of the
  // chain.
  struct Checksum {
    uint64_t begin;
    uint64_t end;
    uint32_t expected;
    // Makes the error for a CRC that is another one.
    absl::Status (*mismatch)(const Checksum& checksum, uint32_t computed);
  };

  // The same for a bitmap with a checksum, in the same pass over the bytes. A wrong checksum is the
  // error, whatever else is wrong: the bytes are then damaged, and what they seem to say is of no
  // interest.
  static absl::StatusOr<View> Open(bytes::Chain chain, uint64_t begin, uint64_t end,
                                   const IndexOptions& options, const Checksum& checksum);

  // Number of positions.
  uint64_t cardinality() const { return index_.total(); }

  // Smallest and largest position, or nothing when there is none.
  std::optional<uint64_t> First() const;
  std::optional<uint64_t> Last() const;

  // Whether `position` is in the bitmap.
  bool Contains(uint64_t position) const {
    Hint hint;
    return Contains(position, hint);
  }

  // Number of positions below `position`.
  uint64_t Rank(uint64_t position) const {
    Hint hint;
    return Rank(position, hint);
  }

  // Number of positions in `range`. Nothing is expanded: at most the two containers at its ends are
  // read.
  uint64_t Count(const Range& range) const {
    Hint hint;
    return Count(range, hint);
  }

  // Contains(), Rank() and Count() for one of many questions.
  bool Contains(uint64_t position, Hint& hint) const;
  uint64_t Rank(uint64_t position, Hint& hint) const;
  uint64_t Count(const Range& range, Hint& hint) const;

  const bytes::Chain& chain() const { return chain_; }
  const Index& index() const { return index_; }

 private:
  absl::Status Check(uint64_t begin, uint64_t end, const IndexOptions& options,
                     bytes::RunningCrc32* crc);

  bytes::Chain chain_;
  Index index_;
};

}  // namespace dv::roaring
