// Controls access to a filter while a long call of another thread has released the GIL.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_GATE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_GATE_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <list>
#include <stdexcept>
#include <thread>

namespace tamis::python {

// Returns work(), which calls a function of Python's C interface that may wait for the GIL. When
// the interpreter ends, Python before 3.14 unwinds the stacks of waiting daemon threads, and C++
// would terminate the process. OrStay catches this, and blocks the thread until the process ends,
// as Python 3.14 does. C functions throw nothing else.
template <typename Work>
auto OrStay(const Work& work) {
  try {
    return work();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// Returns callable(arguments...). Runs Python code, and throws what it raises.
template <typename... Arguments>
nanobind::object Call(nanobind::handle callable, const Arguments&... arguments) {
  PyObject* const result = OrStay(
      [&] { return PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr); });
  if (result == nullptr) throw nanobind::python_error();
  return nanobind::steal(result);
}

// Returns the attribute `name` of an object, or an invalid object if the attribute does not exist.
// Runs Python code, and throws what it raises except AttributeError.
inline nanobind::object AttributeIf(nanobind::handle object, const char* name) {
  PyObject* const found = OrStay([&] { return PyObject_GetAttrString(object.ptr(), name); });
  if (found == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nanobind::python_error();
    PyErr_Clear();
  }
  return nanobind::steal(found);
}

// Releases the GIL during its lifetime.
class WithoutGil {
 public:
  // Acquires the GIL during its lifetime, to call Python code.
  class Pause {
   public:
    explicit Pause(WithoutGil& released) : released_(released) { released_.Restore(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
    ~Pause() { released_.state_ = PyEval_SaveThread(); }

   private:
    WithoutGil& released_;
  };

  WithoutGil() noexcept : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { Restore(); }

 private:
  void Restore() {
    OrStay([this] { PyEval_RestoreThread(state_); });
  }

  PyThreadState* state_;
};

// Throws the exception of a signal handler, such as KeyboardInterrupt.
inline void CheckSignals() {
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Number of forks between the first process and this process. The GIL protects the number.
inline int g_forks = 0;

// Allows many readers or one writer. The GIL protects all members, so they are not atomic. A thread
// that holds the gate runs no Python code, so it cannot wait for itself. In a child of fork, the
// gate ignores the threads that held it in the parent, because they do not exist in the child.
class Gate {
 public:
  bool idle() const noexcept { return readers_ == 0 && !writer_; }
  bool writer() const noexcept { return writer_; }

  // Wait until the gate is free for reading, or for a change. Both functions throw the exception of
  // a signal handler. In a child of fork, they throw std::runtime_error if a thread of the parent
  // was changing the filter at the time of the fork.
  void WaitToRead() {
    Wait([this] { return !writer_; });
  }
  void WaitToWrite() {
    Wait([this] { return idle(); });
  }

 private:
  friend class Reading;
  friend class Writing;
  using Clock = std::chrono::steady_clock;

  // Waits in a queue until free() returns true. Other threads may overtake the first in the queue
  // until it has waited for kPatience.
  template <typename Free>
  void Wait(const Free& free) {
    constexpr auto kPatience = std::chrono::milliseconds(2);
    ForgetParent();
    const auto my_turn = [&](const Clock::time_point* since) {
      if (!free()) return false;
      return queue_.empty() || &queue_.front() == since ||
             Clock::now() - queue_.front() < kPatience;
    };
    if (my_turn(nullptr)) return;
    const auto place = queue_.insert(queue_.end(), Clock::now());
    try {
      while (!my_turn(&*place)) Sleep();
    } catch (...) {
      queue_.erase(place);
      throw;
    }
    queue_.erase(place);
  }

  static void Sleep() {
    {
      const WithoutGil released;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    CheckSignals();
  }

  void ForgetParent() {
    if (forks_ == g_forks) return;
    if (writer_) {
      throw std::runtime_error(
          "another thread was changing the filter when this process was forked: read the filter "
          "from "
          "a file or its bytes, or spawn the process instead");
    }
    readers_ = 0;
    queue_.clear();
    forks_ = g_forks;
  }

  int readers_ = 0;
  bool writer_ = false;
  int forks_ = g_forks;
  std::list<Clock::time_point> queue_;  // the start of each wait
};

// Waits until `changed` is free for a change and `read` is free for reading. Does not hold one gate
// while it waits for the other. So two threads with the gates in opposite roles cannot deadlock.
inline void WaitForBoth(Gate& changed, Gate& read) {
  do {
    changed.WaitToWrite();
    read.WaitToRead();  // other threads may enter `changed` during this wait
  } while (!changed.idle());
}

// Selects the constructors that do not wait. They require that the gate is free.
struct AtOnce {};

// Reading and Writing hold the gate during their lifetime. Create and destroy them with the GIL.
class Reading {
 public:
  explicit Reading(Gate& gate) : gate_(gate) {
    gate_.WaitToRead();
    ++gate_.readers_;
  }
  Reading(Gate& gate, AtOnce) noexcept : gate_(gate) { ++gate_.readers_; }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { --gate_.readers_; }

 private:
  Gate& gate_;
};

class Writing {
 public:
  explicit Writing(Gate& gate) : gate_(gate) {
    gate_.WaitToWrite();
    gate_.writer_ = true;
  }
  Writing(Gate& gate, AtOnce) noexcept : gate_(gate) { gate_.writer_ = true; }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() { gate_.writer_ = false; }

 private:
  Gate& gate_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_GATE_H_
