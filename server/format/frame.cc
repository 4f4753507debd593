#include "server/format/frame.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "server/bytes/crc32.h"
#include "server/bytes/endian.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"
#include "server/format/layout.h"
#include "server/format/magic.h"

namespace dv::format {

using roaring::View;

namespace {

absl::Status NoMagic(const uint8_t* head, Layout layout) {
  const std::string found =
      absl::StrFormat("%02X %02X %02X %02X", head[4], head[5], head[6], head[7]);
  if (layout == Layout::kUnknown) {
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kLayoutUnknown,
        absl::StrCat(
            "no deletion vector here: bytes 4 to 7 of a frame are D1 D3 39 64, found ", found,
            ". Check the file and the offset; bare Roaring bitmaps must be named by their format"),
        {{"offset", uint64_t{4}}, {"found", found}, {"expected", "D1 D3 39 64"}});
  }
  return Error(absl::StatusCode::kFailedPrecondition, reason::kLayoutMismatch,
               absl::StrCat("expected an Iceberg blob, found ", LayoutName(layout),
                            ": give the range of one blob, or name the format"),
               {{"format", "iceberg"},
                {"found", LayoutName(layout)},
                {"expected", "D1 D3 39 64 at offset 4"}});
}

absl::Status CrcMismatch(const View::Checksum& checksum, uint32_t computed) {
  const std::string found = absl::StrFormat("0x%08X", checksum.expected);
  const std::string expected = absl::StrFormat("0x%08X", computed);
  return Error(absl::StatusCode::kDataLoss, reason::kCrcMismatch,
               absl::StrFormat("the CRC-32 at offset %d is %s, but that of the bytes %d to %d is "
                               "%s: the blob is damaged",
                               checksum.end, found, checksum.begin, checksum.end - 1, expected),
               {{"offset", checksum.end}, {"found", found}, {"expected", expected}});
}

}  // namespace

absl::StatusOr<FrameContent> ReadFrame(const bytes::Chain& chain) {
  const uint64_t size = chain.size();
  if (size < kMinFrameBytes) {
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kFrameTooShort,
        absl::StrFormat("%d bytes are too few for an Iceberg blob: the smallest, that of an empty "
                        "vector, has %d. Check the offset and the length",
                        size, kMinFrameBytes),
        {{"found", size}, {"expected", absl::StrCat("at least ", kMinFrameBytes)}});
  }
  uint8_t head[8];
  chain.CopyTo(0, sizeof(head), head);
  const bool has_magic = std::equal(kDvMagic.begin(), kDvMagic.end(), head + 4);
  const uint64_t length = bytes::LoadBig<uint32_t>(head);
  if (length > 0x7FFFFFFF || length + kFrameOverhead != size) {
    // Without the magic either, this is not a frame of another size but no frame.
    if (!has_magic) return NoMagic(head, DetectLayout(chain));
    const uint64_t needed = length + kFrameOverhead;
    return Error(
        absl::StatusCode::kFailedPrecondition, reason::kFrameLengthMismatch,
        absl::StrFormat(
            "the frame's length word at offset 0 says %d, so the frame needs %d bytes, but "
            "%d were given. Iceberg's content_size_in_bytes counts the whole frame; Delta's "
            "sizeInBytes is 8 less",
            length, needed, size),
        {{"offset", uint64_t{0}}, {"found", size}, {"expected", needed}, {"needed", needed}});
  }
  uint8_t tail[4];
  chain.CopyTo(size - 4, sizeof(tail), tail);
  const View::Checksum checksum{4, size - 4, bytes::LoadBig<uint32_t>(tail), CrcMismatch};
  if (!has_magic) {
    const uint32_t computed = bytes::Crc32(chain, 4, length);
    if (computed != checksum.expected) return CrcMismatch(checksum, computed);
    return NoMagic(head, DetectLayout(chain));
  }
  return FrameContent{8, size - 4, checksum};
}

}  // namespace dv::format
