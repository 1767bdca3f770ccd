// The same keys in both interfaces, in every layout.
#ifndef TAMIS_TESTS_C_KEY_SETS_H_
#define TAMIS_TESTS_C_KEY_SETS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/c.h"
#include "tamis/keys.h"
#include "tamis/time_keys.h"

namespace tamis {

// n keys of every layout, from element `offset` on, in arrays with junk before them.
class KeySets {
 public:
  struct Set {
    std::string name;
    tamis_keys c;
    // The same keys in C++, in another layout if the C++ library does not have this one.
    Keys cpp;
  };

  KeySets(size_t n, uint64_t offset, bool with_nulls, uint64_t seed);
  KeySets(const KeySets&) = delete;
  KeySets& operator=(const KeySets&) = delete;

  const std::vector<Set>& sets() const { return sets_; }

 private:
  template <typename T>
  void AddIntegers(const char* name, uint32_t layout, std::vector<T>& values,
                   std::vector<int64_t>& widened);
  void AddStrings();
  void AddViews(const Keys& cpp);
  void AddTimes();
  void Add(const char* name, tamis_keys c, const Keys& cpp);

  size_t n_;
  uint64_t offset_;
  uint64_t seed_;
  std::vector<uint8_t> validity_;  // empty: no nulls
  std::vector<uint8_t> u8_;
  std::vector<int8_t> i8_;
  std::vector<uint16_t> u16_;
  std::vector<int16_t> i16_;
  std::vector<uint32_t> u32_;
  std::vector<int32_t> i32_;
  std::vector<uint64_t> u64_, hashes_;
  std::vector<int64_t> i64_;
  std::vector<int64_t> widened_[8];
  std::vector<int64_t> times_;
  std::vector<TimeKeys> time_keys_;
  std::vector<std::string> strings_;
  std::vector<const char*> pointers_;
  std::vector<uint64_t> lengths_;
  std::string bytes_;
  std::vector<int32_t> offsets32_;
  std::vector<int64_t> offsets64_;
  std::string views_, view_bytes_[2];
  const char* view_buffers_[2];
  uint64_t view_lengths_[2];
  std::string fixed_, int32s_;
  std::vector<Set> sets_;
};

}  // namespace tamis

#endif  // TAMIS_TESTS_C_KEY_SETS_H_
