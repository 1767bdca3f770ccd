// The memory and the files of filters that can erase follow the different keys in them, however
// keys and copies come and go. ScalableDuplicatesTest covers copies alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/scalable_filter.h"
#include "tests/core/file_test_util.h"
#include "tests/test_util.h"

namespace tamis::amplification_test {

constexpr uint64_t kCapacity = 2000;

template <typename F>
constexpr bool kGrows = std::is_constructible_v<F, ScalableOptions>;

template <typename F>
F Make() {
  if constexpr (kGrows<F>) {
    return F({.initial_capacity = 100, .fpr = 0.1});
  } else {
    return F({.capacity = kCapacity});
  }
}

// A filter with a record of the copies of each key that it took.
template <typename F>
class Checked {
 public:
  void Insert(uint64_t key) {
    if (!filter_.Insert(key)) return;
    if (++copies_[key] == 1) {
      keys_.push_back(key);
      most_ = std::max(most_, keys_.size());
    }
  }

  // Erases one copy of the key at `place`. A growing filter does not erase a key that several of
  // its layers may have.
  void Erase(size_t place) {
    const uint64_t key = keys_[place];
    const bool erased = filter_.Erase(key);
    ASSERT_TRUE(erased || kGrows<F>);
    if (!erased || --copies_[key] > 0) return;
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(place));
  }

  F& filter() { return filter_; }
  const std::vector<uint64_t>& keys() const { return keys_; }  // the oldest first
  size_t most() const { return most_; }                        // the most keys at a time

 private:
  F filter_ = Make<F>();
  std::unordered_map<uint64_t, uint64_t> copies_;
  std::vector<uint64_t> keys_;
  size_t most_ = 0;
};

// Changes the filter by one of several patterns.
template <typename F>
void Change(Checked<F>& in, uint64_t steps, Random& random) {
  const uint64_t shape = random.Below(4);
  const uint64_t window = 1 + random.Below(900);
  uint64_t next = random();
  for (uint64_t step = 0; step < steps; ++step) {
    const size_t n = in.keys().size();
    const bool full = n >= window;
    switch (shape) {
      case 0:  // the oldest key goes for each one that comes
        in.Insert(next++);
        if (full) in.Erase(0);
        break;
      case 1:  // many keys come, and go again, the newest first
        if (step / window % 2 == 0) {
          in.Insert(next++);
        } else if (n > 0) {
          in.Erase(n - 1);
        }
        break;
      case 2:  // random keys out of few, so that most are copies
        if (n > 0 && random.Below(2) == 0) {
          in.Erase(random.Below(n));
        } else {
          in.Insert(Mix(random.Below(window)));
        }
        break;
      case 3:  // random new keys, and one key that comes all the time
        in.Insert(random.Below(2) == 0 ? uint64_t{42} : next++);
        if (full) in.Erase(random.Below(n));
        break;
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <typename F>
class AmplificationTest : public FileTest {
 protected:
  uintmax_t FileBytes(const F& filter) {
    filter.Save(this->folder_ / "f");
    return std::filesystem::file_size(this->folder_ / "f");
  }
};
using Erasable = testing::Types<CountingBloomFilter, CuckooFilter<8>, CuckooFilter<12>,
                                CuckooFilter<16>, ScalableFilter<CuckooFilter<8>>,
                                ScalableFilter<CuckooFilter<12>>, ScalableFilter<CuckooFilter<16>>>;
TYPED_TEST_SUITE(AmplificationTest, Erasable);

// A filter after changes of many kinds, and a new one with the same number of keys inserted once.
template <typename F>
struct Both {
  explicit Both(uint64_t round) {
    Random random(round);
    for (int part = 0; part < 3; ++part) Change(in, 1 + random.Below(3000), random);
    for (uint64_t i = 0; i < in.most(); ++i) once.Insert(Mix(round << 32 | i));
  }

  Checked<F> in;
  F once = Make<F>();
};

// A growing filter has at most 4 times the bytes of a growing filter into which the same keys were
// inserted at once. Any other filter keeps its original size. The same holds for files.
TYPED_TEST(AmplificationTest, MemoryAndFileFollowTheKeysThatAreIn) {
  constexpr size_t kTimes = kGrows<TypeParam> ? 4 : 1;
  for (uint64_t round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    Both<TypeParam> both(round);
    ASSERT_FALSE(this->HasFatalFailure());
    auto& in = both.in;
    ASSERT_EQ(in.filter().Count(in.keys()), in.keys().size()) << "false negatives";
    ASSERT_LE(in.filter().bytes(), kTimes * both.once.bytes()) << in.most();
    ASSERT_LE(this->FileBytes(in.filter()), kTimes * this->FileBytes(both.once)) << in.most();
  }
}

// A deliberate defect.
class KeepsWhatIsErased {
 public:
  explicit KeepsWhatIsErased(const ScalableOptions& options) : filter_(options) {}
  bool Insert(uint64_t key) { return filter_.Insert(key); }
  static bool Erase(uint64_t) { return true; }
  uint64_t bytes() const { return filter_.bytes(); }

 private:
  ScalableFilter<CuckooFilter<12>> filter_;
};

TEST(AmplificationSelfTest, DetectsAFilterThatKeepsErasedKeys) {
  int found = 0;
  for (uint64_t round = 0; round < 24; ++round) {
    Both<KeepsWhatIsErased> both(round);
    found += both.in.filter().bytes() > 4 * both.once.bytes();
  }
  EXPECT_GT(found, 0);
}

}  // namespace tamis::amplification_test
