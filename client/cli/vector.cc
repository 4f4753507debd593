#include "client/cli/vector.h"

#include <cstdint>

#include "client/cli/input.h"

namespace dv::cli {

pb::DeletionVector AboutVector(const Options& options) {
  pb::DeletionVector vector;
  vector.set_format(options.format);
  if (options.expected_cardinality) vector.set_expected_cardinality(*options.expected_cardinality);
  if (options.row_count) vector.set_row_count(*options.row_count);
  return vector;
}

pb::DeletionVector ReferenceTo(const Options& options, const std::string& uri) {
  pb::DeletionVector vector = AboutVector(options);
  vector.clear_expected_cardinality();
  pb::ObjectReference& object = *vector.mutable_object();
  object.set_location(uri);
  // The command line was checked: all of them fit.
  if (options.offset) object.set_content_offset(static_cast<int64_t>(*options.offset));
  if (options.length) object.set_content_size_in_bytes(static_cast<int64_t>(*options.length));
  if (options.expected_cardinality) {
    object.set_record_count(static_cast<int64_t>(*options.expected_cardinality));
  }
  return vector;
}

absl::StatusOr<pb::DeletionVector> LoadVector(const Options& options) {
  const std::string& source = options.sources.front();
  if (IsUri(source)) return ReferenceTo(options, source);
  absl::StatusOr<Input> input = Input::Open(source, options.offset, options.length);
  if (!input.ok()) return input.status();
  absl::StatusOr<std::string> bytes = input->ReadAll();
  if (!bytes.ok()) return bytes.status();
  pb::DeletionVector vector = AboutVector(options);
  vector.set_inline_(*std::move(bytes));
  return vector;
}

}  // namespace dv::cli
