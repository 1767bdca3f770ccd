// Collects keys one by one, of one type at a time.
#ifndef TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_
#define TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_

#include <tamis/keys.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/python/src/keys/key_source.h"
#include "bindings/python/src/keys/one_key.h"

namespace tamis::python {

class GatheredKeys {
 public:
  void Clear() {
    size_ = 0;
    integers_.clear();
    bytes_.clear();
    offsets_.assign(1, 0);
    validity_.Clear();
    type_ = OneKey::Type::kNull;
  }
  // Returns whether the batch has enough keys, or enough bytes of strings.
  bool full() const { return size_ >= kConvertedKeys || bytes_.size() >= kMostBytes; }
  size_t size() const { return size_; }
  // Returns whether a key of this type can join the batch. An integer cannot join strings, and a
  // string cannot join integers: such a key begins the next batch.
  bool Takes(OneKey::Type type) const {
    return type == OneKey::Type::kNull || type_ == OneKey::Type::kNull || type == type_;
  }
  void Add(const OneKey& key) {
    switch (key.type) {
      case OneKey::Type::kNull:
        return AddNull();
      case OneKey::Type::kInteger:
        return AddInteger(key.integer);
      case OneKey::Type::kBytes:
        return AddBytes(key.bytes);
    }
  }
  void AddNull() {
    if (type_ != OneKey::Type::kBytes) integers_.push_back(0);
    if (type_ != OneKey::Type::kInteger) offsets_.push_back(static_cast<int64_t>(bytes_.size()));
    validity_.Add(false);
    ++size_;
  }
  void AddInteger(uint64_t key) {
    type_ = OneKey::Type::kInteger;
    integers_.push_back(key);
    validity_.Add(true);
    ++size_;
  }
  void AddBytes(std::string_view key) {
    type_ = OneKey::Type::kBytes;
    bytes_.append(key);
    offsets_.push_back(static_cast<int64_t>(bytes_.size()));
    validity_.Add(true);
    ++size_;
  }
  // Returns the keys, valid until the next change.
  Keys keys() const {
    const Keys all = type_ == OneKey::Type::kBytes
                         ? Keys(LargeStringColumn{bytes_.data(), std::span(offsets_)})
                         : Keys(integers_);
    return all.WithValidity(validity_.bits());
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 24;

  OneKey::Type type_ = OneKey::Type::kNull;  // kNull while all keys are null
  size_t size_ = 0;
  std::vector<uint64_t> integers_;
  std::string bytes_;
  std::vector<int64_t> offsets_ = {0};
  Validity validity_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_
