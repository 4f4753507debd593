#include "tests/rpc/requests.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "tests/testing/assembler.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/chains.h"

namespace dv::rpc {

using dv::testing::Bitmap32;
using dv::testing::Bitmap64;
using dv::testing::Container;

std::string SmallBlob() { return dv::testing::BugVectorBytes("A2"); }

BigBlob MakeBigBlob(size_t bytes) {
  constexpr size_t kBitsetBytes = 8192;
  constexpr uint32_t kPerContainer = 32768;
  const Container bitset = dv::testing::Bitset(0, dv::testing::Values(0, kPerContainer, 2));
  BigBlob blob;
  Bitmap32 bitmap;
  while (bitmap.containers.size() * kBitsetBytes < bytes) {
    Container next = bitset;
    next.key = static_cast<uint32_t>(bitmap.containers.size());
    bitmap.containers.push_back(next);
    blob.cardinality += kPerContainer;
  }
  blob.bytes = dv::testing::FrameOf(dv::testing::OneBucket(0, bitmap).Bytes());
  return blob;
}

roaring::View ViewOf(const std::string& roaring64) {
  absl::StatusOr<roaring::View> view =
      roaring::View::Open(bytes::Chain::Own(roaring64), 0, roaring64.size());
  EXPECT_TRUE(view.ok()) << view.status();
  return view.ok() ? *std::move(view) : roaring::View();
}

ReceivedMessage InPieces(std::string_view bytes, uint64_t max_piece, dv::testing::Random& random) {
  ReceivedMessage message;
  const dv::testing::Cuts cuts = dv::testing::RandomCuts(bytes.size(), max_piece, random);
  for (const std::string_view piece : dv::testing::Pieces(bytes, cuts)) {
    const std::shared_ptr<uint8_t[]> memory(new uint8_t[piece.size()]);
    std::memcpy(memory.get(), piece.data(), piece.size());
    message.Append(bytes::Span(memory.get(), piece.size()), memory);
  }
  return message;
}

ReceivedMessage InOnePiece(std::string_view bytes) {
  ReceivedMessage message;
  const auto memory = std::make_shared<std::string>(bytes);
  message.Append(bytes::Span(reinterpret_cast<const uint8_t*>(memory->data()), memory->size()),
                 memory);
  return message;
}

}  // namespace dv::rpc
