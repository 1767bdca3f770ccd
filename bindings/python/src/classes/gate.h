// Who may use a filter while a long call of another thread has given up the GIL.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_GATE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_GATE_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <list>
#include <stdexcept>
#include <thread>

namespace tamis::python {

// Calls work(), a function of Python's C interface, which may wait for the GIL. When the
// interpreter ends, Python before 3.14 ends daemon threads that wait for it by unwinding their
// stacks, and C++ ends the process for that: such a thread stays here instead until the process is
// gone, as it does from Python 3.14 on. C throws nothing else.
template <typename Work>
auto OrStay(const Work& work) {
  try {
    return work();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

// What callable(arguments...) returns, which runs code of Python. Throws what that raises.
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

// The thread is without the GIL as long as this is there.
class WithoutGil {
 public:
  // With it again, for a call of code of Python in the middle.
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

// Throws what a signal handler has raised, such as KeyboardInterrupt.
inline void CheckSignals() {
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// How many calls of fork lie between the first process and this one; counted with the GIL.
inline int g_forks = 0;

// Many readers or one writer. All members are read and written with the GIL, so they need no atomic
// operations. It is never held while Python code may run: so no thread can wait for itself. A child
// of fork has none of the other threads, so it waits for none of them.
class Gate {
 public:
  bool idle() const noexcept { return readers_ == 0 && !writer_; }
  bool writer() const noexcept { return writer_; }

  // Each throws what a signal handler raises meanwhile, and std::runtime_error in a child of fork
  // if the filter is as a thread of the parent had changed half of it.
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

  // Waits in a queue, which others may pass by, but not for long.
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
          "another thread was changing the filter when this process was forked: it can be had from "
          "a file or its bytes, or from a child that is spawned");
    }
    readers_ = 0;
    queue_.clear();
    forks_ = g_forks;
  }

  int readers_ = 0;
  bool writer_ = false;
  int forks_ = g_forks;
  std::list<Clock::time_point> queue_;  // since when each waits
};

// Waits until the one can be changed and the other read, to be taken at once: so that two threads
// that do this crosswise cannot wait for each other.
inline void WaitForBoth(Gate& changed, Gate& read) {
  do {
    changed.WaitToWrite();
    read.WaitToRead();  // which may let others take the first
  } while (!changed.idle());
}

// Of a gate that was just waited for, and is not to be waited for again.
struct AtOnce {};

// Both are made and destroyed with the GIL.
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
