// A set that never changes: the smallest filter for it, built once and mapped by its readers.
#include <tamis/filters/fuse_filter.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> known;
  for (int i = 0; i < 100'000; ++i) known.push_back("password" + std::to_string(i));
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "tamis-example-static.tamis";
  {
    const auto filter = tamis::FuseFilter<8>::From(known);
    filter.Save(path);
    std::cout << filter.bits_per_key() << " bits per key, " << 100 * filter.expected_fpr()
              << "% false positives\n";
  }
  const auto filter = tamis::FuseFilter<8>::Map(path);
  std::cout << (filter.Contains("password7") ? "maybe" : "no") << ", "
            << (filter.Contains("correct horse") ? "maybe" : "no") << "\n";
  std::filesystem::remove(path);
  return filter.Count(known) == known.size() ? 0 : 1;
}
