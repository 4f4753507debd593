#include "server/rpc/service.h"

#include "server/rpc/read_call.h"
#include "server/rpc/request.h"
#include "server/rpc/status.h"
#include "server/rpc/unary_call.h"

namespace dv::rpc {
namespace {

namespace pb = ::deletionvector::v1;

// A Combine stream that ends at once.
class RefusedCombine : public grpc::ServerBidiReactor<pb::CombineRequest, pb::CombineResponse> {
 public:
  RefusedCombine() {
    Finish(
        ToGrpcStatus(NotImplemented("Combine",
                                    "Combine is part of the contract; this server does not have it "
                                    "yet")));
  }

  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerUnaryReactor* Service::Describe(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) {
  return StartDescribe(context, request, response, limits_, pool_);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* Service::ReadPositions(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return StartReadPositions(context, request, limits_, pool_);
}

grpc::ServerUnaryReactor* Service::CheckPositions(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return StartCheckPositions(context, request, response, limits_, pool_);
}

grpc::ServerUnaryReactor* Service::CountPositions(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return StartCountPositions(context, request, response, limits_, pool_);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Service::Scan(
    grpc::CallbackServerContext* context) {
  return scans_.Start(context);
}

grpc::ServerUnaryReactor* Service::ListVectors(grpc::CallbackServerContext* context,
                                               const pb::ListVectorsRequest*,
                                               pb::ListVectorsResponse*) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(NotImplemented(
      "ListVectors", "ListVectors is part of the contract; this server does not have it yet")));
  return reactor;
}

grpc::ServerBidiReactor<pb::CombineRequest, pb::CombineResponse>* Service::Combine(
    grpc::CallbackServerContext*) {
  // Deletes itself in OnDone().
  return new RefusedCombine();
}

}  // namespace dv::rpc
