// The answer of a call with many keys: an array that owns its memory.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ANSWER_H_
#define TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ANSWER_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

namespace tamis::python {

namespace nb = nanobind;

// A block of memory that can grow. New bytes are not initialized.
class RawMemory {
 public:
  RawMemory() = default;
  RawMemory(const RawMemory&) = delete;
  RawMemory& operator=(const RawMemory&) = delete;
  ~RawMemory() { std::free(data_); }

  // Makes room for `bytes` bytes. Keeps the contents. Throws std::bad_alloc.
  void Reserve(size_t bytes) {
    if (bytes > bytes_) Resize(bytes < 2 * bytes_ ? 2 * bytes_ : bytes);
  }
  void Resize(size_t bytes) {
    void* const data = std::realloc(data_, bytes > 0 ? bytes : 1);
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    bytes_ = bytes;
  }
  template <typename T>
  T* As() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

struct Answer {
  enum class Output : uint8_t {
    kBools,    // a byte per key, 0 or 1
    kIndices,  // int64 indices of keys, ascending
  };

  Output output = Output::kBools;
  size_t size = 0;  // number of rows of a table
  std::shared_ptr<RawMemory> memory = std::make_shared<RawMemory>();
  std::optional<size_t> columns = {};  // bools only: columns of a table stored by row

  size_t item_bytes() const noexcept { return output == Output::kBools ? 1 : sizeof(int64_t); }
  size_t items() const noexcept { return size * columns.value_or(1); }
};

void DefineAnswer(nb::module_& m);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_QUERIES_ANSWER_H_
