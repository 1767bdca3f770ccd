// Keys that are collected one by one, of one form at a time.
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
    form_ = OneKey::Form::kNull;
  }
  // Bytes of strings after which a batch is long enough.
  bool full() const { return size_ >= kConvertedKeys || bytes_.size() >= kMostBytes; }
  size_t size() const { return size_; }
  // False for an integer among strings, and the other way about: it belongs to the next batch.
  bool Takes(OneKey::Form form) const {
    return form == OneKey::Form::kNull || form_ == OneKey::Form::kNull || form == form_;
  }
  void Add(const OneKey& key) {
    switch (key.form) {
      case OneKey::Form::kNull:
        return AddNull();
      case OneKey::Form::kInteger:
        return AddInteger(key.integer);
      case OneKey::Form::kBytes:
        return AddBytes(key.bytes);
    }
  }
  void AddNull() {
    if (form_ != OneKey::Form::kBytes) integers_.push_back(0);
    if (form_ != OneKey::Form::kInteger) offsets_.push_back(static_cast<int64_t>(bytes_.size()));
    validity_.Add(false);
    ++size_;
  }
  void AddInteger(uint64_t key) {
    form_ = OneKey::Form::kInteger;
    integers_.push_back(key);
    validity_.Add(true);
    ++size_;
  }
  void AddBytes(std::string_view key) {
    form_ = OneKey::Form::kBytes;
    bytes_.append(key);
    offsets_.push_back(static_cast<int64_t>(bytes_.size()));
    validity_.Add(true);
    ++size_;
  }
  // Valid until the next change.
  Keys keys() const {
    const Keys all = form_ == OneKey::Form::kBytes
                         ? Keys(LargeStringColumn{bytes_.data(), std::span(offsets_)})
                         : Keys(integers_);
    return all.WithValidity(validity_.bits());
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 24;

  OneKey::Form form_ = OneKey::Form::kNull;  // as long as only nulls have come
  size_t size_ = 0;
  std::vector<uint64_t> integers_;
  std::string bytes_;
  std::vector<int64_t> offsets_ = {0};
  Validity validity_;
};

}  // namespace tamis::python

#endif  // TAMIS_BINDINGS_PYTHON_SRC_KEYS_GATHERED_KEYS_H_
