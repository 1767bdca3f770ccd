// A Java service and a C++ program share a Bloom filter of Guava.
#include <tamis/formats/guava.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> blocked = {"ads.example", "evil.example", "spam.example"};

  // Like BloomFilter.create(Funnels.stringFunnel(UTF_8), 1000, 0.01).
  tamis::GuavaBloomFilter made(tamis::GuavaFunnel::kUtf8, {.capacity = 1000, .fpr = 0.01});
  made.Insert(blocked);
  made.Save("blocked.guava");  // for BloomFilter.readFrom

  // Reads the output of BloomFilter.writeTo, which does not contain the type of the keys.
  auto filter = tamis::GuavaBloomFilter::Load("blocked.guava", tamis::GuavaFunnel::kUtf8);
  const std::vector<std::string> asked = {"evil.example", "good.example", "spam.example"};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(filter.Select(asked, rows));
  for (const uint32_t row : rows) std::printf("%s may be blocked\n", asked[row].c_str());

  const bool is_new = filter.Insert("phish.example");  // as put
  filter.Merge(made);                                  // as putAll
  return is_new && rows.size() == 2 && filter.Count(blocked) == 3 ? 0 : 1;
}
