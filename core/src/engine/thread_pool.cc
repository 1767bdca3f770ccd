#include "core/src/engine/thread_pool.h"

#include <new>
#include <system_error>

namespace tamis::detail {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::StartWorkers(unsigned wanted) {
  try {
    while (workers_.size() < wanted) workers_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {  // the limit of the process or the machine
  } catch (const std::bad_alloc&) {
  }
}

void ThreadPool::ClaimTasks(Job& job, unsigned thread) noexcept {
  for (size_t i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.tasks;) {
    job.call(job.task, i, thread);
  }
}

// What tasks wrote reaches the caller through mutex_, which each worker takes when it has finished.
void ThreadPool::Run(Job& job) {
  if (job.threads <= 1) return ClaimTasks(job, 0);
  const std::lock_guard turn(turn_);
  StartWorkers(job.threads - 1);
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
  }
  for (unsigned i = 1; i < job.threads; ++i) wake_.notify_one();
  ClaimTasks(job, 0);
  std::unique_lock lock(mutex_);
  job_ = nullptr;  // nobody joins from here on, so `job` may go once those that have are done
  idle_.wait(lock, [&] { return job.running == 0; });
}

void ThreadPool::Work() {
  std::unique_lock lock(mutex_);
  const auto wanted = [&] {
    return job_ != nullptr && job_->joined < job_->threads &&
           job_->next.load(std::memory_order_relaxed) < job_->tasks;
  };
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || wanted(); });
    if (stopping_) return;
    Job& job = *job_;
    const unsigned thread = job.joined++;
    ++job.running;
    lock.unlock();
    ClaimTasks(job, thread);
    lock.lock();
    if (--job.running == 0) idle_.notify_one();
  }
}

}  // namespace tamis::detail
