// Keys that are strings: a single one, a vector, and a column of Apache Arrow, which may have
// nulls.
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> blocked = {"ads.example", "evil.example", "spam.example"};
  tamis::SplitBlockBloomFilter filter({.capacity = 1'000, .fpr = 0.001});
  filter.Insert(blocked);  // also a vector of std::string_view, or a column of Apache Arrow
  filter.Insert("phish.example");
  if (!filter.Contains("evil.example")) return 1;

  // Arrow keeps the strings of a column end to end. String i begins at bytes[offsets[i]] and ends
  // before bytes[offsets[i + 1]].
  const std::string bytes = "good.examplespam.examplenews.exampleads.example";
  const std::vector<int32_t> offsets = {0, 12, 24, 36, 47};
  const tamis::StringColumn column{bytes.data(), offsets};
  if (!column.Valid(bytes.size())) return 1;  // the filter requires ascending offsets

  // The column is hashed in place, without a copy. Here each answer is one byte, 0 or 1.
  std::vector<uint8_t> maybe(column.size());
  filter.Contains(column, maybe);
  for (size_t i = 0; i < column.size(); ++i) {
    const std::string name(column[i]);
    std::printf("%-12s  %s\n", name.c_str(), maybe[i] ? "may be blocked" : "is not blocked");
  }
  if (!maybe[1] || !maybe[3]) return 1;

  // A column with nulls has a bitmap: bit i is 0 if string i is null, whatever bytes it has. No
  // filter contains a null. Here "ads.example" at 3 is null. The 0 is the first bit of the bitmap
  // to use.
  const std::vector<uint8_t> validity = {0b0111};
  filter.Contains(tamis::Keys(column).WithValidity(validity.data(), 0), maybe);
  return maybe[1] && !maybe[3] ? 0 : 1;
}
