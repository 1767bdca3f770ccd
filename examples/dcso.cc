// A C++ program finds the files that a list of known files contains, and makes such a list.
#include <tamis/formats/dcso.h>
#include <tamis/tamis.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  // Like bloom.Initialize(1000, 0.001). The keys are text: SHA-1 in upper-case hexadecimal digits.
  const std::vector<std::string> known = {"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
                                          "A9993E364706816ABA3E25717850C26C9CD0D89D"};
  tamis::DcsoBloomFilter made({.capacity = 1000, .fpr = 0.001});
  made.Insert(known);
  made.Save("known.bloom");  // for bloom.LoadFilter

  // Maps the file, so that a large list is read only where queries need it.
  auto filter = tamis::DcsoBloomFilter::Map("known.bloom");
  const std::vector<std::string> asked = {"A9993E364706816ABA3E25717850C26C9CD0D89D",
                                          "a9993e364706816aba3e25717850c26c9cd0d89d"};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(filter.Select(asked, rows));
  for (const uint32_t row : rows) std::printf("%s may be known\n", asked[row].c_str());

  return filter.Count(known) == 2 && filter.inserted_count() == 2 && rows.size() == 1 ? 0 : 1;
}
