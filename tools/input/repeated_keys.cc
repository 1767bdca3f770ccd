#include "tools/input/repeated_keys.h"

#include <algorithm>
#include <utility>

namespace tamis::tools {
namespace {

std::string_view BytesOf(const KeyBatch& batch, size_t i) {
  if (!batch.are_integers) return batch.strings[i];
  return {reinterpret_cast<const char*>(&batch.integers[i]), sizeof(uint64_t)};
}

}  // namespace

void RepeatedKeys::Add(const KeyBatch& batch, size_t i) {
  const std::string_view key = BytesOf(batch, i);
  if (written_.contains(key)) return;
  char* const copy = static_cast<char*>(memory_.allocate(std::max(key.size(), size_t{1}), 1));
  std::copy(key.begin(), key.end(), copy);
  written_.emplace(std::string_view(copy, key.size()), false);
  key_bytes_ += key.size();
}

bool RepeatedKeys::IsFirst(const KeyBatch& batch, size_t i) {
  const auto found = written_.find(BytesOf(batch, i));
  return found == written_.end() || !std::exchange(found->second, true);
}

uint64_t RepeatedKeys::bytes() const {
  constexpr uint64_t kNodeBytes = 48;  // pointer, key, flag, and the overhead of the allocator
  return key_bytes_ + written_.size() * kNodeBytes + written_.bucket_count() * sizeof(void*);
}

}  // namespace tamis::tools
