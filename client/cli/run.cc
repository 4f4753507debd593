#include "client/cli/run.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/position_list.h"
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "client/cli/roaring_merger.h"
#include "client/cli/scan.h"
#include "client/cli/vector.h"
#include "client/client.h"
#include "client/status.h"

namespace dv::cli {
namespace {

// Positions that one unary call answers, and one query of a stream here.
constexpr size_t kPositionsACall = 100'000;

// What all commands need.
struct Context {
  const Options& options;
  const client::Client& client;
  client::CallOptions call;
  Output& output;
  Reporter& reporter;

  bool json() const { return options.output == OutputFormat::kJson; }

  int LocalFailure(absl::string_view text) {
    reporter.Local(text);
    return kExitFailure;
  }
  int CallFailure(const absl::Status& status) {
    reporter.Call(options, status);
    return kExitFailure;
  }
  void WriteJson(const google::protobuf::Message& message) {
    output.Write(ToJson(message));
    output.Write("\n");
  }
};

// Returns OK if `answer` is one for `count` positions.
absl::Status CheckSize(const pb::CheckAnswer& answer, size_t count) {
  if (answer.deleted().size() == (count + 7) / 8) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the server answered ", count, " positions with ",
                                          answer.deleted().size(), " bytes; expected ",
                                          (count + 7) / 8));
}

int Describe(Context& context) {
  const Options& options = context.options;
  absl::StatusOr<pb::DeletionVector> vector = LoadVector(options);
  if (!vector.ok()) return context.LocalFailure(vector.status().message());
  pb::DescribeRequest request;
  *request.mutable_vector() = *std::move(vector);
  if (options.histogram) request.mutable_histogram()->set_bucket_count(*options.histogram);
  const absl::StatusOr<pb::DescribeResponse> response =
      context.client.Describe(request, context.call);
  if (!response.ok()) return context.CallFailure(response.status());
  if (context.json()) {
    context.WriteJson(*response);
    return kExitOk;
  }
  context.output.Write(SummaryText(response->summary()));
  if (response->has_histogram()) context.output.Write(HistogramText(response->histogram()));
  return kExitOk;
}

int Read(Context& context) {
  const Options& options = context.options;
  absl::StatusOr<pb::DeletionVector> vector = LoadVector(options);
  if (!vector.ok()) return context.LocalFailure(vector.status().message());
  pb::ReadPositionsRequest request;
  *request.mutable_vector() = *std::move(vector);
  *request.mutable_query() = options.read_query;
  const std::unique_ptr<client::PositionReader> reader =
      context.client.ReadPositions(request, context.call);
  request.Clear();

  RoaringMerger merger;
  const bool merge = options.read_query.encoding() == pb::ENCODING_ROARING && !context.json();
  pb::ReadPositionsResponse response;
  while (reader->Next(response.mutable_part())) {
    if (merge) {
      const absl::Status added = merger.Add(response.part().roaring());
      if (!added.ok()) return context.CallFailure(added);
    } else if (context.json()) {
      context.WriteJson(response);
    } else {
      context.output.Write(PartText(response.part()));
    }
    context.output.Flush();
    // Dropping the reader cancels the call.
    if (context.output.failed()) return kExitFailure;
  }
  const absl::StatusOr<pb::AnswerEnd> end = reader->Finish();
  if (!end.ok()) return context.CallFailure(end.status());
  if (merge) context.output.Write(merger.Finish());
  if (context.json()) {
    *response.mutable_end() = *end;
    context.WriteJson(response);
  }
  return kExitOk;
}

// Writes the answer to `positions`, the first of which is number `first` of all.
void WriteCheck(Context& context, pb::CheckAnswer answer, const std::vector<uint64_t>& positions,
                uint64_t first) {
  if (!context.json()) {
    context.output.Write(CheckText(answer, positions, context.options.all));
    return;
  }
  pb::CheckPositionsResponse response;
  *response.mutable_answer() = std::move(answer);
  response.mutable_answer()->set_first_index(first + response.answer().first_index());
  context.WriteJson(response);
}

// Checks more positions than a unary call takes: the vector is sent once, and the positions in one
// query after the other.
int CheckMany(Context& context, pb::DeletionVector vector, PositionList& list,
              std::vector<uint64_t> positions) {
  constexpr uint64_t kId = 1;
  const std::unique_ptr<client::ScanSession> session = context.client.Scan(context.call);
  absl::Status sent;
  if (vector.has_inline_()) {
    const std::unique_ptr<std::string> bytes(vector.release_inline_());
    sent = session->OpenChunked(kId, *bytes, std::move(vector));
  } else {
    pb::OpenVectors open;
    open.add_vectors()->set_vector_id(kId);
    *open.mutable_vectors(0)->mutable_vector() = std::move(vector);
    sent = session->Open(std::move(open));
  }
  bool complete = false;
  for (uint64_t first = 0; sent.ok(); first += positions.size()) {
    if (first > 0) {
      absl::StatusOr<std::vector<uint64_t>> next = list.Next(kPositionsACall);
      if (!next.ok()) {
        context.reporter.Local(next.status().message());
        return absl::IsInvalidArgument(next.status()) ? kExitUsage : kExitFailure;
      }
      positions = *std::move(next);
      complete = positions.empty();
      if (complete) break;
    }
    pb::CheckQuery query;
    query.mutable_positions()->Add(positions.begin(), positions.end());
    sent = session->Check(kId, kId, std::move(query));
    pb::ScanResponse response;
    bool done = false;
    uint64_t answered = 0;
    while (sent.ok() && !done && session->Next(&response)) {
      if (response.has_opened()) {
        const absl::Status opened = client::StatusFromItem(response.opened().status());
        if (!opened.ok()) return context.CallFailure(opened);
      } else if (response.has_part()) {
        pb::CheckAnswer& answer = *response.mutable_part()->mutable_check();
        const uint64_t count = answer.position_count();
        absl::Status fits = CheckSize(answer, static_cast<size_t>(count));
        if (answer.first_index() != answered || count > positions.size() - answered) {
          fits = absl::InternalError("the server answered other positions than were asked");
        }
        if (!fits.ok()) return context.CallFailure(fits);
        const auto begin = positions.begin() + static_cast<ptrdiff_t>(answered);
        const std::vector<uint64_t> stretch(begin, begin + static_cast<ptrdiff_t>(count));
        WriteCheck(context, std::move(answer), stretch, first);
        answered += count;
      } else if (response.has_done()) {
        const absl::Status checked = client::StatusFromItem(response.done().status());
        if (!checked.ok()) return context.CallFailure(checked);
        done = true;
      }
    }
    context.output.Flush();
    if (context.output.failed()) return kExitFailure;
    if (!done) break;
  }
  absl::Status status = session->Finish();
  if (status.ok() && !complete) {
    status = absl::InternalError("the server ended the stream before all was answered");
  }
  return status.ok() ? kExitOk : context.CallFailure(status);
}

int Check(Context& context) {
  const Options& options = context.options;
  absl::StatusOr<PositionList> list = PositionList::Open(options.positions, options.positions_from);
  if (!list.ok()) return context.LocalFailure(list.status().message());
  // One more than a call takes tells whether there are more.
  absl::StatusOr<std::vector<uint64_t>> positions = list->Next(kPositionsACall + 1);
  if (!positions.ok()) {
    context.reporter.Local(positions.status().message());
    return absl::IsInvalidArgument(positions.status()) ? kExitUsage : kExitFailure;
  }
  absl::StatusOr<pb::DeletionVector> vector = LoadVector(options);
  if (!vector.ok()) return context.LocalFailure(vector.status().message());
  if (positions->size() > kPositionsACall) {
    return CheckMany(context, *std::move(vector), *list, *std::move(positions));
  }
  pb::CheckPositionsRequest request;
  *request.mutable_vector() = *std::move(vector);
  request.mutable_positions()->Add(positions->begin(), positions->end());
  absl::StatusOr<pb::CheckPositionsResponse> response =
      context.client.CheckPositions(request, context.call);
  if (!response.ok()) return context.CallFailure(response.status());
  const absl::Status fits = CheckSize(response->answer(), positions->size());
  if (!fits.ok()) return context.CallFailure(fits);
  WriteCheck(context, std::move(*response->mutable_answer()), *positions, 0);
  return kExitOk;
}

int Count(Context& context) {
  const Options& options = context.options;
  absl::StatusOr<pb::DeletionVector> vector = LoadVector(options);
  if (!vector.ok()) return context.LocalFailure(vector.status().message());
  pb::CountPositionsRequest request;
  *request.mutable_vector() = *std::move(vector);
  request.mutable_ranges()->Add(options.ranges.begin(), options.ranges.end());
  const absl::StatusOr<pb::CountPositionsResponse> response =
      context.client.CountPositions(request, context.call);
  if (!response.ok()) return context.CallFailure(response.status());
  if (context.json()) {
    context.WriteJson(*response);
    return kExitOk;
  }
  if (static_cast<size_t>(response->answer().counts_size()) != options.ranges.size()) {
    return context.CallFailure(absl::InternalError(
        absl::StrCat("the server answered ", options.ranges.size(), " ranges with ",
                     response->answer().counts_size(), " counts")));
  }
  context.output.Write(CountText(response->answer(), options.ranges));
  return kExitOk;
}

int Health(Context& context) {
  const absl::StatusOr<client::ServingStatus> status =
      context.client.CheckHealth(context.options.service, context.call);
  if (!status.ok()) return context.CallFailure(status.status());
  grpc::health::v1::HealthCheckResponse response;
  response.set_status(*status);
  if (context.json()) {
    context.WriteJson(response);
  } else {
    context.output.Write(
        absl::StrCat(grpc::health::v1::HealthCheckResponse::ServingStatus_Name(*status), "\n"));
  }
  return *status == grpc::health::v1::HealthCheckResponse::SERVING ? kExitOk : kExitFailure;
}

int Dispatch(Context& context) {
  switch (context.options.command) {
    case Command::kDescribe:
      return Describe(context);
    case Command::kRead:
      return Read(context);
    case Command::kCheck:
      return Check(context);
    case Command::kCount:
      return Count(context);
    case Command::kScan:
      return Scan(context.options, context.client, context.call, context.output, context.reporter);
    case Command::kHealth:
      return Health(context);
  }
  return kExitUsage;
}

}  // namespace

int Run(const Options& options, Output& output, std::ostream& errors) {
  Reporter reporter(errors);
  const absl::StatusOr<client::Client> client = client::Client::Connect(options.server);
  if (!client.ok()) {
    reporter.Local(client.status().message());
    return kExitUsage;
  }
  client::CallOptions call;
  call.timeout = options.timeout;
  std::optional<Output> file;
  if (!options.output_file.empty()) file.emplace(options.output_file);
  Output& target = file ? *file : output;
  Context context{options, *client, call, target, reporter};
  const int status = Dispatch(context);
  // A file of a call that failed keeps what has been written to it, and is not created for nothing.
  if (status == kExitOk) {
    target.Close();
  } else if (!target.failed() && !file) {
    target.Flush();
  }
  if (target.reader_gone()) return kExitOk;
  if (target.failed()) {
    reporter.Local(target.ErrorMessage());
    return kExitFailure;
  }
  return status;
}

}  // namespace dv::cli
