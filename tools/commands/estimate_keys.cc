#include "tools/commands/estimate_keys.h"

#include <tamis/hash_keys.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tools/input/key_reader.h"

namespace tamis::tools {
namespace {

constexpr uint64_t kSampleBytes = uint64_t{16} << 20;
constexpr uint64_t kBlockBytes = uint64_t{8}
                                 << 20;  // the least that a reader reads of a large file
constexpr uint64_t kLeastFiles = 4;

class Sample {
 public:
  Sample(const TextOptions& text, const Filter* known)
      : texts_(text, /*threads=*/1), has_texts_(text.given()), known_(known) {}

  // Adds the beginning of a file: at least `bytes` bytes, or the whole file.
  void Add(const InputOptions& file, uint64_t bytes) {
    KeyReader reader(file, {.report_bad = false});
    KeyBatch batch;
    for (uint64_t read = 0; reader.Next(batch); read = reader.bytes_read()) {
      if (read >= bytes && reader.bytes_read() > read) {
        // The reader has read a further block, of which this batch may be only a part.
        bytes_ += read;
        return;
      }
      Add(has_texts_ ? texts_.KeysOf(batch) : batch.keys());
    }
    bytes_ += reader.bytes_read();
  }

  uint64_t bytes() const { return bytes_; }
  uint64_t keys() const { return keys_; }
  // Returns the number of different keys that the filter lacks. May be called once.
  uint64_t TakeFresh() {
    std::sort(hashes_.begin(), hashes_.end());
    return static_cast<uint64_t>(std::unique(hashes_.begin(), hashes_.end()) - hashes_.begin());
  }

 private:
  void Add(const Keys& keys) {
    const size_t before = hashes_.size();
    keys_ += keys.size();
    hashes_.resize(before + keys.size());
    HashKeys(keys, {}, std::span(hashes_).subspan(before));
    if (known_ == nullptr || known_->inserted_count() == 0) return;
    bits_.resize(BitmapWords(keys.size()));
    const Bitmap found(bits_);
    known_->Contains(keys, found);
    size_t end = before;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!found.Test(i)) hashes_[end++] = hashes_[before + i];
    }
    hashes_.resize(end);
  }

  TextUnits texts_;
  const bool has_texts_;
  const Filter* const known_;
  uint64_t bytes_ = 0;
  uint64_t keys_ = 0;
  std::vector<uint64_t> hashes_;  // of the keys that the filter lacks
  std::vector<uint64_t> bits_;
};

}  // namespace

KeyEstimate EstimateKeys(const InputOptions& input, const TextOptions& text, uint64_t total_bytes,
                         const Filter* known) {
  Sample sample(text, known);
  const StandardInputPlace begin;
  const uint64_t mean_bytes =
      std::clamp<uint64_t>(total_bytes / input.paths.size(), 1, kBlockBytes);
  const size_t files =
      std::min<uint64_t>(input.paths.size(), std::max(kLeastFiles, kSampleBytes / mean_bytes + 1));
  InputOptions file = input;
  for (size_t i = 0; i < files; ++i) {
    file.paths = {input.paths[i * input.paths.size() / files]};
    sample.Add(file, kSampleBytes / files);
  }
  begin.Return();
  const auto scaled = [&](uint64_t n) {
    const double share = static_cast<double>(sample.bytes()) / static_cast<double>(total_bytes);
    return n == 0 ? 0 : static_cast<uint64_t>(static_cast<double>(n) / share);
  };
  return {.keys = scaled(sample.keys()),
          .fresh = scaled(sample.TakeFresh()),
          .sample_bytes = sample.bytes(),
          .total_bytes = total_bytes};
}

}  // namespace tamis::tools
