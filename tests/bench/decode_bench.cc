// Decoding: from bytes to an index that is checked to some degree.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "server/format/decode.h"
#include "server/roaring/index.h"
#include "server/roaring/validate.h"
#include "tests/bench/croaring.h"
#include "tests/bench/micro.h"
#include "tests/bench/payloads.h"

namespace dv::bench {
namespace {

// A payload in all the shapes that decoders want.
struct Input {
  explicit Input(const std::string& name)
      : payload(MakePayload(name).bytes),
        frame(IcebergFrame(payload)),
        payload_pieces(payload),
        frame_pieces(frame) {}

  const std::string payload;
  const std::string frame;
  const PiecedBytes payload_pieces;
  const PiecedBytes frame_pieces;
};

// Makes the input when it is first asked for.
const Input& InputFor(const std::string& name) {
  static auto& inputs = *new std::vector<std::pair<std::string, std::unique_ptr<Input>>>;
  for (const auto& [known, input] : inputs) {
    if (known == name) return *input;
  }
  inputs.emplace_back(name, std::make_unique<Input>(name));
  return *inputs.back().second;
}

bytes::Chain OneSpan(const std::string& payload) {
  return bytes::Chain::Borrow(
      bytes::Span(reinterpret_cast<const uint8_t*>(payload.data()), payload.size()));
}

void CheckOk(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

uint64_t Index(const bytes::Chain& chain, roaring::Index& index) {
  CheckOk(roaring::BuildIndex64(chain, 0, chain.size(), {}, index));
  return index.total();
}

// Registers ours on one span and on pieces. `run(chain, index)` is one iteration; chain is the
// frame if `framed`.
template <typename Run>
void RegisterOurs(const MicroOptions& options, const std::string& row, const std::string& payload,
                  const std::string& column, bool framed, Run run) {
  Register(options, row + column, [=] {
    const Input& input = InputFor(payload);
    return [run, chain = OneSpan(framed ? input.frame : input.payload),
            index = std::make_shared<roaring::Index>()] { return run(chain, *index); };
  });
  Register(options, row + column + "_pieces", [=] {
    const Input& input = InputFor(payload);
    return [run, chain = (framed ? input.frame_pieces : input.payload_pieces).chain(),
            index = std::make_shared<roaring::Index>()] { return run(chain, *index); };
  });
}

// Registers CRoaring's decoders.
void RegisterPeers(const MicroOptions& options, const std::string& row, const std::string& payload,
                   Checks checks) {
  Register(options, row + "safe", [=] {
    return [&input = InputFor(payload), checks] { return DecodeSafe(input.payload, checks); };
  });
  if (!HaveFrozen64()) return;
  Register(options, row + "frozen64", [=] {
    return [&input = InputFor(payload), checks] { return DecodeFrozen64(input.payload, checks); };
  });
}

// Registers one memcpy of the payload, the measure of everything that reads each byte.
void RegisterCopy(const MicroOptions& options, const std::string& row, const std::string& payload) {
  Register(options, row + "memcpy", [=] {
    const Input& input = InputFor(payload);
    auto copy = std::make_shared<std::string>(input.payload);
    return [&input, copy] {
      std::memcpy(copy->data(), input.payload.data(), input.payload.size());
      benchmark::DoNotOptimize(copy->data());
      return uint64_t{copy->size()};
    };
  });
}

}  // namespace

void RegisterDecode(const MicroOptions& options) {
  for (const std::string& name : PayloadNames()) {
    std::string row = "decode/" + name + "/index/";
    RegisterOurs(options, row, name, "ours", false, Index);
    RegisterOurs(options, row, name, "ours_fresh", false,
                 [](const bytes::Chain& chain, roaring::Index&) {
                   roaring::Index fresh;
                   return Index(chain, fresh);
                 });
    RegisterPeers(options, row, name, Checks::kIndex);
    Register(options, row + "frozen32", [=] {
      return
          [&input = InputFor(name), bitmaps = std::make_shared<std::vector<roaring_bitmap_t*>>()] {
            return DecodeFrozen32(input.payload, *bitmaps);
          };
    });

    row = "decode/" + name + "/content/";
    RegisterOurs(options, row, name, "ours", false,
                 [](const bytes::Chain& chain, roaring::Index& index) {
                   const uint64_t total = Index(chain, index);
                   CheckOk(roaring::Validate(chain, index));
                   return total;
                 });
    RegisterPeers(options, row, name, Checks::kContent);
    RegisterCopy(options, row, name);

    row = "decode/" + name + "/all/";
    RegisterOurs(options, row, name, "ours", true, [](const bytes::Chain& chain, roaring::Index&) {
      format::DecodeOptions iceberg;
      iceberg.format = format::Format::kIceberg;
      const auto vector = format::Decode(chain, iceberg);
      CheckOk(vector.status());
      return vector->view.cardinality();
    });
    RegisterPeers(options, row, name, Checks::kContentAndCrc);
    RegisterCopy(options, row, name);
  }
}

}  // namespace dv::bench
