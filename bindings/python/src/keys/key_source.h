// Many keys, as an object of Python: in batches of the forms that the library takes.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_

#include <nanobind/nanobind.h>
#include <tamis/keys.h>
#include <tamis/time_keys.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tamis::python {

namespace nb = nanobind;

// Keys of a call that are looked at without a pause for signals: about a second's work.
inline constexpr size_t kSliceKeys = size_t{1} << 24;
// Keys that are converted at a time, where they are not in one of the library's forms.
inline constexpr size_t kConvertedKeys = size_t{1} << 17;

// Whether floating-point and decimal numbers are handed over or refused. The first come as integers
// that have their bits, the second as strings of the bytes of a little-endian integer.
enum class Numbers : uint8_t { kIntegers, kBitsToo };

class KeySource {
 public:
  virtual ~KeySource() = default;

  // Sets `keys` to the next of them, which stay valid until the next call. False after the last.
  // Called with the GIL. May run code of Python, and throws what that raises, ValueError and
  // TypeError for what are no keys.
  virtual bool Next(Keys& keys) = 0;

  // How many there are, if that is known beforehand.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }

  // The type of the keys as the C data interface of Arrow has it, if they come from there; else "".
  virtual std::string format() const { return {}; }
};

// An error among keys that are read one by one is raised when those before it are done: they are
// in, as with update() of a set.
class LateError {
 public:
  // Calls read(), which reads the next batch into memory of its own. If it throws, and has read
  // something by then, as size() says, that is the batch.
  template <typename Read, typename Size>
  void Catch(const Read& read, const Size& size) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    try {
      read();
    } catch (...) {
      if (size() == 0) throw;
      error_ = std::current_exception();
    }
  }

  bool pending() const { return error_ != nullptr; }

 private:
  std::exception_ptr error_;
};

// The whole of what was handed over, in slices of kSliceKeys.
class Slices {
 public:
  Slices() = default;
  explicit Slices(const Keys& keys) : keys_(keys) {}
  bool Next(Keys& keys) {
    if (at_ == keys_.size()) return false;
    const size_t n = std::min(kSliceKeys, keys_.size() - at_);
    keys = keys_.Slice(at_, n);
    at_ += n;
    return true;
  }

 private:
  Keys keys_;
  size_t at_ = 0;
};

// Bits of which keys are valid, made one by one. Most have no nulls: bits begin with the first one.
class Validity {
 public:
  void Clear() {
    bits_.clear();
    size_ = 0;
  }
  void Add(bool valid) {
    if (valid && bits_.empty()) {
      ++size_;
    } else {
      AddBit(valid);
    }
  }
  // nullptr if all are.
  const uint8_t* bits() const { return bits_.empty() ? nullptr : bits_.data(); }

 private:
  void AddBit(bool valid) {
    bits_.resize(size_ / 8 + 1, 0xFF);
    if (!valid) bits_[size_ / 8] &= static_cast<uint8_t>(~(1u << (size_ % 8)));
    ++size_;
  }

  std::vector<uint8_t> bits_;
  size_t size_ = 0;
};

// A function of tamis/_kinds.py, which is imported once: at the end of a process it cannot be.
nb::handle InKinds(const char* name);

// The keys of any object that has some: arrays, Arrow data, iterables. Throws TypeError for others.
// Numbers::kBitsToo is for columns of Arrow alone.
std::unique_ptr<KeySource> MakeKeySource(nb::handle object, Numbers numbers = Numbers::kIntegers);

// One source for each way to hand them over. nullptr if the object has no such way.
std::unique_ptr<KeySource> SourceOfBuffer(nb::handle object);
std::unique_ptr<KeySource> SourceOfTimes(nb::handle object, Numbers numbers);
std::unique_ptr<KeySource> SourceOfArrow(nb::handle object, Numbers numbers);
std::unique_ptr<KeySource> SourceOfIterable(nb::handle object);

// Integers that count a unit, as times.
std::unique_ptr<KeySource> TimesFrom(std::unique_ptr<KeySource> counts, TimeUnit unit);

// Throws TypeError if `keys` are times and the filter has other keys only, or the other way around.
// Such a filter would answer "no" even to the same times as integers.
void RequireSameSort(const Keys& keys, KeyTypes in_filter);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_
