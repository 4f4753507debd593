// The promise of `bytes_copied`, seen from outside: this program is linked with a memcpy and a
// memmove of its own, which count what is copied out of the memory of a received payload.

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "deletionvector/v1/deletion_vector_service.pb.h"
#include "server/rpc/evaluate.h"
#include "server/rpc/scan_session.h"
#include "server/rpc/vector_request.h"
#include "tests/testing/assembler.h"

namespace {

// The memory that is watched, and bytes that were copied out of it. Copies within it do not count.
const uint8_t* watched_begin = nullptr;
const uint8_t* watched_end = nullptr;
size_t copied = 0;

void Count(const void* to, const void* from, size_t size) {
  const auto* source = static_cast<const uint8_t*>(from);
  const auto* target = static_cast<const uint8_t*>(to);
  if (source < watched_begin || source >= watched_end) return;
  if (target >= watched_begin && target < watched_end) return;
  copied += size;
}

}  // namespace

extern "C" {
// Named by the linker's option --wrap.
void* __real_memcpy(void* to, const void* from,
                    size_t size);  // NOLINT(bugprone-reserved-identifier)
void* __real_memmove(void* to, const void* from,
                     size_t size);  // NOLINT(bugprone-reserved-identifier)

void* __wrap_memcpy(void* to, const void* from,
                    size_t size) {  // NOLINT(bugprone-reserved-identifier)
  Count(to, from, size);
  return __real_memcpy(to, from, size);
}

void* __wrap_memmove(void* to, const void* from,
                     size_t size) {  // NOLINT(bugprone-reserved-identifier)
  Count(to, from, size);
  return __real_memmove(to, from, size);
}
}

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// What is not a container: the frame's head and tail, headers of bitmaps that a boundary cuts, the
// fields around the payload.
constexpr size_t kHeaders = 1024;

// A blob of `count` bitsets and as many arrays.
std::string Blob(uint32_t count) {
  dv::testing::Bitmap64 bitmap;
  for (uint32_t key = 0; key < count; ++key) {
    bitmap.buckets.push_back(
        {key, dv::testing::Bitmap({dv::testing::Bitset(0, dv::testing::Values(0, 30000, 2)),
                                   dv::testing::Array(1, dv::testing::Values(7, 4000, 3))})
                  .Bytes()});
  }
  return dv::testing::FrameOf(bitmap.Bytes());
}

// A message in slices of `slice_size` bytes of one block of memory, which is watched from here on.
class WatchedMessage {
 public:
  WatchedMessage(std::string message, size_t slice_size) : message_(std::move(message)) {
    std::vector<grpc::Slice> slices;
    for (size_t at = 0; at < message_.size(); at += slice_size) {
      slices.emplace_back(message_.data() + at, std::min(slice_size, message_.size() - at),
                          grpc::Slice::STATIC_SLICE);
    }
    buffer_ = grpc::ByteBuffer(slices.data(), slices.size());
    watched_begin = reinterpret_cast<const uint8_t*>(message_.data());
    watched_end = watched_begin + message_.size();
    copied = 0;
  }
  ~WatchedMessage() { watched_begin = watched_end = nullptr; }
  WatchedMessage(const WatchedMessage&) = delete;
  WatchedMessage& operator=(const WatchedMessage&) = delete;

  const grpc::ByteBuffer& buffer() const { return buffer_; }

 private:
  const std::string message_;
  grpc::ByteBuffer buffer_;
};

TEST(Copies, TheWatchSeesThem) {
  const WatchedMessage message(std::string(1000, 'x'), 100);
  bytes::Chain chain = FromByteBuffer(message.buffer()).chain;
  copied = 0;
  EXPECT_EQ(chain.ToString().size(), 1000u);
  EXPECT_EQ(copied, 1000u);
}

TEST(Copies, NoneInAUnaryCall) {
  pb::DescribeRequest request;
  request.mutable_vector()->set_inline_(Blob(200));
  const size_t payload = request.vector().inline_().size();
  ASSERT_GT(payload, 3'000'000u);
  // As C-core and Go peers send them.
  for (const size_t slice_size : {size_t{64} << 10, (size_t{16} << 10) - 9, size_t{16} << 10}) {
    const WatchedMessage message(request.SerializeAsString(), slice_size);
    VectorRequest<pb::DescribeRequest> call;
    ASSERT_TRUE(call.Parse(message.buffer(), Limits()).ok());
    ASSERT_TRUE(call.Decode().ok());
    const pb::VectorSummary summary = Summarize(call.decoded(), call.bytes_copied());
    EXPECT_EQ(summary.bytes_copied(), 0u);
    EXPECT_LE(copied, kHeaders) << slice_size;
    EXPECT_EQ(summary.cardinality(), 200u * 34'000);
  }
}

// Sends one message to a session, decodes what it opens, and returns how that went.
pb::VectorOpened OpenIn(ScanSession& session, const WatchedMessage& message) {
  auto parsed = ParseRequest<pb::ScanRequest>(FromByteBuffer(message.buffer()), 1000);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(
      session.Handle(std::move(parsed->message), std::move(parsed->payloads), parsed->in_place)
          .ok());
  while (auto job = session.TakeDecode()) {
    job->Run();
    session.FinishDecode(*job);
  }
  pb::ScanResponse response;
  const auto control = session.TakeControl();
  EXPECT_TRUE(control.has_value() && response.ParseFromString(*control));
  return response.opened();
}

TEST(Copies, InAScanOnlySmallVectors) {
  for (const uint32_t count : {1u, 200u}) {
    pb::ScanRequest request;
    pb::OpenVector& open = *request.mutable_open()->add_vectors();
    open.mutable_vector()->set_inline_(
        count == 1 ? dv::testing::FrameOf(
                         dv::testing::OneBucket(0, dv::testing::Bitmap({dv::testing::Array(
                                                       0, dv::testing::Values(0, 4000, 2))}))
                             .Bytes())
                   : Blob(count));
    const size_t payload = open.vector().inline_().size();
    const WatchedMessage message(request.SerializeAsString(), size_t{64} << 10);
    const Limits limits;
    ScanSession session(limits);
    const pb::VectorOpened opened = OpenIn(session, message);
    EXPECT_EQ(opened.status().code(), 0) << opened.DebugString();
    const size_t expected = payload < kCopyBelowBytes ? payload : 0;
    EXPECT_EQ(opened.summary().bytes_copied(), expected);
    EXPECT_GE(copied, expected);
    EXPECT_LE(copied, expected + kHeaders);
  }
}

}  // namespace
}  // namespace dv::rpc
