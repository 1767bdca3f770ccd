// Threads that share the tasks of a call and sleep between calls.
#ifndef TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_
#define TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "core/src/bulk/change_loop.h"

namespace tamis::detail {

// Thread-safe. Calls from several threads run at the same time. The calling thread works on its own
// call. If there are fewer callers than processors, workers of the pool help the call that has the
// fewest tasks left. So a small call does not wait for a large one. Calls on one thread are not
// counted, because most of them are over before a worker could leave another call. No call may be
// running when the pool is destroyed.
//
// A child process of fork does not have the threads. In the child, the pool starts new threads when
// it needs them, and can be destroyed even if it has started none.
class ThreadPool {
 public:
  // The first call that needs threads starts them. The threads exist until the pool is destroyed.
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Calls task(i, thread) for every i in [0, tasks), and returns when all are done. `task` must not
  // call this pool. The caller and up to `threads` - 1 workers, at most kMaxThreads in all, claim
  // the tasks in ascending order. `thread` is in [0, threads), and different for all threads that
  // work at the same time. If threads come too late, or if the system refuses to start them, the
  // other threads run all tasks.
  template <typename Task>
  void ParallelFor(size_t tasks, unsigned threads, const Task& task) {
    static_assert(std::is_nothrow_invocable_v<const Task&, size_t, unsigned>);
    const auto call = [](const void* object, size_t i, unsigned thread) noexcept {
      (*static_cast<const Task*>(object))(i, thread);
    };
    Run(tasks, threads, call, &task);
  }

 private:
  class Crew;
  using Call = void(const void* task, size_t i, unsigned thread) noexcept;

  void Run(size_t tasks, unsigned threads, Call* call, const void* task);
  Crew* CrewOfThisProcess() noexcept;

  // The crew of the process that last used the pool. A child of fork makes its own crew.
  std::atomic<Crew*> crew_{nullptr};
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
