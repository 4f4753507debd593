// A vector that comes in chunks.
#pragma once

#include <cstdint>
#include <memory>

#include "server/bytes/chain.h"

namespace dv::rpc {

// Returns a copy of `chain` that holds on to nothing but its own bytes.
bytes::Chain CopyOf(const bytes::Chain& chain);

// Upload
//
// Puts chunks in a row. Big ones stay where they were received; small ones are copied together, so
// that a thousand chunks of a byte cost about a thousand bytes.
class Upload {
 public:
  explicit Upload(uint64_t total_size) : total_size_(total_size) {}

  uint64_t total_size() const { return total_size_; }
  uint64_t received() const { return received_; }
  bool complete() const { return received_ == total_size_; }

  // Bytes that were copied.
  uint64_t bytes_copied() const { return bytes_copied_; }

  // Adds a chunk.
  // REQUIRES: received() + chunk.size() <= total_size().
  void Add(const bytes::Chain& chunk);

  // Returns the bytes of all chunks. Ends the upload.
  // REQUIRES: complete().
  bytes::Chain Take();

 private:
  // Adds what was copied to the chain.
  void Flush();

  const uint64_t total_size_;
  uint64_t received_ = 0;
  uint64_t bytes_copied_ = 0;
  bytes::Chain chain_;
  // Where small chunks are copied to, and the part of it that is not in the chain yet.
  std::shared_ptr<uint8_t[]> block_;
  uint64_t block_size_ = 0;
  uint64_t block_begin_ = 0;
  uint64_t block_end_ = 0;
};

}  // namespace dv::rpc
