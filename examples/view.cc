// A filter in memory of your own: shared memory, a page of a file, a value in a database.
#include <tamis/tamis.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  // Any number of 32-byte blocks, which are zero at first. A header of your own may come before
  // them. Its size must be a multiple of 4, here 40. Blocks at a multiple of 32 are faster.
  constexpr size_t kHeader = 40;
  std::vector<std::byte> memory(kHeader + 32 * 512);
  const auto blocks = std::span(memory).subspan(kHeader);

  // A view is a few pointers and allocates nothing. The blocks must outlive the view.
  uint64_t inserted = 0;
  const tamis::SplitBlockView writer(blocks, {}, &inserted);
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 10'000; ++i) keys.push_back(i * i);
  writer.Insert(keys);         // many keys
  writer.Insert(uint64_t{7});  // or one

  // Another program can query the same bytes with the same hash. Here it queries a copy.
  const std::vector<std::byte> copy(blocks.begin(), blocks.end());
  const tamis::ConstSplitBlockView reader(copy);
  std::printf("%llu keys inserted, %.3f%% wrong answers expected\n",
              static_cast<unsigned long long>(inserted), 100 * reader.expected_fpr());
  return reader.Count(keys) == keys.size() && reader.Contains(uint64_t{7}) ? 0 : 1;
}
