#include "client/cli/scan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/cli/input.h"
#include "client/cli/print.h"
#include "client/cli/vector.h"
#include "client/status.h"

namespace dv::cli {
namespace {

// Vectors that are open at a time, and their bytes: so that a server with small limits takes any
// number of sources.
constexpr size_t kMaxOpen = 8;
constexpr uint64_t kMaxOpenBytes = 32 << 20;

// The questions that are asked of each vector, as they are numbered in query ids.
enum class Question : uint64_t { kRead, kCheck, kCount, kHistogram };
constexpr uint64_t kQuestions = 4;

const char* QuestionName(Question question) {
  switch (question) {
    case Question::kRead:
      return "read";
    case Question::kCheck:
      return "check";
    case Question::kCount:
      return "count";
    case Question::kHistogram:
      return "histogram";
  }
  return "";
}

// One run of the command. One thread sends, another takes the answers: the server may wait with
// reading until answers were taken.
class Scanner {
 public:
  Scanner(const Options& options, const client::Client& client, const client::CallOptions& call,
          Output& output, Reporter& reporter)
      : options_(options),
        output_(output),
        reporter_(reporter),
        session_(client.Scan(call)),
        items_(options.sources.size()) {}

  int Run() {
    std::thread sender([this] { SendAll(); });
    pb::ScanResponse response;
    while (session_->Next(&response)) {
      Take(response);
      output_.Flush();
      if (output_.failed()) {
        session_->Cancel();
        break;
      }
    }
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
    }
    sender.join();
    const absl::Status status = session_->Finish();
    if (output_.failed()) return kExitFailure;
    if (!status.ok()) {
      reporter_.Call(options_, status);
      return kExitFailure;
    }
    absl::MutexLock lock(&mutex_);
    if (open_ > 0) {
      reporter_.Call(options_,
                     absl::InternalError(absl::StrCat("the server ended the stream with ", open_,
                                                      " vectors not fully answered")));
      return kExitFailure;
    }
    return failed_ ? kExitFailure : kExitOk;
  }

 private:
  // One source. The vector of item i has the id i.
  struct Item {
    uint64_t bytes = 0;
    // Answers that are still to come: that of the open and those of the questions.
    size_t pending = 0;
    // Whether it could not be opened, which is reported once: all questions fail with the same
    // words.
    bool open_failed = false;
  };

  // --- The sending thread. ---

  void SendAll() {
    size_t i = 0;
    absl::Status sent;
    while (sent.ok() && i < options_.sources.size()) {
      // References that follow each other are opened together, so that the server plans them
      // together.
      size_t end = i + 1;
      if (IsUri(options_.sources[i])) {
        while (end < options_.sources.size() && end - i < kMaxOpen && IsUri(options_.sources[end]))
          ++end;
        sent = SendReferences(i, end);
      } else {
        sent = SendFile(i);
      }
      i = end;
    }
    // If sending failed the stream has ended, and its status says why.
    if (sent.ok()) session_->HalfClose().IgnoreError();
  }

  absl::Status SendReferences(size_t begin, size_t end) {
    absl::Status sent = WaitForRoom(end - begin, 0);
    pb::OpenVectors open;
    for (size_t i = begin; i < end; ++i) {
      pb::OpenVector& vector = *open.add_vectors();
      vector.set_vector_id(i);
      *vector.mutable_vector() = ReferenceTo(options_, options_.sources[i]);
      Expect(i, 0);
    }
    if (sent.ok()) sent = session_->Open(std::move(open));
    for (size_t i = begin; sent.ok() && i < end; ++i) sent = SendQuestions(i);
    return sent;
  }

  absl::Status SendFile(size_t i) {
    absl::StatusOr<Input> input =
        Input::Open(options_.sources[i], options_.offset, options_.length);
    if (!input.ok()) {
      Fail(input.status());
      return absl::OkStatus();
    }
    absl::Status sent = WaitForRoom(1, input->size());
    if (!sent.ok()) return sent;
    if (input->size() <= client::ScanSession::kChunkBytes) {
      absl::StatusOr<std::string> bytes = input->ReadAll();
      if (!bytes.ok()) {
        Fail(bytes.status());
        return absl::OkStatus();
      }
      Expect(i, bytes->size());
      sent = session_->OpenInline(i, *std::move(bytes), AboutVector(options_));
    } else {
      Expect(i, input->size());
      absl::Status read;
      const auto source = [&input, &read](size_t max_bytes) {
        absl::StatusOr<std::string> bytes = input->Read(max_bytes);
        read = bytes.status();
        return bytes;
      };
      sent = session_->OpenChunked(i, input->size(), source, AboutVector(options_));
      if (!read.ok()) {
        // The vector was closed again, and whether its open is still answered does not matter.
        Fail(read);
        Forget(i);
        return sent == read ? absl::OkStatus() : sent;
      }
    }
    if (sent.ok()) sent = SendQuestions(i);
    return sent;
  }

  absl::Status SendQuestions(size_t i) {
    absl::Status sent;
    const auto id = [i](Question question) {
      return i * kQuestions + static_cast<uint64_t>(question);
    };
    if (options_.read) sent = session_->Read(id(Question::kRead), i, options_.read_query);
    if (sent.ok() && !options_.positions.empty()) {
      pb::CheckQuery query;
      query.mutable_positions()->Add(options_.positions.begin(), options_.positions.end());
      sent = session_->Check(id(Question::kCheck), i, std::move(query));
    }
    if (sent.ok() && !options_.ranges.empty()) {
      pb::CountQuery query;
      query.mutable_ranges()->Add(options_.ranges.begin(), options_.ranges.end());
      sent = session_->Count(id(Question::kCount), i, std::move(query));
    }
    if (sent.ok() && options_.histogram) {
      pb::HistogramQuery query;
      query.set_bucket_count(*options_.histogram);
      sent = session_->Histogram(id(Question::kHistogram), i, query);
    }
    return sent;
  }

  // Waits until `count` more vectors of `bytes` bytes may be open, and closes those that are
  // answered.
  absl::Status WaitForRoom(size_t count, uint64_t bytes) {
    std::vector<size_t> answered;
    {
      absl::MutexLock lock(&mutex_);
      const auto room = [this, count, bytes]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return ended_ || open_ == 0 ||
               (open_ + count <= kMaxOpen && open_bytes_ + bytes <= kMaxOpenBytes);
      };
      mutex_.Await(absl::Condition(&room));
      if (ended_) return absl::FailedPreconditionError("the stream has ended");
      answered.swap(answered_);
    }
    for (const size_t i : answered) {
      absl::Status sent = session_->CloseVector(i);
      if (!sent.ok()) return sent;
    }
    return absl::OkStatus();
  }

  // Notes what the server will answer for item i.
  void Expect(size_t i, uint64_t bytes) {
    absl::MutexLock lock(&mutex_);
    items_[i].bytes = bytes;
    items_[i].pending = 1 + (options_.read ? 1 : 0) + (options_.positions.empty() ? 0 : 1) +
                        (options_.ranges.empty() ? 0 : 1) + (options_.histogram ? 1 : 0);
    ++open_;
    open_bytes_ += bytes;
  }

  // Notes that nothing more is awaited for item i.
  void Forget(size_t i) {
    absl::MutexLock lock(&mutex_);
    Item& item = items_[i];
    if (item.pending == 0) return;
    item.pending = 0;
    item.open_failed = true;
    --open_;
    open_bytes_ -= item.bytes;
  }

  // Reports what is wrong on this side.
  void Fail(const absl::Status& status) {
    reporter_.Local(status.message());
    absl::MutexLock lock(&mutex_);
    failed_ = true;
  }

  // --- The receiving thread. ---

  void Take(const pb::ScanResponse& response) {
    if (response.has_opened()) {
      const uint64_t i = response.opened().vector_id();
      if (i >= options_.sources.size()) return;
      Write(response, i, nullptr);
      if (response.opened().has_summary() && options_.describe && !json()) {
        output_.Write(Prefix(i));
        output_.Write(SummaryLine(response.opened().summary()));
      }
      Done(i, client::StatusFromItem(response.opened().status()), true);
    } else if (response.has_part()) {
      const uint64_t i = response.part().query_id() / kQuestions;
      if (i >= options_.sources.size()) return;
      Write(response, i, NameOf(response.part().query_id()));
      if (!json()) WritePart(response.part(), i);
    } else if (response.has_done()) {
      const uint64_t i = response.done().query_id() / kQuestions;
      if (i >= options_.sources.size()) return;
      Write(response, i, NameOf(response.done().query_id()));
      Done(i, client::StatusFromItem(response.done().status()), false);
    }
  }

  static const char* NameOf(uint64_t query_id) {
    return QuestionName(static_cast<Question>(query_id % kQuestions));
  }

  // Notes the outcome of the open of item i, or of one question.
  void Done(uint64_t i, const absl::Status& status, bool open) {
    bool report = false;
    {
      absl::MutexLock lock(&mutex_);
      Item& item = items_[i];
      report = !status.ok() && !item.open_failed;
      if (!status.ok()) {
        item.open_failed = item.open_failed || open;
        failed_ = true;
      }
      if (item.pending > 0 && --item.pending == 0) {
        --open_;
        open_bytes_ -= item.bytes;
        answered_.push_back(i);
      }
    }
    if (report) reporter_.Source(options_.sources[i], status);
  }

  bool json() const { return options_.output == OutputFormat::kJson; }

  std::string Prefix(uint64_t i) const {
    return absl::StrCat(Printable(options_.sources[i]), ": ");
  }

  // Writes a response in JSON, with its source and what was asked.
  void Write(const pb::ScanResponse& response, uint64_t i, const char* question) {
    if (!json()) return;
    const std::string message = ToJson(response);
    output_.Write(
        absl::StrCat("{\"source\":", JsonString(options_.sources[i]), ",",
                     question == nullptr ? "" : absl::StrCat("\"query\":\"", question, "\","),
                     absl::string_view(message).substr(1), "\n"));
  }

  void WritePart(const pb::QueryPart& part, uint64_t i) {
    const std::string prefix = Prefix(i);
    if (part.has_read()) {
      output_.Write(PartText(part.read(), prefix, true));
    } else if (part.has_check()) {
      const pb::CheckAnswer& answer = part.check();
      const absl::Span<const uint64_t> all = options_.positions;
      if (answer.first_index() > all.size() ||
          answer.position_count() > all.size() - answer.first_index() ||
          answer.deleted().size() != (answer.position_count() + 7) / 8) {
        return Mismatch(i);
      }
      output_.Write(CheckText(answer,
                              all.subspan(static_cast<size_t>(answer.first_index()),
                                          static_cast<size_t>(answer.position_count())),
                              true, absl::StrCat(prefix, "check ")));
    } else if (part.has_count()) {
      const pb::CountAnswer& answer = part.count();
      const absl::Span<const pb::PositionRange> all = options_.ranges;
      const size_t count = static_cast<size_t>(answer.counts_size());
      if (answer.first_index() > all.size() || count > all.size() - answer.first_index()) {
        return Mismatch(i);
      }
      output_.Write(CountText(answer, all.subspan(static_cast<size_t>(answer.first_index()), count),
                              absl::StrCat(prefix, "count ")));
    } else if (part.has_histogram()) {
      output_.Write(HistogramText(part.histogram(), prefix));
    }
  }

  void Mismatch(uint64_t i) {
    reporter_.Source(options_.sources[i],
                     absl::InternalError("the server answered something else than was asked"));
    absl::MutexLock lock(&mutex_);
    failed_ = true;
  }

  const Options& options_;
  Output& output_;
  Reporter& reporter_;
  const std::unique_ptr<client::ScanSession> session_;

  absl::Mutex mutex_;
  std::vector<Item> items_ ABSL_GUARDED_BY(mutex_);
  // Vectors that are open or being opened, and their bytes.
  size_t open_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t open_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Vectors to be closed: all of them is answered.
  std::vector<size_t> answered_ ABSL_GUARDED_BY(mutex_);
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  // Whether the stream has ended.
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

int Scan(const Options& options, const client::Client& client, const client::CallOptions& call,
         Output& output, Reporter& reporter) {
  return Scanner(options, client, call, output, reporter).Run();
}

}  // namespace dv::cli
