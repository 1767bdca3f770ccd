// A filter in a file: save it, load it, map it, whatever its kind is.
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

  // Saving is atomic: a reader sees the old file or the whole new one.
  filter.Save("seen.tamis");

  // Load reads and checks all of the file. The filter can then be changed.
  auto loaded = tamis::SplitBlockBloomFilter::Load("seen.tamis");
  loaded.Insert(uint64_t{1});

  // Map copies nothing: the system reads a page of the file when it is first asked. It is
  // read-only.
  const auto mapped = tamis::SplitBlockBloomFilter::Map("seen.tamis");
  if (!mapped.read_only() || mapped.Count(keys) != keys.size()) return 1;

  // The functions outside the classes take a file of any kind: tamis::Load and tamis::Map.
  const tamis::AnyFilter any = tamis::Load("seen.tamis");
  std::printf("a %s filter of %llu keys\n", tamis::FilterKindName(any->kind()),
              static_cast<unsigned long long>(any->inserted_count()));

  // A damaged file is refused, and the error says what is wrong with it.
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
