// A scan of Kudu with a Bloom filter as its predicate, which a C++ program makes and reads.
#include <tamis/formats/kudu.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<int32_t> wanted;
  for (int32_t i = 0; i < 1000; ++i) wanted.push_back(37 * i - 500);

  // As KuduBloomFilterBuilder(1000) makes it; the column is an INT32.
  tamis::KuduBlockBloomFilter made(tamis::KuduType::kInt32, {.capacity = 1000});
  made.Insert(wanted);
  made.Save("wanted.kudu");  // a BlockBloomFilterPB

  // The message does not say what the column was: the program must.
  auto filter = tamis::KuduBlockBloomFilter::Load("wanted.kudu", tamis::KuduType::kInt32);
  const std::vector<int32_t> asked = {-500, -499, 36463, 36464};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(filter.Select(asked, rows));
  for (const uint32_t row : rows) std::printf("%d may be wanted\n", asked[row]);

  filter.Merge(made);  // as Or
  return filter.Count(wanted) == 1000 && rows.size() >= 2 ? 0 : 1;
}
