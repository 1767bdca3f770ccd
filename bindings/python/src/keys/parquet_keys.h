// Converts typed Python keys to keys of tamis::parquet.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_PARQUET_KEYS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_PARQUET_KEYS_H_

#include <nanobind/nanobind.h>
#include <tamis/keys.h>
#include <tamis/parquet/column_keys.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::python {

namespace nb = nanobind;

// A copy of the keys without nulls. Filters of Parquet columns contain no nulls.
class ParquetKeys {
 public:
  // `format` is the Arrow format of the keys, as in the C data interface. It is "" if x is Arrow
  // data, which contains its format. For floating-point numbers, x contains integers with the same
  // bits. Throws TypeError for objects that are not keys, ValueError for dates and times of day out
  // of range, and OverflowError for timestamps that do not fit 64 bits.
  ParquetKeys(nb::handle x, std::string format);
  ParquetKeys(const ParquetKeys&) = delete;
  ParquetKeys& operator=(const ParquetKeys&) = delete;

  parquet::KeyList list() const;
  // Converts an index in the list to an index in x.
  uint64_t IndexOf(uint32_t i) const { return indices_ ? (*indices_)[i] : i; }

 private:
  // The target of the conversion.
  enum class Conversion : uint8_t {
    kSigned,
    kUnsigned,
    kReal,
    kTimestamps,
    kDates,
    kTimes,
    kBytes,
    kText,
    kDecimals
  };

  void SetType(const std::string& format);
  void Add(const Keys& keys, uint64_t first);
  void AddInteger(uint64_t bits);
  void AddReal(uint64_t bits);
  void AddTimestamp(int64_t value);
  void AddDate(int64_t value);
  void AddTime(int64_t value);
  void AddString(std::string_view text);

  Conversion conversion_ = Conversion::kSigned;
  uint32_t width_ = 8;      // bytes of a value of kReal
  int64_t per_second_ = 1;  // counts in a second, for kTimestamps and kTimes
  int64_t per_day_ = 1;     // counts in a day, for kDates
  int scale_ = 0;           // scale of kDecimals
  parquet::TimeUnit unit_ = parquet::TimeUnit::kMillis;
  uint64_t size_ = 0;
  std::vector<uint64_t> integers_;
  std::vector<double> reals_;
  std::string bytes_;
  std::vector<size_t> ends_;  // where each string ends in bytes_
  std::vector<std::string_view> strings_;
  std::optional<std::vector<uint64_t>> indices_;  // set at the first null
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_PARQUET_KEYS_H_
