// File: payloads.h
//
// The deletion vectors that are measured. They are made with CRoaring, the same bytes on every run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/bytes/chain.h"

namespace dv::bench {

// Whether a vector is one of the four that the decoders of PyIceberg were compared on, or like one
// that an Iceberg table has.
enum class PayloadGroup { kHeadline, kRealistic };

// A deletion vector: how it is called, and its bytes as bare 64-bit Roaring.
struct Payload {
  std::string name;
  PayloadGroup group;
  std::string bytes;
};

// Names of all payloads, in the order of the tables.
std::vector<std::string> PayloadNames();

// MakePayload()
//
// Makes the payload called `name`:
//
//   small_sparse, gaps_sparse_keys, medium_typical, large_dense
//                  under each of several keys the even numbers from 0 to 2v-2
//   10k_of_1m      10,000 random rows of 1 M under one key, and so on
//   0.95m_of_10m, 3.9m_of_10m, 1m_of_1000m
//   all_of_4294m   all rows of 4,294 M, as runs
//   10m_of_20m     for reading 10 M positions out of bitsets
//   64k_of_250k, 250k_of_250k, 0.1m_of_100m
//                  for counting instructions: bitsets, runs, small arrays
//
// Ends the process if there is no such payload, or if the size of a headline one is not the
// published size.
Payload MakePayload(std::string_view name);

// Returns `bytes`, bare Roaring, in the frame of an Iceberg blob: length, magic, bytes, CRC-32.
std::string IcebergFrame(std::string_view bytes);

// PiecedBytes
//
// A copy of some bytes in pieces as a transport with 16 KiB frames hands them over: each piece in
// memory of its own, at an odd address, and cut at odd offsets, so that numbers lie across cuts.
class PiecedBytes {
 public:
  static constexpr size_t kPieceBytes = 16384;

  explicit PiecedBytes(std::string_view payload);
  PiecedBytes(const PiecedBytes&) = delete;
  PiecedBytes& operator=(const PiecedBytes&) = delete;

  // The pieces, borrowed: valid while this object exists.
  const bytes::Chain& chain() const { return chain_; }

 private:
  std::vector<std::string> pieces_;
  bytes::Chain chain_;
};

}  // namespace dv::bench
