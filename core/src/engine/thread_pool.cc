#include "core/src/engine/thread_pool.h"

#include <algorithm>
#include <bitset>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/src/os/process.h"
#include "tamis/engine/engine_threads.h"

namespace tamis::detail {
namespace {

struct Job {
  size_t left() const noexcept {
    return tasks - std::min(tasks, next.load(std::memory_order_relaxed));
  }
  // Claims and runs one task. Returns false if no task was left to claim.
  bool RunOne(unsigned thread) noexcept {
    const size_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i < tasks) call(task, i, thread);
    return i < tasks;
  }

  void (*call)(const void* object, size_t i, unsigned thread) noexcept;
  const void* task;
  size_t tasks;
  unsigned threads;
  std::atomic<size_t> next{0};  // the first unclaimed task

  // The mutex of the crew guards the members below.
  std::bitset<kMaxThreads> numbers = {1};  // threads that work on this job; the caller is 0
  unsigned running = 0;                    // number of them, without the caller
  Job* following = nullptr;
};

}  // namespace

// The threads, and the state that they share with callers.
class ThreadPool::Crew {
 public:
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }

  bool IsOfThisProcess() const noexcept { return mark_.IsOfThisProcess(); }

  // Gives up a crew of the parent process, because its threads and locks cannot be ended here.
  // Keeps the crew reachable, so that leak checkers do not report it.
  void Abandon() noexcept {
    static std::atomic<Crew*> abandoned{nullptr};
    for (before_ = abandoned.load(); !abandoned.compare_exchange_weak(before_, this);) {
    }
  }

  // The caller sees the writes of all tasks, because each worker locks mutex_ when it leaves.
  void Run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      StartWorkers(job.threads - 1);
      job.following = first_;
      first_ = &job;
      num_jobs_.fetch_add(1, std::memory_order_relaxed);
    }
    for (unsigned i = 1; i < job.threads; ++i) wake_.notify_one();
    while (job.RunOne(0)) {
    }
    std::unique_lock lock(mutex_);
    // No worker joins from here on. So `job` may be destroyed when the workers on it are done.
    Job** link = &first_;
    while (*link != &job) link = &(*link)->following;
    *link = job.following;
    num_jobs_.fetch_sub(1, std::memory_order_relaxed);
    if (first_ != nullptr) wake_.notify_one();  // this thread leaves room for another one
    idle_.wait(lock, [&] { return job.running == 0; });
  }

 private:
  void StartWorkers(unsigned wanted) {
    try {
      while (workers_.size() < wanted) workers_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {  // a limit of the process or the machine
    } catch (const std::bad_alloc&) {
    }
  }

  // Returns the job with the fewest tasks left, among those that can use another thread. Returns
  // nullptr if no job can, or if enough threads work already: at least as many callers and workers
  // as processors, and as the largest number of threads that a call requested. More threads would
  // wait for each other. With two callers and one worker on two processors, a small call beside a
  // large one took ten times as long as alone at the 99th percentile (bench/NOTES.md).
  Job* Best() const noexcept {
    size_t room = processors_;
    for (Job* job = first_; job != nullptr; job = job->following) {
      room = std::max<size_t>(room, job->threads);
    }
    if (num_jobs_.load(std::memory_order_relaxed) + working_ >= room) return nullptr;
    Job* best = nullptr;
    for (Job* job = first_; job != nullptr; job = job->following) {
      const size_t left = job->left();
      if (left == 0 || job->running + 1 >= job->threads) continue;
      if (best == nullptr || left < best->left()) best = job;
    }
    return best;
  }

  void Work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* job = nullptr;
      wake_.wait(lock, [&] { return stopping_ || (job = Best()) != nullptr; });
      if (stopping_) return;
      unsigned thread = 1;
      while (job->numbers[thread]) ++thread;
      job->numbers.set(thread);
      ++job->running;
      ++working_;
      lock.unlock();
      // With other calls, claims only one task, because another call may then need this thread
      // more.
      while (job->RunOne(thread) && num_jobs_.load(std::memory_order_relaxed) == 1) {
      }
      lock.lock();
      job->numbers.reset(thread);
      --working_;
      if (--job->running == 0) idle_.notify_all();
    }
  }

  const os::ProcessMark mark_{};
  const size_t processors_ = os::AvailableProcessors();
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  std::condition_variable idle_;
  Job* first_ = nullptr;             // the jobs that callers work on
  size_t working_ = 0;               // workers that have a job
  std::atomic<size_t> num_jobs_{0};  // also read without the mutex
  bool stopping_ = false;
  Crew* before_ = nullptr;             // the crew that was abandoned before this one
  std::vector<std::jthread> workers_;  // last, so that the members above outlive the threads
};

ThreadPool::~ThreadPool() {
  Crew* const crew = crew_.load(std::memory_order_acquire);
  if (crew == nullptr) return;
  if (crew->IsOfThisProcess()) {
    delete crew;
  } else {
    crew->Abandon();
  }
}

// Returns nullptr if a crew cannot be allocated.
ThreadPool::Crew* ThreadPool::CrewOfThisProcess() noexcept {
  Crew* crew = crew_.load(std::memory_order_acquire);
  if (crew != nullptr && crew->IsOfThisProcess()) return crew;
  auto* const fresh = new (std::nothrow) Crew;
  if (fresh == nullptr) return nullptr;
  if (crew_.compare_exchange_strong(crew, fresh, std::memory_order_acq_rel)) {
    if (crew != nullptr) crew->Abandon();
    return fresh;
  }
  delete fresh;
  return crew;  // another thread of this process was first
}

void ThreadPool::Run(size_t tasks, unsigned threads, Call* call, const void* task) {
  Job job{call, task, tasks, std::min(threads, kMaxThreads)};
  Crew* const crew = threads <= 1 ? nullptr : CrewOfThisProcess();
  if (crew != nullptr) return crew->Run(job);
  while (job.RunOne(0)) {
  }
}

}  // namespace tamis::detail
