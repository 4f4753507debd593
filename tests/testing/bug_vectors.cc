#include "tests/testing/bug_vectors.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "server/bytes/reason.h"
#include "tests/testing/assembler.h"
#include "tests/testing/hex.h"

namespace dv::testing {
namespace {

BugVector Valid(std::string name, std::string bytes, uint64_t cardinality,
                std::optional<uint64_t> first, std::optional<uint64_t> last) {
  BugVector vector;
  vector.sample.name = std::move(name);
  vector.sample.bytes = std::move(bytes);
  vector.sample.options.format = format::Format::kIceberg;
  vector.cardinality = cardinality;
  vector.first = first;
  vector.last = last;
  return vector;
}

BugVector Broken(std::string name, std::string bytes, absl::string_view reason,
                 std::optional<uint64_t> offset) {
  BugVector vector = Valid(std::move(name), std::move(bytes), 0, {}, {});
  vector.sample.reason = std::string(reason);
  vector.sample.offset = offset;
  return vector;
}

std::string BitsetWithWrongHeader() {
  Container container = Bitset(0, Values(0, 5000));
  container.cardinality_minus_one = 5999;
  return FrameOf(OneBucket(0, Bitmap({container})).Bytes());
}

}  // namespace

std::vector<BugVector> BugVectors() {
  return {
      // Empty.
      Valid("A1", FromBase64("AAAADNHTOWQAAAAAAAAAAL8YSAw="), 0, {}, {}),
      // {1, 3, 5}.
      Valid("A2", FromBase64("AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ=="), 3,
            1, 5),
      // Key 0 twice: {1}, {2}.
      Broken(
          "A3",
          FromBase64("AAAAONHTOWQCAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAAOjAAAAEAAAAAAAAAEAAA"
                     "AAIA44Fk4Q=="),
          reason::kKeysNotAscending, 38),
      // Keys 1, then 0.
      Broken(
          "A4",
          FromBase64("AAAAONHTOWQCAAAAAAAAAAEAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAAOjAAAAEAAAAAAAAAEAAA"
                     "AAIAyalcgw=="),
          reason::kKeysNotAscending, 38),
      // A key so high that readers which fill the gaps below it run out of memory.
      Valid("A5", FromBase64("AAAAItHTOWQBAAAAAAAAAP7//386MAAAAQAAAAAAAAAQAAAAAAAtSUY6"), 1,
            9223372028264841216, 9223372028264841216),
      // A key with the sign bit.
      Broken("A6", FromBase64("AAAAItHTOWQBAAAAAAAAAAAAAIA6MAAAAQAAAAAAAAAQAAAAAABtt2zl"),
             reason::kKeyOutOfRange, 16),
      // 2^31 - 1 bitmaps announced, none there.
      Broken("A7", FromBase64("AAAADNHTOWT///9/AAAAAJQj2Ag="), reason::kBitmapCountTooLarge, 8),
      // {1} and four more bytes.
      Broken("A8", FromBase64("AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAQAAAAAA2WeYDQ=="),
             reason::kTrailingBytes, 38),
      // {7}, with an offset header that points at the cookie.
      Broken("A9", FromBase64("AAAAItHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAAAAAABwC7MSDp"),
             reason::kOffsetsInconsistent, 32),
      // An array 5, 3.
      Broken("A10", FromBase64("AAAAJNHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAQAQAAAABQADAOdWAP4="),
             reason::kArrayNotAscending, 38),
      // A run past value 65,535.
      Broken("A11", FromBase64("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAABAABAP//BAAYM7P3"),
             reason::kRunOutOfRange, 31),
      // A2 with the last bit of its CRC flipped.
      Broken("A12", FromBase64("AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOA=="),
             reason::kCrcMismatch, 42),
      // {0, 2^32}.
      Valid(
          "A13",
          FromBase64("AAAAONHTOWQCAAAAAAAAAAAAAAA6MAAAAQAAAAAAAAAQAAAAAAABAAAAOjAAAAEAAAAAAAAAEAAA"
                     "AAAAR7oHhA=="),
          2, 0, 4294967296),
      // A run 0..99.
      Valid("A14", FromBase64("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAAYwABAAAAYwCIPNUp"), 100, 0, 99),
      // A run 0..65535.
      Valid("A15", FromBase64("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAA//8BAAAA//+S0xQ8"), 65536, 0,
            65535),
      // A2 with a length that is one too large.
      Broken("A16", FromBase64("AAAAJ9HTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWp5dOQ=="),
             reason::kFrameLengthMismatch, {}),
      // A2 without its last three bytes.
      Broken("A17", FromBase64("AAAAJtHTOWQBAAAAAAAAAAAAAAA6MAAAAQAAAAAAAgAQAAAAAQADAAUAWg=="),
             reason::kFrameLengthMismatch, {}),
      // Two containers, their offsets swapped.
      Broken("A18",
             FromBase64("AAAALNHTOWQBAAAAAAAAAAAAAAA6MAAAAgAAAAAAAAABAAAAGgAAABgAAAAHAAkARhP5Eg=="),
             reason::kOffsetsInconsistent, 36),
      // A run 0..99 whose header says 5.
      Broken("A19", FromBase64("AAAAH9HTOWQBAAAAAAAAAAAAAAA7MAAAAQAABAABAAAAYwBSEnyL"),
             reason::kRunCardinalityMismatch, 29),
      // A bitset 0..4999 whose header says 6,000.
      Broken("A20", BitsetWithWrongHeader(), reason::kBitsetCardinalityMismatch, 36),
      // A key with an empty bitmap.
      Valid("A21", FromBase64("AAAAGNHTOWQBAAAAAAAAAAAAAAA6MAAAAAAAAGj5bLU="), 0, {}, {}),
      // Delta's native layout, which is not a frame.
      Broken("A22", FromBase64("0NM5ZAEAAAASAAAAOjAAAAEAAAAAAAAAEAAAAAEA"), reason::kLayoutMismatch,
             {}),
  };
}

std::string BugVectorBytes(const std::string& name) {
  for (const BugVector& vector : BugVectors()) {
    if (vector.sample.name == name) return vector.sample.bytes;
  }
  return "";
}

}  // namespace dv::testing
