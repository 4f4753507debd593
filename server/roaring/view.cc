#include "server/roaring/view.h"

#include <utility>

#include "server/bytes/chain_reader.h"
#include "server/roaring/container.h"
#include "server/roaring/validate.h"

namespace dv::roaring {

absl::StatusOr<View> View::Open(bytes::Chain chain, uint64_t begin, uint64_t end,
                                const IndexOptions& options) {
  View view;
  view.chain_ = std::move(chain);
  const absl::Status status = view.Check(begin, end, options, nullptr);
  if (!status.ok()) return status;
  return view;
}

absl::StatusOr<View> View::Open(bytes::Chain chain, uint64_t begin, uint64_t end,
                                const IndexOptions& options, const Checksum& checksum) {
  View view;
  view.chain_ = std::move(chain);
  bytes::RunningCrc32 crc(view.chain_, checksum.begin, checksum.end);
  const absl::Status status = view.Check(begin, end, options, &crc);
  const uint32_t computed = crc.Finish();
  if (computed != checksum.expected) return checksum.mismatch(checksum, computed);
  if (!status.ok()) return status;
  return view;
}

absl::Status View::Check(uint64_t begin, uint64_t end, const IndexOptions& options,
                         bytes::RunningCrc32* crc) {
  const absl::Status status = BuildIndex64(chain_, begin, end, options, index_);
  return status.ok() ? Validate(chain_, index_, crc) : status;
}

std::optional<uint64_t> View::First() const {
  if (index_.size() == 0) return std::nullopt;
  bytes::ChainReader reader(chain_);
  return index_[0].key << 16 | Container(reader, index_, 0).First();
}

std::optional<uint64_t> View::Last() const {
  if (index_.size() == 0) return std::nullopt;
  const size_t i = index_.size() - 1;
  bytes::ChainReader reader(chain_);
  return index_[i].key << 16 | Container(reader, index_, i).Last();
}

bool View::Contains(uint64_t position, Hint& hint) const {
  const uint64_t key = position >> 16;
  const size_t i = index_.LowerBound(key, hint.container_);
  hint.container_ = i;
  if (i == index_.size() || index_[i].key != key) return false;
  bytes::ChainReader reader(chain_);
  return Container(reader, index_, i).Contains(position & 0xFFFF);
}

uint64_t View::Rank(uint64_t position, Hint& hint) const {
  const uint64_t key = position >> 16;
  const size_t i = index_.LowerBound(key, hint.container_);
  hint.container_ = i;
  if (i == index_.size()) return cardinality();
  if (index_[i].key != key) return index_[i].rank;
  bytes::ChainReader reader(chain_);
  return index_[i].rank + Container(reader, index_, i).Rank(position & 0xFFFF);
}

uint64_t View::Count(const Range& range, Hint& hint) const {
  if (range.empty()) return 0;
  const uint64_t below = Rank(range.first, hint);
  if (range.last == std::numeric_limits<uint64_t>::max()) return cardinality() - below;
  return Rank(range.last + 1, hint) - below;
}

}  // namespace dv::roaring
