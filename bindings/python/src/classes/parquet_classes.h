// Functions and a class for tamis/parquet.py. They return plain tuples.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PARQUET_CLASSES_H_
#define TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PARQUET_CLASSES_H_

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "bindings/python/src/classes/gate.h"
#include "bindings/python/src/classes/raised.h"

namespace tamis::python {

namespace nb = nanobind;

void DefineParquet(nb::module_& m);
void DefineParquetAdd(nb::module_& m);

inline std::filesystem::path PathOf(const nb::bytes& path) {
  return std::string(path.c_str(), path.size());
}

// Handles signals, and calls the caller's `progress` function. Used on the thread of the call,
// which has released the GIL. Acquires the GIL at most every 20 ms.
class Attention {
 public:
  explicit Attention(WithoutGil& released, nb::handle progress = nb::none())
      : released_(released), progress_(progress.is_none() ? nb::handle() : progress) {}

  // Throws Raised for an exception of a signal handler or of `progress`.
  void Pay(std::optional<uint64_t> done = std::nullopt) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(20)) return;
    const WithoutGil::Pause held(released_);
    CatchRaised([&] {
      CheckSignals();
      if (done && progress_.is_valid()) Call(progress_, nb::int_(*done));
    });
    last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;

  WithoutGil& released_;
  const nb::handle progress_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_CLASSES_PARQUET_CLASSES_H_
