// The rules for the contents of containers.
#pragma once

#include "absl/status/status.h"
#include "server/bytes/chain.h"
#include "server/bytes/crc32.h"
#include "server/roaring/index.h"

namespace dv::roaring {

// Validate()
//
// Checks the content of every container of `index`, which was built from `chain`: the values of
// arrays ascend, bitsets hold as many positions as their header says, runs ascend without touching,
// stay below 65,536 and hold as many positions as their header says. Reads every byte of content
// once, where it lies.
//
// `crc`, if given, is a CRC over the same chain: it is let run just ahead of the contents that are
// read.
//
// On failure the status is DATA_LOSS with a reason and the offset in the chain.
absl::Status Validate(const bytes::Chain& chain, const Index& index,
                      bytes::RunningCrc32* crc = nullptr);

}  // namespace dv::roaring
