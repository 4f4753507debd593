#include "server/roaring/validate.h"

#include "absl/strings/str_format.h"
#include "server/bytes/chain_reader.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/roaring/kernels.h"

namespace dv::roaring {

using bytes::ChainReader;
using bytes::LoadLittle;

namespace {

absl::Status Broken(absl::string_view reason, absl::string_view message,
                    std::initializer_list<ErrorDetail> details) {
  return Error(absl::StatusCode::kDataLoss, reason, message, details);
}

absl::Status CheckArray(const Kernels& kernels, ChainReader& reader, uint64_t offset,
                        uint32_t cardinality) {
  int32_t previous = -1;
  uint64_t at = offset;
  int32_t found = 0;
  const bool ascending =
      reader.ForEachRecord<2>(offset, cardinality, [&](const uint8_t* values, size_t count) {
        if (LoadLittle<uint16_t>(values) > previous && kernels.is_ascending(values, count)) {
          previous = LoadLittle<uint16_t>(values + 2 * (count - 1));
          at += 2 * count;
          return true;
        }
        // Only a broken array is looked at again, for the place.
        for (;; values += 2, at += 2) {
          found = LoadLittle<uint16_t>(values);
          if (found <= previous) return false;
          previous = found;
        }
      });
  if (ascending) return absl::OkStatus();
  return Broken(reason::kArrayNotAscending,
                absl::StrFormat("value %d of an array container, at offset %d, follows %d: values "
                                "must ascend, each once",
                                found, at, previous),
                {{"offset", at},
                 {"found", static_cast<uint64_t>(found)},
                 {"previous", static_cast<uint64_t>(previous)}});
}

absl::Status CheckBitset(const Kernels& kernels, ChainReader& reader, uint64_t offset,
                         uint32_t cardinality) {
  uint64_t set = 0;
  reader.ForEachBlock(offset, kBitsetBytes, [&](const uint8_t* block, size_t size) {
    set += kernels.pop_count(block, size);
    return true;
  });
  if (set == cardinality) return absl::OkStatus();
  return Broken(reason::kBitsetCardinalityMismatch,
                absl::StrFormat("the bitset container at offset %d holds %d positions, its header "
                                "says %d",
                                offset, set, cardinality),
                {{"offset", offset}, {"found", set}, {"expected", uint64_t{cardinality}}});
}

absl::Status CheckRuns(ChainReader& reader, uint64_t offset, uint32_t cardinality) {
  const uint16_t run_count = reader.Load<uint16_t>(offset);
  // End of the run before, exclusive. -1: none, which no start can touch.
  int64_t previous_end = -1;
  uint64_t total = 0;
  uint64_t at = offset + 2;
  absl::Status status;
  reader.ForEachRecord<4>(at, run_count, [&](const uint8_t* runs, size_t count) {
    for (size_t i = 0; i < count; ++i, at += 4) {
      const int64_t start = LoadLittle<uint16_t>(runs + 4 * i);
      const int64_t end = start + LoadLittle<uint16_t>(runs + 4 * i + 2) + 1;
      if (start <= previous_end) {
        const bool adjacent = start == previous_end;
        status = Broken(
            adjacent ? reason::kRunsAdjacent : reason::kRunsOverlap,
            absl::StrFormat(
                "the run at offset %d starts at %d, %s the run before it, whose last value is %d",
                at, start, adjacent ? "right after" : "before the end of", previous_end - 1),
            {{"offset", at},
             {"found", static_cast<uint64_t>(start)},
             {"previous", static_cast<uint64_t>(previous_end - 1)}});
        return false;
      }
      if (end > kContainerRows) {
        status =
            Broken(reason::kRunOutOfRange,
                   absl::StrFormat("the run at offset %d goes from %d to %d: the last value of a "
                                   "container is 65535",
                                   at, start, end - 1),
                   {{"offset", at},
                    {"found", static_cast<uint64_t>(end - 1)},
                    {"expected", "at most 65535"}});
        return false;
      }
      total += static_cast<uint64_t>(end - start);
      previous_end = end;
    }
    return true;
  });
  if (!status.ok()) return status;
  if (total == cardinality) return status;
  return Broken(
      reason::kRunCardinalityMismatch,
      absl::StrFormat("the run container at offset %d holds %d positions, its header says %d",
                      offset, total, cardinality),
      {{"offset", offset}, {"found", total}, {"expected", uint64_t{cardinality}}});
}

}  // namespace

absl::Status Validate(const bytes::Chain& chain, const Index& index, bytes::RunningCrc32* crc) {
  const Kernels& kernels = ActiveKernels();
  ChainReader reader(chain);
  for (size_t i = 0; i < index.size(); ++i) {
    const uint64_t offset = index[i].offset();
    const uint32_t cardinality = index.cardinality(i);
    // The next container starts right behind this one, or behind some headers.
    if (crc != nullptr) crc->AdvanceTo(index[i + 1].offset());
    absl::Status status;
    switch (index[i].kind()) {
      case ContainerKind::kArray:
        status = CheckArray(kernels, reader, offset, cardinality);
        break;
      case ContainerKind::kBitset:
        status = CheckBitset(kernels, reader, offset, cardinality);
        break;
      case ContainerKind::kRun:
        status = CheckRuns(reader, offset, cardinality);
        break;
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace dv::roaring
