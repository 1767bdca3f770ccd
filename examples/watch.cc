// A filter from a file that another process replaces. Damaged files are ignored.
#include <tamis/live/watch.h>
#include <tamis/tamis.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

// The work of the other process, every night.
void SaveFilterOf(const std::vector<uint64_t>& keys, const std::filesystem::path& path) {
  tamis::CuckooFilter<12> filter({.capacity = 1000});
  filter.Insert(keys);
  filter.Save(path);  // replaces the file as a whole, by renaming
}

int main() {
  const std::filesystem::path path = "watched.tamis";
  SaveFilterOf({1, 2, 3}, path);

  tamis::Live<tamis::AnyFilter> live;
  tamis::Watch<tamis::AnyFilter> watch(live, path, {.interval = std::chrono::seconds(5)});
  const bool first = live.Read()->Contains(uint64_t{3});

  SaveFilterOf({1, 2, 4}, path);
  watch.CheckNow();  // it also checks every 5 seconds
  const bool second = live.Read()->Contains(uint64_t{4});

  std::ofstream(path, std::ios::trunc) << "no filter";
  watch.CheckNow();
  const bool kept = live.Read()->Contains(uint64_t{4});
  const tamis::WatchStatus status = watch.status();
  if (status.failure) std::printf("not taken: %s\n", status.failure->text.c_str());
  return first && second && kept && status.failure ? 0 : 1;
}
