// Several threads that insert into words of their own leave the bits of one thread.
#include "core/src/bulk/union_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "core/src/bulk/outcomes.h"
#include "tamis/backends.h"
#include "tamis/engine/engine.h"
#include "tamis/filters/bloom_filter.h"
#include "tests/core/contract.h"
#include "tests/test_util.h"

namespace tamis::union_writer_test {

using detail::Batch;
using detail::UnionWriter;

// A key sets one bit of one word.
void SetBits(const Batch& batch, uint64_t* words, uint64_t num_words) {
  for (size_t i = 0; i < batch.n; ++i) {
    words[(batch.values[i] >> 6) % num_words] |= uint64_t{1} << (batch.values[i] % 64);
  }
}

TEST(UnionWriterTest, AnyThreadMayAddAnyBatch) {
  Random random(1);
  for (const Backend& backend : Backends()) {
    for (const uint64_t num_words : {1, 63, 32'768, 32'769, 100'000}) {
      const auto threads = static_cast<unsigned>(1 + random.Below(9));
      SCOPED_TRACE(std::string(backend.name) + ", " + std::to_string(num_words) + " words, " +
                   std::to_string(threads) + " threads");
      std::vector<uint64_t> words(num_words);
      for (uint64_t& word : words) word = random.Below(2);  // the filter is not empty
      std::vector<uint64_t> want = words;
      const UnionWriter::Target target{
          words.data(), num_words,
          [&](const Batch& batch, uint64_t* into) { SetBits(batch, into, num_words); }};
      UnionWriter writer(target, *backend.kernels, threads);
      for (int slice = 0; slice < 2; ++slice) {
        for (int i = 0; i < 20; ++i) {
          const std::vector<uint64_t> keys = RandomKeys(random.Below(500), random.Below(1 << 30));
          const Batch batch = detail::HashBatch(keys.data(), keys.size());
          SetBits(batch, want.data(), num_words);
          writer.Add(static_cast<unsigned>(random.Below(threads)), batch, 0);
        }
        std::vector<std::thread> tasks;
        for (size_t task = 0; task < writer.num_tasks(); ++task) {
          tasks.emplace_back([&writer, task] { writer.Run(task); });
        }
        for (std::thread& task : tasks) task.join();
        detail::Outcomes outcomes;
        EXPECT_EQ(writer.EndSlice(outcomes), 0u);
        ASSERT_EQ(words, want);
      }
    }
  }
}

TEST(UnionWriterTest, FiltersOfAnySizeAreEqual) {
  Random random(2);
  for (int i = 0; i < 30; ++i) {
    const FilterOptions options{.bytes = 8 * (1 + random.Below(1 << 18))};
    const std::vector<uint64_t> keys = RandomKeys(random.Below(50'000), random.Below(1 << 30));
    BloomFilter one(options);
    one.Insert(keys);
    BloomFilter many(options);
    for (const Keys& part : {Keys(keys).Slice(0, keys.size() / 2),
                             Keys(keys).Slice(keys.size() / 2, keys.size() - keys.size() / 2)}) {
      const Backend& backend = Backends()[random.Below(Backends().size())];
      const auto threads = static_cast<unsigned>(2 + random.Below(7));
      const Engine engine = PinnedEngine(backend, threads, /*partitioned=*/false);
      ASSERT_EQ(engine.Insert(many, part), part.size());
    }
    ASSERT_EQ(many.inserted_count(), one.inserted_count());
    ASSERT_TRUE(SameBytes(many.payload(), one.payload()));
  }
}

}  // namespace tamis::union_writer_test
