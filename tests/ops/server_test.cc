#include "server/ops/server.h"

#include <gmock/gmock.h>
#include <grpc/grpc.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/testing/bug_vectors.h"
#include "tests/testing/status_matchers.h"

namespace dv::ops {
namespace {

namespace pb = ::deletionvector::v1;
using dv::testing::HasCode;
using dv::testing::IsOk;
using dv::testing::StatusIs;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::HasSubstr;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dv-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~ServerTest() override { std::filesystem::remove_all(folder_); }

  // Who lets go of gRPC last may wait 10 s for its poller: held to the end of the process.
  static void SetUpTestSuite() { grpc_init(); }

  static ServerOptions Listen(const std::string& addresses) {
    ServerOptions options;
    options.listen = *ParseAddressList(addresses);
    options.worker_threads = 1;
    return options;
  }

  static std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
    return grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  }

  static grpc::Status Describe(const std::shared_ptr<grpc::Channel>& channel) {
    pb::DescribeRequest request;
    request.mutable_vector()->set_inline_(dv::testing::BugVectorBytes("A2"));
    pb::DescribeResponse response;
    grpc::ClientContext context;
    return pb::DeletionVectorService::NewStub(channel)->Describe(&context, request, &response);
  }

  std::string folder_;
};

TEST_F(ServerTest, ServesAllItsAddresses) {
  const std::string path = folder_ + "/dv.sock";
  auto server = Server::Start(Listen("127.0.0.1:0,unix:" + path));
  ASSERT_THAT(server, IsOk());
  ASSERT_EQ((*server)->addresses().size(), 2u);
  EXPECT_NE((*server)->addresses()[0].port, 0);
  for (const Address& address : (*server)->addresses()) {
    const grpc::Status status = Describe(Connect(address.ToString()));
    EXPECT_TRUE(status.ok()) << address.ToString() << ": " << status.error_message();
  }
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  (*server)->Stop(absl::Seconds(1));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ServerTest, SetsThePermissionsOfSockets) {
  const std::string path = folder_ + "/dv.sock";
  ServerOptions options = Listen("unix:" + path);
  options.socket_mode = 0666;
  auto server = Server::Start(options);
  ASSERT_THAT(server, IsOk());
  struct stat file {};
  ASSERT_EQ(stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0666u);
}

TEST_F(ServerTest, RefusesAddressesInUse) {
  const std::string path = folder_ + "/dv.sock";
  auto server = Server::Start(Listen("127.0.0.1:0,unix:" + path));
  ASSERT_THAT(server, IsOk());
  for (const Address& address : (*server)->addresses()) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(Server::Start(Listen(address.ToString())),
                StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(address.ToString())));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
    EXPECT_TRUE(Describe(Connect(address.ToString())).ok()) << "the first goes on";
  }
}

TEST_F(ServerTest, SaysHowItIs) {
  auto server = Server::Start(Listen("127.0.0.1:0"));
  ASSERT_THAT(server, IsOk());
  const auto channel = Connect((*server)->addresses()[0].ToString());
  const auto stub = Health::NewStub(channel);
  for (const std::string service : {"", kServiceName}) {
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    grpc::ClientContext context;
    ASSERT_TRUE(stub->Check(&context, request, &response).ok());
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << service;
  }
  HealthCheckRequest unknown;
  unknown.set_service("no.such.Service");
  HealthCheckResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(stub->Check(&context, unknown, &response).error_code(), grpc::StatusCode::NOT_FOUND);

  // A watcher sees the end coming.
  grpc::ClientContext watch;
  HealthCheckRequest request;
  request.set_service(kServiceName);
  const auto reader = stub->Watch(&watch, request);
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  std::thread stopper([&] { (*server)->Stop(absl::Milliseconds(500)); });
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  watch.TryCancel();
  stopper.join();
}

TEST_F(ServerTest, StopsWithAnOpenScan) {
  auto server = Server::Start(Listen("127.0.0.1:0"));
  ASSERT_THAT(server, IsOk());
  const auto stub =
      pb::DeletionVectorService::NewStub(Connect((*server)->addresses()[0].ToString()));
  // One has nothing to do and ends at once; the other waits for chunks and is cancelled.
  grpc::ClientContext idle_context;
  const auto idle = stub->Scan(&idle_context);
  pb::ScanRequest open;
  open.mutable_open()->add_vectors()->mutable_vector()->set_inline_(
      dv::testing::BugVectorBytes("A2"));
  ASSERT_TRUE(idle->Write(open));
  pb::ScanResponse response;
  ASSERT_TRUE(idle->Read(&response));
  grpc::ClientContext waiting_context;
  const auto waiting = stub->Scan(&waiting_context);
  open.mutable_open()->mutable_vectors(0)->mutable_vector()->mutable_chunked()->set_total_size(5);
  ASSERT_TRUE(waiting->Write(open));
  std::thread stopper([&] { (*server)->Stop(absl::Milliseconds(700)); });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(idle->Read(&response));
  EXPECT_EQ(idle->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(600));
  EXPECT_FALSE(waiting->Read(&response));
  EXPECT_FALSE(waiting->Finish().ok());
  stopper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
}

TEST_F(ServerTest, RefusesCompressedRequests) {
  auto server = Server::Start(Listen("127.0.0.1:0"));
  ASSERT_THAT(server, IsOk());
  const auto stub =
      pb::DeletionVectorService::NewStub(Connect((*server)->addresses()[0].ToString()));
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    pb::DescribeRequest request;
    request.mutable_vector()->set_inline_(std::string(100'000, '\0'));
    pb::DescribeResponse response;
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    EXPECT_EQ(stub->Describe(&context, request, &response).error_code(),
              grpc::StatusCode::UNIMPLEMENTED);
  }
}

TEST_F(ServerTest, TakesMessagesUpToItsLimit) {
  ServerOptions options = Listen("127.0.0.1:0");
  options.max_message_bytes = 5 << 20;
  auto server = Server::Start(options);
  ASSERT_THAT(server, IsOk());
  const auto stub =
      pb::DeletionVectorService::NewStub(Connect((*server)->addresses()[0].ToString()));
  pb::DescribeRequest request;
  pb::DescribeResponse response;
  request.mutable_vector()->set_inline_(std::string((5 << 20) - 100, 'x'));
  grpc::ClientContext below;
  EXPECT_EQ(stub->Describe(&below, request, &response).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION)
      << "no deletion vector, but not too large";
  request.mutable_vector()->set_inline_(std::string((5 << 20) + 1, 'x'));
  grpc::ClientContext above;
  EXPECT_EQ(stub->Describe(&above, request, &response).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ServerTest, WriteAddressFileWritesAllOrNothing) {
  const std::string path = folder_ + "/addresses";
  const std::vector<Address> addresses = *ParseAddressList("127.0.0.1:5,unix:/a,[::1]:7");
  ASSERT_THAT(WriteAddressFile(path, addresses), IsOk());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "127.0.0.1:5\nunix:/a\n[::1]:7\n");
  EXPECT_THAT(WriteAddressFile(folder_ + "/no/such/folder", addresses),
              HasCode(absl::StatusCode::kUnavailable));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().string(), path) << "nothing else is left behind";
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

}  // namespace
}  // namespace dv::ops
