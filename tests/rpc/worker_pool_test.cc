#include "server/rpc/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace dv::rpc {
namespace {

TEST(WorkerPool, RunsEverythingBeforeItEnds) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(3);
    for (int i = 0; i < 1000; ++i) pool.Schedule([&done] { ++done; });
  }
  EXPECT_EQ(done, 1000);
}

TEST(WorkerPool, RunsAsManyTasksAtATimeAsItHasThreads) {
  std::mutex mutex;
  std::condition_variable changed;
  int waiting = 0;
  WorkerPool pool(2);
  for (int i = 0; i < 2; ++i) {
    pool.Schedule([&] {
      std::unique_lock<std::mutex> lock(mutex);
      ++waiting;
      changed.notify_all();
      changed.wait(lock, [&] { return waiting == 2; });
    });
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return waiting == 2; });
}

TEST(WorkerPool, TasksMaySchedule) {
  std::atomic<int> done = 0;
  {
    WorkerPool pool(0);
    pool.Schedule([&] { pool.Schedule([&done] { ++done; }); });
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace dv::rpc
