#include "server/rpc/evaluate.h"

#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "server/roaring/range.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

}  // namespace

pb::VectorSummary Summarize(const format::DecodedVector& vector, uint64_t bytes_copied) {
  const roaring::View& view = vector.view;
  const roaring::Index& index = view.index();
  pb::VectorSummary summary;
  summary.set_cardinality(view.cardinality());
  if (const std::optional<uint64_t> first = view.First(); first.has_value()) {
    summary.set_first_position(*first);
  }
  if (const std::optional<uint64_t> last = view.Last(); last.has_value()) {
    summary.set_last_position(*last);
  }
  summary.set_format(ToProto(vector.format));
  summary.set_layout(ToProto(vector.layout));
  summary.set_encoded_size(vector.encoded_size);
  summary.set_key_count(index.key_count());
  summary.set_empty_key_count(index.empty_key_count());
  pb::ContainerCounts& containers = *summary.mutable_containers();
  containers.set_array(index.count(roaring::ContainerKind::kArray));
  containers.set_bitset(index.count(roaring::ContainerKind::kBitset));
  containers.set_run(index.count(roaring::ContainerKind::kRun));
  summary.set_bytes_copied(bytes_copied);
  summary.set_checksum_checked(vector.checksum_checked);
  return summary;
}

pb::CheckAnswer Check(const roaring::View& view, absl::Span<const uint64_t> positions,
                      uint64_t first_index) {
  pb::CheckAnswer answer;
  std::string& bits = *answer.mutable_deleted();
  bits.resize((positions.size() + 7) / 8, '\0');
  uint64_t deleted = 0;
  roaring::View::Hint hint;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!view.Contains(positions[i], hint)) continue;
    bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    ++deleted;
  }
  answer.set_deleted_count(deleted);
  answer.set_position_count(positions.size());
  answer.set_first_index(first_index);
  return answer;
}

pb::CountAnswer Count(const roaring::View& view,
                      const google::protobuf::RepeatedPtrField<pb::PositionRange>& ranges,
                      int first, int end) {
  pb::CountAnswer answer;
  answer.mutable_counts()->Reserve(end - first);
  roaring::View::Hint hint;
  for (int i = first; i < end; ++i) {
    const pb::PositionRange& range = ranges[i];
    const auto range_end = range.has_end() ? std::optional<uint64_t>(range.end()) : std::nullopt;
    answer.add_counts(view.Count(roaring::Range::HalfOpen(range.start(), range_end), hint));
  }
  answer.set_first_index(static_cast<uint64_t>(first));
  return answer;
}

pb::Histogram MakeHistogram(const roaring::View& view, const HistogramSpec& spec) {
  pb::Histogram histogram;
  histogram.set_row_count(spec.row_count);
  histogram.mutable_counts()->Reserve(static_cast<int>(spec.bucket_count));
  uint64_t below_start = 0;
  roaring::View::Hint hint;
  for (uint32_t i = 1; i <= spec.bucket_count; ++i) {
    const uint64_t end = absl::Uint128Low64(absl::uint128(spec.row_count) * i / spec.bucket_count);
    const uint64_t below_end = view.Rank(end, hint);
    histogram.add_counts(below_end - below_start);
    below_start = below_end;
  }
  histogram.set_beyond_count(view.cardinality() - below_start);
  return histogram;
}

}  // namespace dv::rpc
