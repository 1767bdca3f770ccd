// A filter in a file: save it, load it, map it, whatever its kind.
#include <tamis/file/filter_kind_name.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

int main() {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < 50'000; ++i) keys.push_back(3 * i);
  tamis::SplitBlockBloomFilter filter({.capacity = keys.size(), .fpr = 0.01});
  filter.Insert(keys);

  // Saving is atomic: readers see the old file or the complete new one.
  filter.Save("seen.tamis");

  // Load reads and verifies the whole file. The filter can then be changed.
  auto loaded = tamis::SplitBlockBloomFilter::Load("seen.tamis");
  loaded.Insert(uint64_t{1});

  // Map copies nothing. The system reads a page of the file at its first use. The filter is
  // read-only.
  const auto mapped = tamis::SplitBlockBloomFilter::Map("seen.tamis");
  if (!mapped.read_only() || mapped.Count(keys) != keys.size()) return 1;

  // The functions tamis::Load and tamis::Map open a file of any kind.
  const tamis::AnyFilter any = tamis::Load("seen.tamis");
  std::printf("a %s filter of %llu keys\n", tamis::FilterKindName(any->kind()),
              static_cast<unsigned long long>(any->inserted_count()));

  // A damaged file is rejected, and the error describes the damage.
  std::filesystem::copy_file("seen.tamis", "damaged.tamis",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file("damaged.tamis", 1'000);
  try {
    tamis::Load("damaged.tamis");
  } catch (const tamis::FormatError& error) {
    std::printf("refused: %s\n", error.what());
    return any->Count(keys) == keys.size() && loaded.Contains(uint64_t{1}) ? 0 : 1;
  }
  return 1;
}
