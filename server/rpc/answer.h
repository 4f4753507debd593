// File: answer.h
//
// The answer to a ReadQuery, part by part, as finished response messages. The kernels write
// positions, runs and masks straight into the memory that goes to the transport; the few fields
// around them are encoded by hand in front of it.
#pragma once

#include <cstdint>
#include <optional>

#include "deletionvector/v1/query.pb.h"
#include "server/bytes/chain.h"
#include "server/roaring/view.h"
#include "server/rpc/request.h"

namespace dv::rpc {

// Most that one part holds: about 256 KiB in every encoding.
inline constexpr uint64_t kPositionsPerPart = 32'768;
inline constexpr uint64_t kRunsPerPart = 16'384;
inline constexpr uint64_t kMaskRowsPerPart = 2'097'152;
inline constexpr uint64_t kRoaringBytesPerPart = uint64_t{256} << 10;

// Most rows that one part covers (contract).
inline constexpr uint64_t kMaxRowsPerPart = uint64_t{1} << 63;

// Answer
//
// Makes the parts of one answer, one at a time and only when asked. Not safe for use by several
// threads at once.
//
// Example:
//
//   Answer answer(view, spec, std::nullopt);
//   while (!answer.Done()) Send(answer.Next());
//   Send(answer.End());
class Answer {
 public:
  // The answer of `view`, which must outlive it. With `query_id` the messages are a ScanResponse
  // with a part of that query, else a ReadPositionsResponse.
  Answer(const roaring::View& view, const ReadSpec& spec, std::optional<uint64_t> query_id);

  // Whether all parts were made. An empty range has none.
  bool Done() const { return left_ == 0; }

  // Returns the next response message, in one or two pieces. It is the last owner of its memory.
  // REQUIRES: !Done().
  bytes::Chain Next();

  // Returns the end of the answer.
  // REQUIRES: Done().
  deletionvector::v1::AnswerEnd End() const;

 private:
  // What stands around the content of a part.
  struct PartHeader {
    uint64_t row_count = 0;
    uint64_t position_count = 0;
  };
  struct Buffer;

  bytes::Chain NextPositions(uint64_t last, uint64_t most);
  bytes::Chain NextRuns(uint64_t last, uint64_t most);
  bytes::Chain NextMask();
  bytes::Chain NextRoaring(uint64_t last, uint64_t most);
  // A part without positions about the next `row_count` rows.
  bytes::Chain EmptyPart(uint64_t row_count);

  // Puts the fields around the content in front of it, and moves on past the rows of the part.
  bytes::Chain Finish(const PartHeader& header, Buffer buffer);

  const roaring::View& view_;
  const ReadSpec spec_;
  const std::optional<uint64_t> query_id_;

  // First row that no part covers yet. Meaningless once `at_top_`: then the last part reached row
  // 2^64-1.
  uint64_t next_;
  bool at_top_ = false;
  // Positions still to be sent, or rows in case of a mask.
  uint64_t left_ = 0;

  uint64_t position_count_ = 0;
  uint64_t part_count_ = 0;
  bool limit_reached_ = false;
};

}  // namespace dv::rpc
