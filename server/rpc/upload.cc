#include "server/rpc/upload.h"

#include <algorithm>
#include <utility>

#include "server/rpc/limits.h"

namespace dv::rpc {
namespace {

// Memory for small chunks is taken in blocks of this size, or less near the end.
constexpr uint64_t kBlockBytes = uint64_t{64} << 10;

}  // namespace

bytes::Chain CopyOf(const bytes::Chain& chain) { return bytes::Chain::Own(chain.ToString()); }

void Upload::Add(const bytes::Chain& chunk) {
  if (chunk.size() >= kCopyBelowBytes) {
    Flush();
    chain_.AppendRange(chunk, 0, chunk.size());
    received_ += chunk.size();
    return;
  }
  for (uint64_t done = 0; done < chunk.size();) {
    if (block_end_ == block_size_) {
      Flush();
      block_size_ = std::min(kBlockBytes, total_size_ - received_);
      block_.reset(new uint8_t[block_size_]);
      block_begin_ = block_end_ = 0;
    }
    const uint64_t length = std::min(chunk.size() - done, block_size_ - block_end_);
    chunk.CopyTo(done, length, block_.get() + block_end_);
    block_end_ += length;
    received_ += length;
    done += length;
  }
  bytes_copied_ += chunk.size();
}

void Upload::Flush() {
  chain_.Append(bytes::Span(block_.get() + block_begin_, block_end_ - block_begin_), block_);
  block_begin_ = block_end_;
}

bytes::Chain Upload::Take() {
  Flush();
  block_.reset();
  return std::move(chain_);
}

}  // namespace dv::rpc
