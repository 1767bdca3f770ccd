// Many keys in a Python object, read in batches of layouts of the library.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_

#include <nanobind/nanobind.h>
#include <tamis/hash.h>
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

// Largest number of keys between two checks for signals: about one second of work.
inline constexpr size_t kSliceKeys = size_t{1} << 24;
// Number of keys that are converted at a time, if the library does not support their layout.
inline constexpr size_t kConvertedKeys = size_t{1} << 17;
// Number of keys in a batch of keys that are read one by one for a filter in memory. With strings
// of about 16 bytes, such a batch stays in the second level of caches.
inline constexpr size_t kCachedKeys = size_t{1} << 13;

// Selects whether a source refuses floating-point and decimal numbers (kIntegers) or delivers them
// (kBitsToo). A floating-point number is delivered as an integer with the same bits, and a decimal
// number as a string with the bytes of a little-endian integer.
enum class Numbers : uint8_t { kIntegers, kBitsToo };

class KeySource {
 public:
  virtual ~KeySource() = default;

  // Sets `keys` to the next batch, which stays valid until the next call. Returns false after the
  // last one. Requires the GIL. May run Python code, and throws what it raises. Throws ValueError
  // and TypeError for objects that are not keys.
  virtual bool Next(Keys& keys) = 0;

  // Returns the number of keys, if it is known in advance.
  virtual std::optional<uint64_t> size() const { return std::nullopt; }

  // Returns the Arrow format of the keys, as in the C data interface. Returns "" for keys that are
  // not Arrow data.
  virtual std::string format() const { return {}; }
};

// If reading keys one by one fails, delays the error until the keys before it are processed. So
// these keys are inserted, as in update() of a set.
class LateError {
 public:
  // Calls read(), which reads the next batch. If read() throws and size() is not 0, the keys read
  // so far are the batch, and the next call throws the error.
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

// Yields all keys of an object in slices of kSliceKeys.
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

// A validity bitmap, built bit by bit. Allocates nothing before the first null, because most
// batches have no nulls.
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
  // Returns nullptr if all keys are valid.
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

// Returns the function or class `name` of tamis/_kinds.py. Imports the module only once, because
// imports fail when the interpreter ends.
nb::handle InKinds(const char* name);

// Returns the keys of an object: an array, Arrow data or an iterable. Throws TypeError for other
// objects. Use Numbers::kBitsToo only for Arrow columns. `gathered` is the largest number of keys
// in a batch whose keys are read one by one.
std::unique_ptr<KeySource> MakeKeySource(nb::handle object, Numbers numbers = Numbers::kIntegers,
                                         size_t gathered = kConvertedKeys);

// Returns the keys of an object for a filter with this hash. The object may also be a
// tamis.join.ColumnHashes. Throws Error(kInvalidArgument) if its hash is not `hash`.
std::unique_ptr<KeySource> KeysOrHashesOf(nb::handle object, const HashSpec& hash);

// Return a source that reads the object by one protocol, or nullptr if the object does not support
// the protocol.
std::unique_ptr<KeySource> SourceOfBuffer(nb::handle object, size_t gathered = kConvertedKeys);
std::unique_ptr<KeySource> SourceOfTimes(nb::handle object, Numbers numbers);
std::unique_ptr<KeySource> SourceOfArrow(nb::handle object, Numbers numbers);
std::unique_ptr<KeySource> SourceOfIterable(nb::handle object, size_t gathered);

// Returns a source of times. `counts` yields integers that count `unit`.
std::unique_ptr<KeySource> TimesFrom(std::unique_ptr<KeySource> counts, TimeUnit unit);

// Throws TypeError if `keys` are times and the filter contains only other keys, or if the filter
// contains only times and `keys` are not times. Times and integers are hashed differently, so the
// filter would answer "no" even for times that were inserted as integers.
void RequireSameSort(const Keys& keys, KeyTypes in_filter);

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_KEY_SOURCE_H_
