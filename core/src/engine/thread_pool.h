// Threads that share the tasks of a call and sleep between calls.
#ifndef TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_
#define TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/src/bulk/change_loop.h"

namespace tamis::detail {

// Thread-safe: calls for several threads take turns. None is under way when it is destroyed.
class ThreadPool {
 public:
  // Threads are started by the first call that needs them and kept until the pool is destroyed.
  ThreadPool() = default;
  ~ThreadPool();

  // Calls task(i, thread) for every i in [0, tasks) and returns when all are done. The caller and
  // up to `threads` - 1 others claim the tasks in ascending order; `thread`, in [0, threads), is
  // different for each of those that work at the same time. Threads that come too late, or that the
  // system refuses to start, leave their share to the others. A task must not call this pool.
  template <typename Task>
  void ParallelFor(size_t tasks, unsigned threads, const Task& task) {
    static_assert(std::is_nothrow_invocable_v<const Task&, size_t, unsigned>);
    Job job;
    job.task = &task;
    job.call = [](const void* object, size_t i, unsigned thread) noexcept {
      (*static_cast<const Task*>(object))(i, thread);
    };
    job.tasks = tasks;
    job.threads = threads;
    Run(job);
  }

 private:
  struct Job {
    void (*call)(const void* object, size_t i, unsigned thread) noexcept = nullptr;
    const void* task = nullptr;
    size_t tasks = 0;
    unsigned threads = 1;
    std::atomic<size_t> next{0};  // the first task that is not claimed
    unsigned joined = 1;          // threads that have come, the caller included; under mutex_
    unsigned running = 0;         // those of them that still work, without the caller; under mutex_
  };

  void Run(Job& job);
  void StartWorkers(unsigned wanted);
  void Work();
  static void ClaimTasks(Job& job, unsigned thread) noexcept;

  std::mutex turn_;   // held by the call that runs
  std::mutex mutex_;  // guards what follows, save workers_, which belongs to the call that runs
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* job_ = nullptr;
  bool stopping_ = false;
  std::vector<std::jthread> workers_;  // last: joined while the members above are still there
};

// The threads of a pool that share one call.
class PoolWorkers final : public Workers {
 public:
  PoolWorkers(ThreadPool& pool, unsigned threads) : pool_(pool), threads_(threads) {}

  unsigned threads() const noexcept override { return threads_; }
  void ForEachTask(size_t tasks, FunctionRef<void(size_t, unsigned)> work) override {
    pool_.ParallelFor(tasks, threads_,
                      [&](size_t task, unsigned thread) noexcept { work(task, thread); });
  }

 private:
  ThreadPool& pool_;
  unsigned threads_;
};

}  // namespace tamis::detail

#endif  // TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_
