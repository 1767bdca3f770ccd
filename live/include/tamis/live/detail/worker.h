// The thread of a rebuild, or of a watch.
#ifndef TAMIS_LIVE_DETAIL_WORKER_H_
#define TAMIS_LIVE_DETAIL_WORKER_H_

#include <stop_token>
#include <thread>
#include <utility>

#include "tamis/live/detail/fork.h"

namespace tamis::detail {

// A thread that is stopped and joined by the destructor, with two exceptions. If the destructor
// runs on the thread itself, it detaches the thread. In a child of fork, where the thread does not
// exist, it only drops the handle.
class Worker {
 public:
  // Runs work(stop) on the thread. Throws std::system_error if no thread can be started.
  template <typename Work>
  explicit Worker(Work work) : stop_(), thread_(std::move(work), stop_.get_token()) {}
  Worker(Worker&& other) noexcept = default;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker() { LetGo(); }

  void RequestStop() noexcept { stop_.request_stop(); }
  // Waits until the thread ends. Throws Error(kInvalidArgument) on the thread itself and in a child
  // of fork.
  void Join();

 private:
  bool IsCaller() const noexcept { return thread_.get_id() == std::this_thread::get_id(); }
  void LetGo() noexcept;

  ForkMark mark_;
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace tamis::detail

#endif  // TAMIS_LIVE_DETAIL_WORKER_H_
