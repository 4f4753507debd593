// Small answers: what a vector is, and which and how many positions are deleted.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "deletionvector/v1/query.pb.h"
#include "deletionvector/v1/vector.pb.h"
#include "server/format/decode.h"
#include "server/roaring/view.h"
#include "server/rpc/request.h"

namespace dv::rpc {

// Returns what there is to say of a vector. `bytes_copied` is what its receipt cost.
deletionvector::v1::VectorSummary Summarize(const format::DecodedVector& vector,
                                            uint64_t bytes_copied);

// Returns which of `positions` are deleted. `first_index` is the index of the first of them in the
// request.
deletionvector::v1::CheckAnswer Check(const roaring::View& view,
                                      absl::Span<const uint64_t> positions, uint64_t first_index);

// Returns how many positions each of the ranges [first, end) of `ranges` holds.
// REQUIRES: the ranges were checked.
deletionvector::v1::CountAnswer Count(
    const roaring::View& view,
    const google::protobuf::RepeatedPtrField<deletionvector::v1::PositionRange>& ranges, int first,
    int end);

// Returns the histogram of a vector.
deletionvector::v1::Histogram MakeHistogram(const roaring::View& view, const HistogramSpec& spec);

}  // namespace dv::rpc
