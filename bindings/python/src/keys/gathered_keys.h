// Collects keys one by one, of one type at a time.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_

#include <tamis/keys.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"

namespace tamis::python {

class GatheredKeys {
 public:
  explicit GatheredKeys(size_t most_keys) : most_keys_(most_keys) {}

  void Clear() {
    size_ = 0;
    integers_.clear();
    num_bytes_ = 0;
    offsets_.assign(1, 0);
    validity_.Clear();
    type_ = OneKey::Type::kNull;
  }
  // Returns whether the batch has enough keys, or enough bytes of strings.
  bool full() const { return size_ >= most_keys_ || num_bytes_ >= kMostBytes; }
  size_t size() const { return size_; }
  // Add a key, and return true. An integer cannot join strings, and a string cannot join integers:
  // such a key begins the next batch, and the functions return false.
  bool Take(const OneKey& key) {
    switch (key.type) {
      case OneKey::Type::kInteger:
        return Take(key.integer);
      case OneKey::Type::kBytes:
        return Take(key.bytes);
      default:
        TakeNull();
        return true;
    }
  }
  bool Take(uint64_t key) {
    if (type_ == OneKey::Type::kBytes) return false;
    type_ = OneKey::Type::kInteger;
    integers_.push_back(key);
    validity_.Add(true);
    ++size_;
    return true;
  }
  bool Take(std::string_view key) {
    if (type_ == OneKey::Type::kInteger) return false;
    type_ = OneKey::Type::kBytes;
    Append(key);
    offsets_.push_back(static_cast<int64_t>(num_bytes_));
    validity_.Add(true);
    ++size_;
    return true;
  }
  // Returns the keys, valid until the next change.
  Keys keys() const {
    const Keys all = type_ == OneKey::Type::kBytes
                         ? Keys(LargeStringColumn{bytes_.data(), std::span(offsets_)})
                         : Keys(integers_);
    return all.WithValidity(validity_.bits());
  }

 private:
  // Copies a string of 4 to 16 bytes, the usual length of keys, without a call.
  void Append(std::string_view key) {
    const size_t n = key.size();
    if (bytes_.size() - num_bytes_ < n) bytes_.resize(std::max(2 * bytes_.size(), num_bytes_ + n));
    char* const to = bytes_.data() + num_bytes_;
    if (n >= 8 && n <= 16) {
      CopyEnds<uint64_t>(to, key);
    } else if (n >= 4 && n < 8) {
      CopyEnds<uint32_t>(to, key);
    } else {
      std::copy(key.begin(), key.end(), to);
    }
    num_bytes_ += n;
  }
  // Copies a string that is as long as one to two words: its first and its last word.
  template <typename Word>
  static void CopyEnds(char* to, std::string_view key) {
    const size_t last = key.size() - sizeof(Word);
    Word words[2];
    std::memcpy(&words[0], key.data(), sizeof(Word));
    std::memcpy(&words[1], key.data() + last, sizeof(Word));
    std::memcpy(to, &words[0], sizeof(Word));
    std::memcpy(to + last, &words[1], sizeof(Word));
  }

  void TakeNull() {
    if (type_ != OneKey::Type::kBytes) integers_.push_back(0);
    if (type_ != OneKey::Type::kInteger) offsets_.push_back(static_cast<int64_t>(num_bytes_));
    validity_.Add(false);
    ++size_;
  }

  static constexpr size_t kMostBytes = size_t{1} << 24;

  const size_t most_keys_;
  OneKey::Type type_ = OneKey::Type::kNull;  // kNull while all keys are null
  size_t size_ = 0;
  std::vector<uint64_t> integers_;
  std::vector<char> bytes_;  // the first num_bytes_ are those of the keys
  size_t num_bytes_ = 0;
  std::vector<int64_t> offsets_ = {0};
  Validity validity_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_
