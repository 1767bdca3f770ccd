// Finds the Parquet files, given as arguments, that may hold keys of a list. Then makes and reads a
// filter as Parquet files contain it.
#include <tamis/parquet/bloom_filter.h>
#include <tamis/parquet/pruner.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::filesystem::path> files(argv + 1, argv + argc);
  const std::vector<int64_t> ids = {17, 4711, 1000003};
  // The keys are hashed once, for any number of files.
  const tamis::parquet::ParquetPruner pruner(tamis::parquet::KeyList::Integers(ids),
                                             {.column = "id"});
  pruner.Run(files, [](tamis::parquet::FileAnswer&& file) {
    if (!file.kept()) return;  // certainly without these keys
    std::printf("%s %s\n", file.name.c_str(), file.doubt.c_str());
  });

  // Makes a filter for a writer of your own, and reads it back.
  tamis::SplitBlockBloomFilter filter({.bytes = 1024, .hash = tamis::parquet::kFilterHash});
  filter.Insert(ids);
  const std::string bytes = tamis::parquet::ToParquet(filter);  // header and bits
  const auto same = tamis::parquet::FromParquet(std::as_bytes(std::span(bytes)));
  return same.Count(ids) == ids.size() ? 0 : 1;
}
