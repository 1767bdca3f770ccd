// Who may use a filter while a long call of another thread has given up the GIL.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_GATE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_GATE_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

namespace tamis::python {

// Throws what a signal handler has raised, such as KeyboardInterrupt.
inline void CheckSignals() {
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Many readers or one writer. All members are read and written with the GIL, so they need no atomic
// operations. It is never held while Python code may run: so no thread can wait for itself.
class Gate {
 public:
  bool idle() const noexcept { return readers_ == 0 && !writer_; }
  bool writer() const noexcept { return writer_; }

  // Each throws what a signal handler raises meanwhile.
  void WaitToRead() const {
    while (writer_) Sleep();
  }
  void WaitToWrite() const {
    while (!idle()) Sleep();
  }

 private:
  friend class Reading;
  friend class Writing;

  static void Sleep() {
    {
      nanobind::gil_scoped_release release;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    CheckSignals();
  }

  int readers_ = 0;
  bool writer_ = false;
};

// Both are made and destroyed with the GIL.
class Reading {
 public:
  explicit Reading(Gate& gate) : gate_(gate) {
    gate_.WaitToRead();
    ++gate_.readers_;
  }
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
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing() { gate_.writer_ = false; }

 private:
  Gate& gate_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_GATE_H_
