// Queries on a vector that is open.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/roaring/cursor.h"
#include "server/roaring/mask.h"
#include "server/roaring/view.h"
#include "server/roaring/writer.h"
#include "tests/bench/croaring.h"
#include "tests/bench/micro.h"
#include "tests/bench/payloads.h"

namespace dv::bench {
namespace {

// Positions that are written at a time: what one part of an answer holds.
constexpr size_t kPartPositions = 32'768;
constexpr size_t kPartBytes = 256 << 10;
// Questions of one iteration of `contains` and `count`.
constexpr size_t kQuestions = 1'000;

// A payload as both sides have it open.
struct Input {
  explicit Input(const std::string& name)
      : payload(MakePayload(name).bytes), pieces(payload), bitmap(ReadBitmap(payload)) {
    view = Open(bytes::Chain::Borrow(
        bytes::Span(reinterpret_cast<const uint8_t*>(payload.data()), payload.size())));
    view_pieces = Open(pieces.chain());
  }

  static roaring::View Open(bytes::Chain chain) {
    const uint64_t size = chain.size();
    absl::StatusOr<roaring::View> view = roaring::View::Open(std::move(chain), 0, size);
    if (view.ok()) return *std::move(view);
    std::fprintf(stderr, "%s\n", view.status().ToString().c_str());
    std::exit(1);
  }

  const std::string payload;
  const PiecedBytes pieces;
  const Bitmap bitmap;
  roaring::View view;
  roaring::View view_pieces;
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

// Memory for answers, aligned to the lines of the cache: where an allocator happens to put it would
// make a difference of half as much again.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : lines_((bytes + sizeof(Line) - 1) / sizeof(Line)), size_(bytes) {}

  absl::Span<uint8_t> bytes() {
    return absl::Span<uint8_t>(reinterpret_cast<uint8_t*>(lines_.data()), size_);
  }
  absl::Span<uint64_t> words() {
    return absl::Span<uint64_t>(reinterpret_cast<uint64_t*>(lines_.data()), size_ / 8);
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };

  std::vector<Line> lines_;
  size_t size_;
};

// A range of rows.
struct Rows {
  uint64_t start;
  uint64_t count;
};

// Registers ours on one span and on pieces, and CRoaring's. `ours(view)` and `theirs(bitmap)` are
// one iteration.
template <typename Ours, typename Theirs>
void RegisterRow(const MicroOptions& options, const std::string& row, const std::string& payload,
                 Ours ours, Theirs theirs) {
  Register(options, row + "ours",
           [=] { return [&view = InputFor(payload).view, ours] { return ours(view); }; });
  Register(options, row + "ours_pieces",
           [=] { return [&view = InputFor(payload).view_pieces, ours] { return ours(view); }; });
  Register(options, row + "croaring", [=] {
    return [bitmap = InputFor(payload).bitmap.get(), theirs] { return theirs(bitmap); };
  });
}

// Registers filling as much memory as the answer takes, in a buffer of at most one part.
void RegisterFill(const MicroOptions& options, const std::string& row, uint64_t bytes) {
  Register(options, row + "memset", [=] {
    auto buffer = std::make_shared<Buffer>(std::min<uint64_t>(bytes, kPartBytes));
    return [bytes, out = buffer->bytes(), buffer] {
      for (uint64_t left = bytes; left > 0;) {
        const size_t n = std::min<uint64_t>(left, out.size());
        std::memset(out.data(), 1, n);
        benchmark::DoNotOptimize(out.data());
        left -= n;
      }
      return bytes;
    };
  });
}

// kQuestions rows, every other one deleted, in no order or ascending. Made when first asked for.
const std::vector<uint64_t>& Questions(const std::string& payload, uint64_t rows, bool sorted) {
  static auto& made = *new std::map<std::pair<std::string, bool>, std::vector<uint64_t>>;
  std::vector<uint64_t>& questions = made[{payload, sorted}];
  if (!questions.empty()) return questions;
  const roaring64_bitmap_t* bitmap = InputFor(payload).bitmap.get();
  const uint64_t cardinality = roaring64_bitmap_get_cardinality(bitmap);
  uint64_t x = 1;
  for (size_t i = 0; i < kQuestions; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    uint64_t row = (x >> 20) % rows;
    if (i % 2 == 0) roaring64_bitmap_select(bitmap, (x >> 20) % cardinality, &row);
    questions.push_back(row);
  }
  if (sorted) std::sort(questions.begin(), questions.end());
  return questions;
}

void RegisterContains(const MicroOptions& options, const std::string& payload, uint64_t rows) {
  for (const bool sorted : {false, true}) {
    const auto questions = [=]() -> const std::vector<uint64_t>& {
      return Questions(payload, rows, sorted);
    };
    RegisterRow(
        options, "query/contains/" + payload + (sorted ? "/1000_sorted/" : "/1000_random/"),
        payload,
        [=](const roaring::View& view) {
          uint64_t found = 0;
          for (const uint64_t position : questions()) found += view.Contains(position) ? 1 : 0;
          return found;
        },
        [=](const roaring64_bitmap_t* bitmap) {
          uint64_t found = 0;
          if (sorted) {
            roaring64_bulk_context_t context = {};
            for (const uint64_t position : questions()) {
              found += roaring64_bitmap_contains_bulk(bitmap, &context, position) ? 1 : 0;
            }
          } else {
            for (const uint64_t position : questions()) {
              found += roaring64_bitmap_contains(bitmap, position) ? 1 : 0;
            }
          }
          return found;
        });
  }
}

// Counts kQuestions ranges of `size` rows, evenly spread over `rows`.
void RegisterCount(const MicroOptions& options, const std::string& payload, uint64_t rows,
                   const std::string& name, uint64_t size) {
  const uint64_t step = (rows - size) / kQuestions;
  RegisterRow(
      options, "query/count/" + payload + "/1000_" + name + "/", payload,
      [=](const roaring::View& view) {
        uint64_t total = 0;
        for (size_t i = 0; i < kQuestions; ++i) {
          total += view.Count(roaring::Range::HalfOpen(i * step, i * step + size));
        }
        return total;
      },
      [=](const roaring64_bitmap_t* bitmap) {
        uint64_t total = 0;
        for (size_t i = 0; i < kQuestions; ++i) {
          total += roaring64_bitmap_range_cardinality(bitmap, i * step, i * step + size);
        }
        return total;
      });
}

// `full`: every row is deleted, so the answer is compared with a memset of its size.
void RegisterPositions(const MicroOptions& options, const std::string& payload,
                       const std::string& name, Rows rows, bool full) {
  const std::string row = "query/positions/" + payload + "/" + name + "/";
  const auto out = std::make_shared<Buffer>(8 * kPartPositions);
  RegisterRow(
      options, row, payload,
      [=](const roaring::View& view) {
        roaring::PositionCursor cursor(
            view, roaring::Range::HalfOpen(rows.start, rows.start + rows.count));
        uint64_t total = 0;
        for (;;) {
          const size_t n = cursor.Next(out->bytes().data(), kPartPositions);
          total += n;
          if (n < kPartPositions) return total;
        }
      },
      [=](const roaring64_bitmap_t* bitmap) {
        return ReadPositions(bitmap, rows.start, rows.count, out->words());
      });
  if (full) RegisterFill(options, row, rows.count * sizeof(uint64_t));
}

void RegisterRuns(const MicroOptions& options, const std::string& payload, const std::string& name,
                  Rows rows) {
  const auto out = std::make_shared<Buffer>(8 * kPartPositions);
  const auto runs = std::make_shared<std::vector<roaring::Run>>(kPartPositions / 2);
  RegisterRow(
      options, "query/runs/" + payload + "/" + name + "/", payload,
      [=](const roaring::View& view) {
        roaring::RunCursor cursor(view,
                                  roaring::Range::HalfOpen(rows.start, rows.start + rows.count));
        uint64_t total = 0;
        for (;;) {
          const size_t n = cursor.Next(runs->data(), runs->size());
          total += n;
          if (n < runs->size()) return total;
        }
      },
      [=](const roaring64_bitmap_t* bitmap) {
        return ReadRuns(bitmap, rows.start, rows.count, out->words());
      });
}

void RegisterMask(const MicroOptions& options, const std::string& payload, const std::string& name,
                  Rows rows) {
  const auto out = std::make_shared<Buffer>((rows.count + 7) / 8);
  for (const bool live : {false, true}) {
    const std::string row = "query/mask/" + payload + "/" + name + (live ? "_live/" : "_deleted/");
    RegisterRow(
        options, row, payload,
        [=](const roaring::View& view) {
          return roaring::WriteMask(view, rows.start, rows.count,
                                    live ? roaring::Polarity::kLive : roaring::Polarity::kDeleted,
                                    out->bytes().data());
        },
        [=](const roaring64_bitmap_t* bitmap) {
          return WriteMask(bitmap, rows.start, rows.count, live, out->bytes());
        });
    RegisterFill(options, row, out->bytes().size());
  }
}

void RegisterRoaring(const MicroOptions& options, const std::string& payload,
                     const std::string& name, Rows rows) {
  const auto out = std::make_shared<std::string>();
  RegisterRow(
      options, "query/roaring/" + payload + "/" + name + "/", payload,
      [=](const roaring::View& view) {
        roaring::RoaringCursor cursor(
            view, roaring::Range::HalfOpen(rows.start, rows.start + rows.count));
        uint64_t total = 0;
        for (;;) {
          out->clear();
          const uint64_t n = cursor.Next(kPartBytes, ~uint64_t{0}, *out).position_count;
          if (n == 0) return total;
          total += n;
        }
      },
      [=](const roaring64_bitmap_t* bitmap) {
        return WriteRoaring(bitmap, rows.start, rows.count, *out);
      });
}

// All positions, and the mask of all rows, of a vector of one key: CRoaring has functions of its
// own for these.
void RegisterWhole(const MicroOptions& options, const std::string& payload, uint64_t rows) {
  std::string row = "query/positions/" + payload + "/whole/";
  const auto buffer = [payload] {
    return std::make_shared<Buffer>(8 * InputFor(payload).view.cardinality());
  };
  for (const bool pieces : {false, true}) {
    Register(options, row + (pieces ? "ours_pieces" : "ours"), [=] {
      const Input& input = InputFor(payload);
      return [&view = pieces ? input.view_pieces : input.view, out = buffer()] {
        return uint64_t{roaring::PositionCursor(view, roaring::Range{})
                            .Next(out->bytes().data(), out->words().size())};
      };
    });
  }
  Register(options, row + "croaring", [=] {
    return [bitmap = InputFor(payload).bitmap.get(), out = buffer()] {
      return ReadAllPositions(bitmap, out->words());
    };
  });

  row = "query/mask/" + payload + "/whole_deleted/";
  for (const bool pieces : {false, true}) {
    Register(options, row + (pieces ? "ours_pieces" : "ours"), [=] {
      const Input& input = InputFor(payload);
      return [&view = pieces ? input.view_pieces : input.view, rows,
              out = std::make_shared<Buffer>((rows + 7) / 8)] {
        return roaring::WriteMask(view, 0, rows, roaring::Polarity::kDeleted, out->bytes().data());
      };
    });
  }
  Register(options, row + "croaring", [=] {
    return [mask = std::make_shared<AllMask>(InputFor(payload).payload)] { return mask->Write(); };
  });
}

}  // namespace

void RegisterQueries(const MicroOptions& options) {
  constexpr uint64_t kMillion = 1'000'000;
  // Rows of a batch of a scan, and many.
  constexpr uint64_t kSmall = 4'096;
  constexpr uint64_t kLarge = 8'388'608;
  // One payload for each kind of container, arrays with few and with more values.
  const std::pair<std::string, uint64_t> payloads[] = {
      {"1m_of_1000m", 1'000 * kMillion},
      {"10k_of_1m", kMillion},
      {"3.9m_of_10m", 10 * kMillion},
      {"all_of_4294m", 4'294 * kMillion},
  };
  for (const auto& [payload, rows] : payloads) {
    const uint64_t large = std::min(kLarge, rows / 10 * 8);
    // Divisible by 64, in the middle of a container.
    const uint64_t start = rows / 20 / 65'536 * 65'536 + 20'480;
    RegisterContains(options, payload, rows);
    RegisterCount(options, payload, rows, "small", kSmall);
    RegisterCount(options, payload, rows, "large", rows / 2);
    for (const auto& [name, count] : {std::pair("small", kSmall), std::pair("large", large)}) {
      RegisterPositions(options, payload, name, {start, count}, payload == "all_of_4294m");
      RegisterRuns(options, payload, name, {start, count});
      RegisterMask(options, payload, std::string(name) + "_aligned", {start, count});
      RegisterMask(options, payload, std::string(name) + "_unaligned", {start + 3, count});
      RegisterRoaring(options, payload, name, {start, count});
    }
  }
  RegisterWhole(options, "10k_of_1m", kMillion);
  RegisterWhole(options, "0.95m_of_10m", 10 * kMillion);
  RegisterWhole(options, "3.9m_of_10m", 10 * kMillion);
}

}  // namespace dv::bench
