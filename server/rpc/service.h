// The service: one reactor a call.
#pragma once

#include "deletionvector/v1/deletion_vector_service.grpc.pb.h"
#include "server/rpc/limits.h"
#include "server/rpc/scan_call.h"
#include "server/rpc/worker_pool.h"

namespace dv::rpc {

// Service with the methods that carry vectors as raw bytes.
using RawService = deletionvector::v1::DeletionVectorService::WithRawCallbackMethod_Describe<
    deletionvector::v1::DeletionVectorService::WithRawCallbackMethod_ReadPositions<
        deletionvector::v1::DeletionVectorService::WithRawCallbackMethod_CheckPositions<
            deletionvector::v1::DeletionVectorService::WithRawCallbackMethod_CountPositions<
                deletionvector::v1::DeletionVectorService::WithRawCallbackMethod_Scan<
                    deletionvector::v1::DeletionVectorService::WithCallbackMethod_ListVectors<
                        deletionvector::v1::DeletionVectorService::WithCallbackMethod_Combine<
                            deletionvector::v1::DeletionVectorService::Service>>>>>>>;

// Service
//
// DeletionVectorService over gRPC's callback API. No reaction blocks: long work runs on the pool.
// Must outlive the server that it is registered with; `pool` must outlive it in turn.
class Service final : public RawService {
 public:
  Service(const Limits& limits, WorkerPool& pool)
      : limits_(limits), pool_(pool), scans_(limits_, pool) {}

  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context,
                                     const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReadPositions(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* CheckPositions(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* CountPositions(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Scan(
      grpc::CallbackServerContext* context) override;
  // Both answer UNIMPLEMENTED.
  grpc::ServerUnaryReactor* ListVectors(grpc::CallbackServerContext* context,
                                        const deletionvector::v1::ListVectorsRequest* request,
                                        deletionvector::v1::ListVectorsResponse* response) override;
  grpc::ServerBidiReactor<deletionvector::v1::CombineRequest, deletionvector::v1::CombineResponse>*
  Combine(grpc::CallbackServerContext* context) override;

  // Asks the open Scans to end. To be called when the server stops.
  void Drain() { scans_.Drain(); }

 private:
  const Limits limits_;
  WorkerPool& pool_;
  ScanCalls scans_;
};

}  // namespace dv::rpc
