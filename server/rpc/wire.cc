#include "server/rpc/wire.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/bytes/error.h"
#include "server/bytes/reason.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Wire types of Protocol Buffers.
enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// Nesting that the generated parser takes, groups included.
constexpr size_t kMaxNesting = 100;

// Nesting of the messages of the contract.
constexpr size_t kMaxDepth = 8;

// Bytes of a length in the rest. A fixed number, so that it can be filled in later.
constexpr size_t kLengthBytes = 5;

// What the walk knows of a message type: its fields that are messages, and those that carry
// vectors.
struct Node {
  struct Field {
    uint32_t number = 0;
    bool repeated = false;
    // The bytes of a vector. Has no node.
    bool payload = false;
    // The message. Whether payloads may lie somewhere below it.
    std::unique_ptr<const Node> node;
    bool on_path = false;
  };

  const Field* Find(uint32_t number) const {
    for (const Field& field : fields) {
      if (field.number == number) return &field;
    }
    return nullptr;
  }

  std::vector<Field> fields;
};

bool IsPayload(const FieldDescriptor& field) {
  return field.full_name() == "deletionvector.v1.DeletionVector.inline" ||
         field.full_name() == "deletionvector.v1.VectorChunk.data";
}

// The contract has no recursive message, and its nesting is known to be below kMaxDepth.
std::unique_ptr<const Node> MakeNode(const Descriptor& type) {
  auto node = std::make_unique<Node>();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& descriptor = *type.field(i);
    Node::Field field;
    field.number = static_cast<uint32_t>(descriptor.number());
    field.repeated = descriptor.is_repeated();
    if (descriptor.message_type() != nullptr) {
      field.node = MakeNode(*descriptor.message_type());
      for (const Node::Field& below : field.node->fields) {
        field.on_path = field.on_path || below.payload || below.on_path;
      }
    } else if (IsPayload(descriptor)) {
      field.payload = true;
    } else {
      continue;
    }
    node->fields.push_back(std::move(field));
  }
  return node;
}

// Reads bytes of a chain in order.
class Reader {
 public:
  explicit Reader(const bytes::Chain& chain) : chain_(chain) { Seek(0); }

  uint64_t offset() const { return end_offset_ - static_cast<uint64_t>(end_ - next_); }

  // REQUIRES: a byte is left.
  uint8_t Next() {
    if (next_ == end_) Seek(end_offset_);
    return *next_++;
  }

  // REQUIRES: offset() <= offset <= chain.size().
  void SkipTo(uint64_t offset) {
    if (offset <= end_offset_) {
      next_ = end_ - (end_offset_ - offset);
    } else {
      Seek(offset);
    }
  }

 private:
  void Seek(uint64_t offset) {
    if (offset == chain_.size()) {
      next_ = end_ = nullptr;
      end_offset_ = offset;
      return;
    }
    piece_ = chain_.FindPiece(offset, piece_);
    const bytes::Chain::Piece& piece = chain_.pieces()[piece_];
    next_ = piece.data + (offset - piece.begin);
    end_ = piece.data + piece.size();
    end_offset_ = piece.end;
  }

  const bytes::Chain& chain_;
  size_t piece_ = 0;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  uint64_t end_offset_ = 0;
};

// Range of a payload in the chain.
struct Payload {
  uint64_t offset;
  uint64_t length;
};

// Walker
//
// One walk over a message: counts its fields, finds its payloads and puts the rest together. Takes
// no memory but for the rest and the list of payloads, and does not recurse.
class Walker {
 public:
  Walker(const bytes::Chain& chain, const Node& root, uint64_t max_fields)
      : chain_(chain), reader_(chain), max_fields_(max_fields) {
    frames_[0] = Frame{&root, chain.size(), /*on_path=*/true};
  }

  absl::Status Walk() {
    while (true) {
      Frame& frame = frames_[depth_];
      if (reader_.offset() == frame.end && group_depth_ == 0) {
        if (frame.on_path) EndPathMessage(frame);
        if (depth_ == 0) return absl::OkStatus();
        --depth_;
        continue;
      }
      absl::Status status = WalkField(frame);
      if (!status.ok()) return status;
    }
  }

  // Whether the rest and the payloads, taken together, surely say what the message says.
  bool odd() const { return odd_; }
  const std::vector<Payload>& payloads() const { return payloads_; }
  const std::string& rest() const { return rest_; }

 private:
  // A message that the walk is in.
  struct Frame {
    const Node* node = nullptr;
    uint64_t end = 0;
    // Whether the rest is put together anew here, instead of being copied as a whole.
    bool on_path = false;
    // Where in the rest the length goes.
    size_t length_slot = 0;
    // Whether a field that is not repeated and leads to a payload, or is one, was seen.
    bool path_seen = false;
  };

  absl::Status Malformed(uint64_t offset, absl::string_view what) const {
    return Error(absl::StatusCode::kInvalidArgument, reason::kRequestMalformed,
                 absl::StrCat("the request is not a valid protobuf message of this method: ", what,
                              " at byte ", offset, " of ", chain_.size()),
                 {{"offset", offset}});
  }

  absl::Status WalkField(Frame& frame) {
    const uint64_t tag_offset = reader_.offset();
    const std::optional<uint32_t> tag = ReadTag(frame.end);
    if (!tag.has_value()) return Malformed(tag_offset, "a field tag that is cut or too long");
    if (++fields_ > max_fields_) {
      return Error(absl::StatusCode::kResourceExhausted, reason::kTooManyFields,
                   absl::StrCat("the request has more than ", max_fields_,
                                " fields, the limit of --max_message_fields; split it"),
                   {{"limit", "--max_message_fields"},
                    {"found", absl::StrCat("more than ", max_fields_)},
                    {"allowed", max_fields_}});
    }
    const uint32_t number = *tag >> 3;
    if (number == 0) return Malformed(tag_offset, "field number 0");
    switch (static_cast<WireType>(*tag & 7)) {
      case kVarint:
        if (!SkipVarint(frame.end))
          return Malformed(tag_offset, "a number that is cut or too long");
        return absl::OkStatus();
      case kFixed64:
        return Skip(frame.end, 8, tag_offset);
      case kFixed32:
        return Skip(frame.end, 4, tag_offset);
      case kStartGroup:
        if (depth_ + group_depth_ >= kMaxNesting) return Malformed(tag_offset, "nesting too deep");
        groups_[group_depth_++] = number;
        return absl::OkStatus();
      case kEndGroup:
        if (group_depth_ == 0 || groups_[group_depth_ - 1] != number) {
          return Malformed(tag_offset, "the end of a group that did not start");
        }
        --group_depth_;
        return absl::OkStatus();
      case kLengthDelimited:
        return WalkLengthDelimited(frame, number, tag_offset);
    }
    return Malformed(tag_offset, absl::StrCat("unknown wire type ", *tag & 7));
  }

  absl::Status WalkLengthDelimited(Frame& frame, uint32_t number, uint64_t tag_offset) {
    const std::optional<uint64_t> length = ReadLength(frame.end);
    if (!length.has_value() || *length > frame.end - reader_.offset()) {
      return Malformed(tag_offset, "a length that is cut, too long or past the end");
    }
    // In a group, which is unknown, everything is.
    const Node::Field* field = group_depth_ == 0 ? frame.node->Find(number) : nullptr;
    if (field == nullptr) return Skip(frame.end, *length, tag_offset);
    if (frame.on_path && (field->on_path || field->payload) && !field->repeated) {
      odd_ = odd_ || frame.path_seen;
      frame.path_seen = true;
    }
    if (field->payload) {
      if (!frame.on_path) return Skip(frame.end, *length, tag_offset);
      CopyRestUntil(tag_offset);
      AppendTag(number);
      rest_.push_back('\0');
      payloads_.push_back(Payload{reader_.offset(), *length});
      copied_until_ = reader_.offset() + *length;
      return Skip(frame.end, *length, tag_offset);
    }
    // Never so with the messages of the contract.
    if (depth_ + 1 == kMaxDepth) return Malformed(tag_offset, "nesting too deep");
    Frame& child = frames_[++depth_];
    child = Frame{field->node.get(), reader_.offset() + *length, frame.on_path && field->on_path};
    if (child.on_path) {
      CopyRestUntil(tag_offset);
      AppendTag(number);
      child.length_slot = rest_.size();
      rest_.append(kLengthBytes, '\0');
      copied_until_ = reader_.offset();
    }
    return absl::OkStatus();
  }

  void EndPathMessage(const Frame& frame) {
    CopyRestUntil(frame.end);
    if (depth_ == 0) return;
    size_t length = rest_.size() - frame.length_slot - kLengthBytes;
    for (size_t i = 0; i < kLengthBytes; ++i) {
      const size_t more = i + 1 < kLengthBytes ? 0x80 : 0;
      rest_[frame.length_slot + i] = static_cast<char>((length & 0x7F) | more);
      length >>= 7;
    }
  }

  void CopyRestUntil(uint64_t offset) {
    if (offset <= copied_until_) return;
    const size_t old_size = rest_.size();
    const uint64_t length = offset - copied_until_;
    rest_.resize(old_size + static_cast<size_t>(length));
    chain_.CopyTo(copied_until_, length, reinterpret_cast<uint8_t*>(rest_.data()) + old_size);
    copied_until_ = offset;
  }

  // Numbers of payload fields and of those that lead to them are below 16.
  void AppendTag(uint32_t number) {
    rest_.push_back(static_cast<char>(number << 3 | kLengthDelimited));
  }

  absl::Status Skip(uint64_t end, uint64_t length, uint64_t tag_offset) {
    if (length > end - reader_.offset()) return Malformed(tag_offset, "a field that is cut");
    reader_.SkipTo(reader_.offset() + length);
    return absl::OkStatus();
  }

  // Like the generated parser, takes five bytes and ignores what is above bit 31.
  std::optional<uint32_t> ReadTag(uint64_t end) {
    uint32_t value = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
      if (reader_.offset() == end) return std::nullopt;
      const uint32_t byte = reader_.Next();
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<uint64_t> ReadLength(uint64_t end) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 35; shift += 7) {
      if (reader_.offset() == end) return std::nullopt;
      const uint64_t byte = reader_.Next();
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool SkipVarint(uint64_t end) {
    for (int i = 0; i < 10; ++i) {
      if (reader_.offset() == end) return false;
      if (reader_.Next() < 0x80) return true;
    }
    return false;
  }

  const bytes::Chain& chain_;
  Reader reader_;
  const uint64_t max_fields_;
  uint64_t fields_ = 0;
  bool odd_ = false;

  std::array<Frame, kMaxDepth> frames_;
  size_t depth_ = 0;
  // Numbers of the unknown groups that the walk is in, inside the innermost message.
  std::array<uint32_t, kMaxNesting> groups_;
  size_t group_depth_ = 0;

  std::string rest_;
  // All bytes before this one are in the rest, if they belong there.
  uint64_t copied_until_ = 0;
  std::vector<Payload> payloads_;
};

// Gives the generated parser the pieces of a chain.
class ChainInputStream : public google::protobuf::io::ZeroCopyInputStream {
 public:
  explicit ChainInputStream(const bytes::Chain& chain) : chain_(chain) {}

  bool Next(const void** data, int* size) override {
    if (offset_ == chain_.size()) return false;
    piece_ = chain_.FindPiece(offset_, piece_);
    const bytes::Chain::Piece& piece = chain_.pieces()[piece_];
    const uint64_t length =
        std::min<uint64_t>(piece.end - offset_, std::numeric_limits<int>::max());
    *data = piece.data + (offset_ - piece.begin);
    *size = static_cast<int>(length);
    offset_ += length;
    return true;
  }

  void BackUp(int count) override { offset_ -= static_cast<uint64_t>(count); }

  bool Skip(int count) override {
    const uint64_t length =
        std::min<uint64_t>(static_cast<uint64_t>(count), chain_.size() - offset_);
    offset_ += length;
    return length == static_cast<uint64_t>(count);
  }

  int64_t ByteCount() const override { return static_cast<int64_t>(offset_); }

 private:
  const bytes::Chain& chain_;
  size_t piece_ = 0;
  uint64_t offset_ = 0;
};

// Collects the fields of a message that carry payloads, in the order of ParsedRequest.
void CollectPayloads(pb::DeletionVector* vector, std::vector<std::string*>& fields) {
  if (vector->has_inline_()) fields.push_back(vector->mutable_inline_());
}

template <typename Message>
void CollectPayloads(Message* message, std::vector<std::string*>& fields) {
  if (message->has_vector()) CollectPayloads(message->mutable_vector(), fields);
}

void CollectPayloads(pb::ScanRequest* message, std::vector<std::string*>& fields) {
  if (message->has_chunk()) fields.push_back(message->mutable_chunk()->mutable_data());
  if (!message->has_open()) return;
  for (pb::OpenVector& open : *message->mutable_open()->mutable_vectors()) {
    if (open.has_vector()) CollectPayloads(open.mutable_vector(), fields);
  }
}

bytes::Chain SubChain(const ReceivedMessage& received, const Payload& payload) {
  bytes::Chain chain;
  uint64_t offset = payload.offset;
  const uint64_t end = payload.offset + payload.length;
  if (offset == end) return chain;
  for (size_t i = received.chain.FindPiece(offset); offset < end; ++i) {
    const bytes::Chain::Piece& piece = received.chain.pieces()[i];
    const uint64_t until = std::min(end, piece.end);
    chain.Append(bytes::Span(piece.data + (offset - piece.begin), until - offset),
                 received.owners[i]);
    offset = until;
  }
  return chain;
}

absl::Status NotParsed(const ReceivedMessage& received) {
  return Error(absl::StatusCode::kInvalidArgument, reason::kRequestMalformed,
               absl::StrCat("the request of ", received.chain.size(),
                            " bytes is not a valid protobuf message of this method"));
}

}  // namespace

void ReceivedMessage::Append(bytes::Span span, std::shared_ptr<const void> owner) {
  if (span.empty()) return;
  chain.Append(span, owner);
  owners.push_back(std::move(owner));
}

template <typename Message>
absl::StatusOr<ParsedRequest<Message>> ParseGeneric(const ReceivedMessage& received) {
  ParsedRequest<Message> request;
  ChainInputStream stream(received.chain);
  if (!request.message.ParseFromZeroCopyStream(&stream)) return NotParsed(received);
  std::vector<std::string*> fields;
  CollectPayloads(&request.message, fields);
  for (std::string* field : fields) {
    request.payloads.push_back(bytes::Chain::Own(std::move(*field)));
    field->clear();
  }
  return request;
}

template <typename Message>
absl::StatusOr<ParsedRequest<Message>> ParseRequest(const ReceivedMessage& received,
                                                    uint64_t max_fields) {
  // Never deleted: calls may be under way when the process ends.
  static const Node* const kRoot = MakeNode(*Message::descriptor()).release();
  Walker walker(received.chain, *kRoot, max_fields);
  absl::Status status = walker.Walk();
  if (!status.ok()) return status;
  if (walker.odd() || walker.payloads().empty()) return ParseGeneric<Message>(received);

  ParsedRequest<Message> request;
  if (!request.message.ParseFromString(walker.rest())) return NotParsed(received);
  std::vector<std::string*> fields;
  CollectPayloads(&request.message, fields);
  // A payload that a later member of its oneof replaced.
  if (fields.size() != walker.payloads().size()) return ParseGeneric<Message>(received);
  request.payloads.reserve(walker.payloads().size());
  for (const Payload& payload : walker.payloads()) {
    request.payloads.push_back(SubChain(received, payload));
  }
  request.in_place = true;
  return request;
}

template absl::StatusOr<ParsedRequest<pb::DescribeRequest>> ParseRequest(const ReceivedMessage&,
                                                                         uint64_t);
template absl::StatusOr<ParsedRequest<pb::ReadPositionsRequest>> ParseRequest(
    const ReceivedMessage&, uint64_t);
template absl::StatusOr<ParsedRequest<pb::CheckPositionsRequest>> ParseRequest(
    const ReceivedMessage&, uint64_t);
template absl::StatusOr<ParsedRequest<pb::CountPositionsRequest>> ParseRequest(
    const ReceivedMessage&, uint64_t);
template absl::StatusOr<ParsedRequest<pb::ScanRequest>> ParseRequest(const ReceivedMessage&,
                                                                     uint64_t);

template absl::StatusOr<ParsedRequest<pb::DescribeRequest>> ParseGeneric(const ReceivedMessage&);
template absl::StatusOr<ParsedRequest<pb::ReadPositionsRequest>> ParseGeneric(
    const ReceivedMessage&);
template absl::StatusOr<ParsedRequest<pb::CheckPositionsRequest>> ParseGeneric(
    const ReceivedMessage&);
template absl::StatusOr<ParsedRequest<pb::CountPositionsRequest>> ParseGeneric(
    const ReceivedMessage&);
template absl::StatusOr<ParsedRequest<pb::ScanRequest>> ParseGeneric(const ReceivedMessage&);

}  // namespace dv::rpc
