#include "core/src/bulk/union_writer.h"

#include <algorithm>
#include <utility>

namespace tamis::detail {
namespace {

constexpr uint64_t kPartWords = uint64_t{1} << 15;  // 256 KiB, which fits the second-level cache

}  // namespace

UnionWriter::UnionWriter(Target target, const Kernels& kernels, unsigned threads)
    : target_(std::move(target)), kernels_(kernels), others_(threads - 1) {
  for (Words& words : others_) {
    words.storage = Storage::Allocate(target_.num_words * sizeof(uint64_t), {});
  }
}

void UnionWriter::Add(unsigned thread, const Batch& batch, uint64_t) noexcept {
  if (thread == 0) return target_.insert(batch, target_.words);
  Words& words = others_[thread - 1];
  words.used = true;
  target_.insert(batch, words.data());
}

size_t UnionWriter::num_tasks() const noexcept { return (target_.num_words - 1) / kPartWords + 1; }

void UnionWriter::Run(size_t part) noexcept {
  const uint64_t begin = part * kPartWords;
  const uint64_t count = std::min(kPartWords, target_.num_words - begin);
  for (const Words& words : others_) {
    if (words.used) kernels_.merge(target_.words + begin, words.data() + begin, count);
  }
}

}  // namespace tamis::detail
