#include "tests/conformance/manifest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/testing/assembler.h"

namespace dv::conformance {
namespace {

using nlohmann::json;

// The manifest's names of what is wrong, and the reasons that say the same.
const std::map<std::string, std::vector<std::string>>& ReasonsByErrorCode() {
  static const auto* reasons = new std::map<std::string, std::vector<std::string>>{
      {"blob-too-small", {"FRAME_TOO_SHORT"}},
      {"length-mismatch", {"FRAME_LENGTH_MISMATCH"}},
      {"crc-mismatch", {"CRC_MISMATCH"}},
      {"bad-magic", {"LAYOUT_UNKNOWN"}},
      {"cardinality-mismatch", {"CARDINALITY_MISMATCH"}},
      // In a frame, half a bitmap count is too little for a frame at all.
      {"truncated-bitmap-count", {"TRUNCATED", "FRAME_TOO_SHORT"}},
      {"bitmap-count-too-large", {"BITMAP_COUNT_TOO_LARGE"}},
      {"truncated-key", {"TRUNCATED"}},
      {"truncated-cookie", {"TRUNCATED"}},
      {"truncated-run-flags", {"TRUNCATED"}},
      {"truncated-descriptive-header", {"TRUNCATED"}},
      {"truncated-offset-header", {"TRUNCATED"}},
      {"truncated-container", {"TRUNCATED"}},
      {"keys-not-ascending", {"KEYS_NOT_ASCENDING"}},
      {"key-too-large", {"KEY_OUT_OF_RANGE"}},
      {"bad-cookie", {"COOKIE_INVALID"}},
      {"too-many-containers", {"CONTAINER_COUNT_TOO_LARGE"}},
      {"container-keys-not-ascending", {"CONTAINER_KEYS_NOT_ASCENDING"}},
      {"offset-mismatch", {"OFFSETS_INCONSISTENT"}},
      {"array-not-ascending", {"ARRAY_NOT_ASCENDING"}},
      {"bitset-cardinality-mismatch", {"BITSET_CARDINALITY_MISMATCH"}},
      {"run-cardinality-mismatch", {"RUN_CARDINALITY_MISMATCH"}},
      {"empty-run-container", {"RUN_CONTAINER_EMPTY"}},
      {"run-overflow", {"RUN_OUT_OF_RANGE"}},
      {"runs-overlap", {"RUNS_OVERLAP"}},
      {"runs-adjacent", {"RUNS_ADJACENT"}},
      {"trailing-bytes", {"TRAILING_BYTES"}},
  };
  return *reasons;
}

// Returns the format under which an entry may be read, or nothing.
std::optional<format::Format> SupportedFormat(const json& entry) {
  const std::string name = entry.at("format").get<std::string>();
  if (name == "iceberg-dv-blob") return format::Format::kIceberg;
  if (name == "roaring64") return format::Format::kRoaring64;
  // A vector in a Puffin file, a Delta file or a Paimon index file of version 2 is the same frame.
  // What is wrong with a broken one may be a matter of its own format.
  const bool framed = name == "puffin" || name == "delta-file" || name == "paimon";
  if (framed && entry.at("valid").get<bool>()) return format::Format::kIceberg;
  return std::nullopt;
}

// Whether `bytes` have the magic of a frame with a 64-bit bitmap. Files without any vector and
// frames with 32-bit bitmaps have not.
bool IsFrame64(const std::string& bytes) {
  return bytes.size() > 8 && bytes.substr(4, 4) == testing::kMagic64;
}

absl::StatusOr<std::string> ReadRange(const std::string& path, uint64_t offset, uint64_t length) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::InvalidArgumentError(absl::StrCat("cannot read ", path));
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (offset > bytes.size() || length > bytes.size() - offset) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " has ", bytes.size(), " bytes, the manifest names ", offset, "+", length));
  }
  return bytes.substr(offset, length);
}

std::optional<uint64_t> OptionalNumber(const json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::nullopt;
  return it->get<uint64_t>();
}

absl::StatusOr<std::string> ReadBytes(const std::string& folder, const json& entry) {
  return ReadRange(folder + "/" + entry.at("file").get<std::string>(),
                   entry.at("offset").get<uint64_t>(), entry.at("length").get<uint64_t>());
}

absl::StatusOr<Case> ReadCase(const json& entry, format::Format case_format, std::string bytes) {
  Case tested;
  const std::string file = entry.at("file").get<std::string>();
  const uint64_t offset = entry.at("offset").get<uint64_t>();
  tested.name = offset == 0 ? file : absl::StrCat(file, "@", offset);
  tested.bytes = std::move(bytes);
  tested.options.format = case_format;
  if (const auto args = entry.find("args"); args != entry.end()) {
    tested.options.expected_cardinality = OptionalNumber(*args, "cardinality");
  }

  if (!entry.at("valid").get<bool>()) {
    const std::string code = entry.at("error_code").get<std::string>();
    const auto reasons = ReasonsByErrorCode().find(code);
    if (reasons == ReasonsByErrorCode().end()) {
      return absl::InvalidArgumentError(absl::StrCat(file, ": no reason for error code ", code));
    }
    tested.reasons = reasons->second;
    return tested;
  }
  const std::string refusal = FillFromReference(tested);
  if (!refusal.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": the manifest says it is valid, the reference reader ", refusal));
  }
  // The manifest has the last word on what is in the file.
  tested.cardinality = entry.at("cardinality").get<uint64_t>();
  tested.first = OptionalNumber(entry, "min");
  tested.last = OptionalNumber(entry, "max");
  tested.first_positions = entry.at("first_positions").get<std::vector<uint64_t>>();
  const json& digest = entry.at("sha256_of_positions");
  tested.positions_digest = digest.is_null() ? "" : digest.get<std::string>();
  return tested;
}

}  // namespace

std::string VectorsFolder() {
  const char* given = std::getenv("DV_VECTORS");
  const std::string folder = given != nullptr && *given != '\0'
                                 ? std::string(given)
                                 : std::string(DV_SOURCE_DIR) + "/../shared/vectors";
  std::error_code error;
  return std::filesystem::exists(folder + "/MANIFEST.json", error) ? folder : "";
}

absl::StatusOr<Manifest> ReadManifest(const std::string& folder) {
  std::ifstream file(folder + "/MANIFEST.json");
  Manifest manifest;
  // The parser throws; nothing of that leaves this function.
  try {
    const json entries = json::parse(file);
    for (const json& entry : entries) {
      const auto supported = SupportedFormat(entry);
      if (!supported.has_value()) {
        ++manifest.skipped;
        continue;
      }
      auto bytes = ReadBytes(folder, entry);
      if (!bytes.ok()) return bytes.status();
      const bool by_name =
          entry.at("format") == "iceberg-dv-blob" || entry.at("format") == "roaring64";
      if (!by_name && !IsFrame64(*bytes)) {
        ++manifest.skipped;
        continue;
      }
      auto tested = ReadCase(entry, *supported, *std::move(bytes));
      if (!tested.ok()) return tested.status();
      manifest.cases.push_back(*std::move(tested));
    }
  } catch (const json::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(folder, "/MANIFEST.json: ", e.what()));
  }
  return manifest;
}

}  // namespace dv::conformance
