// Threads for work that is too long for a reaction thread of gRPC.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dv::rpc {

// WorkerPool
//
// A fixed number of threads that run tasks in the order in which they were scheduled. Each call has
// at most a few tasks scheduled at a time, so the queue is bounded by the number of calls. Safe for
// use by several threads.
class WorkerPool {
 public:
  // Starts `threads` threads, at least one.
  explicit WorkerPool(int threads);

  // Runs what is scheduled, then ends the threads.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Schedules a task. It must not throw.
  void Schedule(std::function<void()> task);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dv::rpc
