#include "tests/queryable/holders.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include "tamis/engine/build.h"
#include "tamis/engine/windowed_filter.h"
#include "tamis/error.h"
#include "tamis/filters/any_filter.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/blocks_queryable.h"
#include "tamis/filters/filter_kinds.h"
#include "tamis/filters/split_block_filter.h"
#include "tamis/formats/dcso.h"
#include "tamis/formats/foreign_filter.h"
#include "tamis/formats/guava.h"
#include "tamis/formats/kudu.h"
#include "tamis/formats/redis_bloom.h"
#include "tamis/formats/redis_cuckoo.h"
#include "tamis/formats/spark.h"
#include "tamis/join/join_filter.h"
#include "tamis/live/concurrent_bloom.h"
#include "tamis/live/concurrent_cuckoo.h"
#include "tamis/unanswered_error.h"
#include "tests/test_util.h"

namespace tamis {
namespace {

// A filter in an AnyFilter, queried through the base class.
class OfAnyFilter final : public Queryable {
 public:
  explicit OfAnyFilter(AnyFilter filter) : filter_(std::move(filter)) {}

  QueryTraits traits() const noexcept override { return filter_->traits(); }
  KeyTypes key_types() const override { return filter_->key_types(); }
  uint64_t bytes() const override { return filter_->bytes(); }

 protected:
  void Query(const Keys& keys, uint64_t* bits) const override {
    filter_->Contains(keys, Bitmap({bits, BitmapWords(keys.size())}));
  }
  const Filter* engine_filter() const noexcept override { return &*filter_; }

 private:
  AnyFilter filter_;
};

struct Blocks {
  explicit Blocks(const std::vector<uint64_t>& keys) : filter({.capacity = keys.size() + 1}) {
    filter.Insert(keys);
  }
  SplitBlockBloomFilter filter;
};

class OfView final : private Blocks, public Queryable {
 public:
  explicit OfView(const std::vector<uint64_t>& keys) : Blocks(keys), blocks_(filter.view()) {}

  QueryTraits traits() const noexcept override { return blocks_.traits(); }
  KeyTypes key_types() const override { return blocks_.key_types(); }
  uint64_t bytes() const override { return blocks_.bytes(); }

 protected:
  void Query(const Keys& keys, uint64_t* bits) const override {
    blocks_.Contains(keys, Bitmap({bits, BitmapWords(keys.size())}));
  }

 private:
  BlocksQueryable blocks_;
};

// A filter of DCSO, whose keys are strings: the 8 bytes of each integer.
class OfDcso final : public Queryable {
 public:
  explicit OfDcso(const std::vector<uint64_t>& keys) : filter_({.capacity = keys.size() + 1}) {
    filter_.Insert(AsStrings(keys));
  }

  QueryTraits traits() const noexcept override { return filter_.traits(); }
  KeyTypes key_types() const override { return KeyType::kInteger; }
  uint64_t bytes() const override { return filter_.bytes(); }

 protected:
  void Query(const Keys& keys, uint64_t* bits) const override {
    filter_.Contains(AsStrings(keys), Bitmap({bits, BitmapWords(keys.size())}));
  }

 private:
  static Keys AsStrings(const Keys& keys) {
    const Keys strings = FixedColumn{keys.data<uint64_t>(), 8, keys.size()};
    return strings.WithValidity(keys.validity(), keys.first_bit());
  }

  DcsoBloomFilter filter_;
};

// Throws std::logic_error unless the filter gets this form.
std::unique_ptr<JoinFilter> MakeJoin(JoinFilterOptions options, const std::vector<uint64_t>& keys,
                                     JoinForm form, bool complete = true) {
  options.expected_keys = keys.size() + 1;
  auto filter = std::make_unique<JoinFilter>(options);
  JoinFilter::Part part = filter->MakePart(0);
  part.Insert(keys);
  filter->Add(std::move(part));
  if (complete) filter->Complete(1);
  if (filter->form() != form) throw std::logic_error(filter->choice().reason);
  return filter;
}

std::vector<Holder> MakeHolders() {
  std::vector<Holder> holders;
  for (const FilterKindInfo& info : FilterKinds()) {
    holders.push_back(
        {info.name, [kind = info.kind](const std::vector<uint64_t>& keys) {
           if (KindInfo(kind).has_layers) {
             AnyFilter filter = MakeScalableFilter(FilterKind::kSplitBlock,
                                                   {.initial_capacity = keys.size() / 8 + 1});
             RequireChangeable(*filter).Insert(keys);
             return std::make_unique<OfAnyFilter>(std::move(filter));
           }
           return std::make_unique<OfAnyFilter>(
               BuildFilter(kind, [&keys](const std::function<void(Keys)>& visit) { visit(keys); }));
         }});
    for (char& c : holders.back().name) {
      if (c == '-') c = '_';
    }
  }
  const auto add = [&](const char* name, auto make) {
    holders.push_back({name, [make](const std::vector<uint64_t>& keys) {
                         auto filter = make(keys.size() + 1);
                         filter.Insert(keys);
                         return std::make_unique<decltype(filter)>(std::move(filter));
                       }});
  };
  add("concurrent_blocks",
      [](uint64_t n) { return ConcurrentSplitBlockBloomFilter({.capacity = n}); });
  add("concurrent_bloom", [](uint64_t n) { return ConcurrentBloomFilter({.capacity = n}); });
  add("concurrent_cuckoo", [](uint64_t n) { return ConcurrentCuckooFilter<12>({.capacity = n}); });
  add("window_blocks",
      [](uint64_t n) { return WindowedFilter<SplitBlockBloomFilter>({.window = n}); });
  add("window_bloom", [](uint64_t n) { return WindowedFilter<BloomFilter>({.window = n}); });
  add("guava", [](uint64_t n) { return GuavaBloomFilter(GuavaFunnel::kLong, {.capacity = n}); });
  add("spark", [](uint64_t n) { return SparkBloomFilter({.capacity = n}); });
  add("kudu", [](uint64_t n) { return KuduBlockBloomFilter(KuduType::kInt64, {.capacity = n}); });
  add("redis_bloom", [](uint64_t n) { return RedisBloomFilter({.capacity = n}); });
  add("redis_cuckoo", [](uint64_t n) { return RedisCuckooFilter({.capacity = n}); });
  add("foreign", [](uint64_t n) {
    return ForeignFilter::FromBytes(SparkBloomFilter({.capacity = n}).ToBytes(), "spark:long");
  });
  holders.push_back(
      {"dcso", [](const std::vector<uint64_t>& keys) { return std::make_unique<OfDcso>(keys); }});
  holders.push_back(
      {"view", [](const std::vector<uint64_t>& keys) { return std::make_unique<OfView>(keys); }});
  constexpr uint64_t kMask = 0xFFFF;
  holders.push_back({"incomplete_join", [](const std::vector<uint64_t>& keys) {
                       return MakeJoin({}, keys, JoinForm::kNothing, /*complete=*/false);
                     }});
  holders.push_back({"join_list",
                     [](std::vector<uint64_t> keys) {
                       keys.resize(std::min(keys.size(), kMaxJoinListKeys));
                       return MakeJoin({}, keys, JoinForm::kList);
                     },
                     kMask});
  holders.push_back({"join_bitmap",
                     [](const std::vector<uint64_t>& keys) {
                       return MakeJoin({.range = JoinKeyRange(0, kMask)}, keys, JoinForm::kBitmap);
                     },
                     kMask});
  holders.push_back({"join_blocks", [](const std::vector<uint64_t>& keys) {
                       return MakeJoin({.kept_keys = 1}, keys, JoinForm::kBlocks);
                     }});
  holders.push_back({"join_nothing", [](std::vector<uint64_t> keys) {
                       keys.push_back(101);  // outside of the range
                       return MakeJoin({.range = JoinKeyRange(0, 100)}, keys, JoinForm::kNothing);
                     }});
  holders.push_back({"even_numbers",
                     [](const std::vector<uint64_t>&) { return std::make_unique<EvenNumbers>(); }});
  return holders;
}

}  // namespace

std::vector<uint64_t> Holder::RandomIntegers(size_t n, uint64_t seed) const {
  std::vector<uint64_t> keys = RandomKeys(n, seed);
  for (uint64_t& key : keys) key &= mask;
  return keys;
}

const std::vector<Holder>& Holders() {
  static const std::vector<Holder> holders = MakeHolders();
  return holders;
}

void EvenNumbers::Query(const Keys& keys, uint64_t* bits) const {
  ++queries_;
  if (++running_ > 1) overlapped_ = true;
  struct AtEnd {
    ~AtEnd() { --running; }
    std::atomic<int>& running;
  } const at_end{running_};
  if (keys.layout() != KeyLayout::kU64) {
    throw Error(ErrorCode::kInvalidArgument, "even numbers are integers");
  }
  std::vector<uint64_t> missing;
  for (size_t i = 0; i < BitmapWords(keys.size()); ++i) bits[i] = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t key = keys.data<uint64_t>()[i];
    if (!keys.IsValid(i)) continue;
    if (fails(key)) throw std::runtime_error("failed at " + std::to_string(key));
    const bool has_no_answer = unanswered(key);
    if (has_no_answer) missing.push_back(i);
    bits[i / 64] |= uint64_t{has_no_answer || key % 2 == 0} << (i % 64);
  }
  if (!missing.empty()) throw UnansweredError(ErrorCode::kUnavailable, "no answer", missing);
}

}  // namespace tamis
