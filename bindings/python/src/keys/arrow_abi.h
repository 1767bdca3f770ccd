// The structs of Arrow's C data and C stream interfaces, as in their specification
// (arrow.apache.org/docs/format/CDataInterface.html).
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_ABI_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_ABI_H_

#include <cstdint>

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

namespace tamis::python {

// Owns an exported schema or array, and releases it once.
template <typename T>
class Released {
 public:
  Released() = default;
  // Moves *from into this object, and marks *from as released.
  explicit Released(T* from) : value_(*from) { from->release = nullptr; }
  Released(Released&& other) noexcept : value_(other.value_) { other.value_.release = nullptr; }
  Released& operator=(Released&& other) noexcept {
    if (this != &other) {
      Reset();
      value_ = other.value_;
      other.value_.release = nullptr;
    }
    return *this;
  }
  ~Released() { Reset(); }

  void Reset() noexcept {
    if (value_.release != nullptr) value_.release(&value_);
    value_.release = nullptr;
  }
  T* get() noexcept { return &value_; }
  const T& operator*() const noexcept { return value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  T value_ = {};
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_ARROW_ABI_H_
