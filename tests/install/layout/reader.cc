// A user's program that reads a file of tamis with code of its own. It uses only the layout of
// filters and the hash of integers, without a library, exceptions or RTTI.
#include <tamis/hash.h>
#include <tamis/layout/bank.h>
#include <tamis/layout/bloom.h>
#include <tamis/layout/counting.h>
#include <tamis/layout/cuckoo.h>
#include <tamis/layout/fuse.h>
#include <tamis/layout/split_block.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

uint64_t Number(const std::vector<char>& file, size_t offset) {
  uint64_t number;
  std::memcpy(&number, file.data() + offset, sizeof number);
  return number;
}

}  // namespace

int main(int, char** arguments) {
  std::vector<char> file(1 << 20);
  std::FILE* const opened = std::fopen(arguments[1], "rb");
  if (opened == nullptr) return 1;
  file.resize(std::fread(file.data(), 1, file.size(), opened));
  std::fclose(opened);

  // The offsets are those of core/FORMAT.md. The file has 5,000 integers in 333 blocks.
  const uint64_t blocks = Number(file, 32), payload = Number(file, 72);
  if (blocks != 333 || file.size() != payload + blocks * tamis::split_block::kBlockBytes) return 2;
  std::vector<uint32_t> words(blocks * tamis::split_block::kWords);
  std::memcpy(words.data(), file.data() + payload, file.size() - payload);

  const auto contains = [&](uint64_t key) {
    const uint64_t hash = tamis::HashU64(key);
    const uint64_t block = tamis::split_block::BlockIndex(hash, blocks);
    return tamis::split_block::BlockContains(words.data() + tamis::split_block::kWords * block,
                                             hash);
  };
  int found = 0, false_positives = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    found += contains(i * 0x9E3779B97F4A7C15);
    false_positives += contains((i + 5000) * 0x9E3779B97F4A7C15);
  }
  std::printf("%d of 5000 keys found, %d of 5000 others\n", found, false_positives);
  return found == 5000 && false_positives < 50 ? 0 : 3;
}
