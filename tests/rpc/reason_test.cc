// Holds server/bytes/reason.h against the table of reasons in the contract. The header is read as
// text: a reason that was forgotten on either side is noticed.

#include "server/bytes/reason.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "deletionvector/v1/reason.pb.h"
#include "google/protobuf/descriptor.h"

namespace dv::rpc {
namespace {

// The names in the header, and how often a constant is defined there at all.
struct Header {
  std::set<std::string> names;
  size_t constants = 0;
};

// "kCrcMismatch" for "CRC_MISMATCH".
std::string ConstantName(const std::string& reason) {
  std::string name = "k";
  bool upper = true;
  for (const char c : reason) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? c : static_cast<char>(std::tolower(c));
    upper = false;
  }
  return name;
}

Header ReadHeader() {
  std::ifstream file(DV_REASON_HEADER);
  std::stringstream text;
  text << file.rdbuf();
  const std::string content = text.str();
  EXPECT_FALSE(content.empty()) << DV_REASON_HEADER;
  Header header;
  static const std::regex definition(
      R"re(inline constexpr absl::string_view (k\w+) =\s*"([A-Z0-9_]+)";)re");
  for (std::sregex_iterator it(content.begin(), content.end(), definition), end; it != end; ++it) {
    EXPECT_EQ((*it)[1], ConstantName((*it)[2]));
    EXPECT_TRUE(header.names.insert((*it)[2]).second) << (*it)[2] << " is there twice";
  }
  static const std::regex constant("string_view\\s+k");
  for (std::sregex_iterator it(content.begin(), content.end(), constant), end; it != end; ++it) {
    ++header.constants;
  }
  return header;
}

TEST(Reason, HeaderAndContractHaveTheSameNames) {
  const Header header = ReadHeader();
  EXPECT_EQ(header.names.size(), header.constants) << "a definition that this test cannot read";

  const std::string prefix = "REASON_";
  std::set<std::string> contract;
  const google::protobuf::EnumDescriptor& values = *deletionvector::v1::Reason_descriptor();
  for (int i = 0; i < values.value_count(); ++i) {
    const std::string& name = values.value(i)->name();
    ASSERT_EQ(name.substr(0, prefix.size()), prefix);
    if (name != "REASON_UNSPECIFIED") contract.insert(name.substr(prefix.size()));
  }
  EXPECT_EQ(header.names, contract);
  EXPECT_EQ(reason::kCrcMismatch, "CRC_MISMATCH");
}

TEST(Reason, NamesAreFitForErrorInfo) {
  for (const std::string& name : ReadHeader().names) EXPECT_LE(name.size(), 63u) << name;
}

}  // namespace
}  // namespace dv::rpc
