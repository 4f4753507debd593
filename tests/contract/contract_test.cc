// Reads the contract as protoc sees it and checks what no linter knows: that everything is
// documented, that calls which may be repeated say so, and that the table of reasons keeps its
// form.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::DescriptorPool;
using ::google::protobuf::EnumDescriptor;
using ::google::protobuf::FileDescriptor;
using ::google::protobuf::FileDescriptorProto;
using ::google::protobuf::FileDescriptorSet;
using ::google::protobuf::MethodDescriptor;
using ::google::protobuf::MethodOptions;
using ::google::protobuf::ServiceDescriptor;
using ::google::protobuf::SourceLocation;

constexpr char kPackage[] = "deletionvector.v1";

// The contract, loaded from the descriptor set that the build writes.
class ContractTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream in(DV_CONTRACT_DESCRIPTORS, std::ios::binary);
    FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromIstream(&in)) << "cannot read " << DV_CONTRACT_DESCRIPTORS;
    for (const FileDescriptorProto& file : set.file()) {
      const FileDescriptor* built = pool_.BuildFile(file);
      ASSERT_NE(built, nullptr) << file.name();
      if (built->package() == kPackage) files_.push_back(built);
    }
    ASSERT_GE(files_.size(), 7u);
  }

  const ServiceDescriptor* Service() const {
    return pool_.FindServiceByName("deletionvector.v1.DeletionVectorService");
  }

  DescriptorPool pool_;
  // The files of the package.
  std::vector<const FileDescriptor*> files_;
};

// Whether `item`, a descriptor of any kind, has a comment with words in it before it.
template <typename T>
bool IsDocumented(const T& item) {
  SourceLocation location;
  if (!item.GetSourceLocation(&location)) return false;
  const std::string& text = location.leading_comments;
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); });
}

void CheckEnum(const EnumDescriptor& type) {
  EXPECT_TRUE(IsDocumented(type)) << type.full_name();
  for (int i = 0; i < type.value_count(); ++i) {
    EXPECT_TRUE(IsDocumented(*type.value(i))) << type.value(i)->full_name();
  }
}

void CheckMessage(const Descriptor& type) {
  if (type.options().map_entry()) return;
  EXPECT_TRUE(IsDocumented(type)) << type.full_name();
  for (int i = 0; i < type.field_count(); ++i) {
    EXPECT_TRUE(IsDocumented(*type.field(i))) << type.field(i)->full_name();
  }
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    EXPECT_TRUE(IsDocumented(*type.oneof_decl(i))) << type.oneof_decl(i)->full_name();
  }
  for (int i = 0; i < type.enum_type_count(); ++i) CheckEnum(*type.enum_type(i));
  for (int i = 0; i < type.nested_type_count(); ++i) CheckMessage(*type.nested_type(i));
}

TEST_F(ContractTest, DocumentsEverything) {
  for (const FileDescriptor* file : files_) {
    for (int i = 0; i < file->message_type_count(); ++i) CheckMessage(*file->message_type(i));
    for (int i = 0; i < file->enum_type_count(); ++i) CheckEnum(*file->enum_type(i));
    for (int i = 0; i < file->service_count(); ++i) {
      const ServiceDescriptor& service = *file->service(i);
      EXPECT_TRUE(IsDocumented(service)) << service.full_name();
      for (int j = 0; j < service.method_count(); ++j) {
        EXPECT_TRUE(IsDocumented(*service.method(j))) << service.method(j)->full_name();
      }
    }
  }
}

TEST_F(ContractTest, HasTheSevenCalls) {
  ASSERT_NE(Service(), nullptr);
  std::vector<std::string> calls;
  for (int i = 0; i < Service()->method_count(); ++i) {
    const MethodDescriptor& method = *Service()->method(i);
    std::string call = method.name();
    if (method.client_streaming()) call += " <stream";
    if (method.server_streaming()) call += " >stream";
    calls.push_back(call);
  }
  EXPECT_THAT(calls, ::testing::UnorderedElementsAre(
                         "Describe", "ReadPositions >stream", "CheckPositions", "CountPositions",
                         "Scan <stream >stream", "ListVectors", "Combine <stream >stream"));
}

// Clients and proxies may repeat a call that is marked so, and may only mark unary ones.
TEST_F(ContractTest, UnaryReadsHaveNoSideEffects) {
  ASSERT_NE(Service(), nullptr);
  for (int i = 0; i < Service()->method_count(); ++i) {
    const MethodDescriptor& method = *Service()->method(i);
    const bool unary = !method.client_streaming() && !method.server_streaming();
    EXPECT_EQ(method.options().idempotency_level() == MethodOptions::NO_SIDE_EFFECTS, unary)
        << method.full_name();
  }
}

// The names of the table of reasons, without their prefix and without the one that is never sent.
std::vector<std::string> Reasons(const DescriptorPool& pool) {
  std::vector<std::string> names;
  const EnumDescriptor* type = pool.FindEnumTypeByName("deletionvector.v1.Reason");
  if (type == nullptr) return names;
  for (int i = 0; i < type->value_count(); ++i) {
    const std::string& name = type->value(i)->name();
    EXPECT_EQ(name.rfind("REASON_", 0), 0u) << name;
    if (type->value(i)->number() != 0) names.push_back(name.substr(7));
  }
  return names;
}

TEST_F(ContractTest, ReasonsAreUpperSnakeCaseOfAtMost63) {
  const std::vector<std::string> reasons = Reasons(pool_);
  EXPECT_GE(reasons.size(), 40u);
  const std::regex form("[A-Z][A-Z0-9]*(_[A-Z0-9]+)*");
  for (const std::string& reason : reasons) {
    EXPECT_LE(reason.size(), 63u) << reason;
    EXPECT_TRUE(std::regex_match(reason, form)) << reason;
  }
}

// What the server can send and what the contract lists are the same names.
TEST_F(ContractTest, ReasonsAreThoseOfTheServer) {
  std::ifstream in(DV_REASON_HEADER);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(text.empty()) << DV_REASON_HEADER;
  std::vector<std::string> constants;
  const std::regex constant("absl::string_view k\\w+ =\\s*\"(\\w+)\"");
  for (std::sregex_iterator i(text.begin(), text.end(), constant), end; i != end; ++i) {
    constants.push_back((*i)[1]);
  }
  EXPECT_THAT(constants, ::testing::UnorderedElementsAreArray(Reasons(pool_)));
}

}  // namespace
