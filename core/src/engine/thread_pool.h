// Threads that share the tasks of a call and sleep between calls.
#ifndef TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_
#define TAMIS_CORE_SRC_ENGINE_THREAD_POOL_H_

#include <atomic>
#include <cstddef>
#include <type_traits>

#include "core/src/bulk/change_loop.h"

namespace tamis::detail {

// Thread-safe: calls from several threads run side by side, each with a thread of its own, its
// caller; as long as there are fewer callers than processors, the others go to the call that has
// the fewest tasks left. So a small one does not wait for a large one. Calls on one thread are not
// counted: most of them are over before a worker could leave. None is under way when the pool is
// destroyed.
//
// A child of fork has none of the threads: there the pool starts new ones, or ends without any.
class ThreadPool {
 public:
  // Threads are started by the first call that needs them and kept until the pool is destroyed.
  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  // Calls task(i, thread) for every i in [0, tasks) and returns when all are done. The caller and
  // up to `threads` - 1 others, at most kMaxThreads in all, claim the tasks in ascending order;
  // `thread`, in [0, threads), is different for each of those that work at the same time. Threads
  // that come too late, or that the system refuses to start, leave their share to the others. A
  // task must not call this pool.
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

  std::atomic<Crew*> crew_{nullptr};  // those of the process that called last
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
