// A C++ program writes and reads a Bloom filter that is the predicate of a scan of Kudu.
#include <tamis/formats/kudu.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<int32_t> wanted;
  for (int32_t i = 0; i < 1000; ++i) wanted.push_back(37 * i - 500);

  // Like KuduBloomFilterBuilder(1000). The column is an INT32.
  tamis::KuduBlockBloomFilter made(tamis::KuduType::kInt32, {.capacity = 1000});
  made.Insert(wanted);
  made.Save("wanted.kudu");  // a BlockBloomFilterPB

  // The message does not contain the type of the column, so the program must name it.
  auto filter = tamis::KuduBlockBloomFilter::Load("wanted.kudu", tamis::KuduType::kInt32);
  const std::vector<int32_t> asked = {-500, -499, 36463, 36464};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(filter.Select(asked, rows));
  for (const uint32_t row : rows) std::printf("%d may be wanted\n", asked[row]);

  filter.Merge(made);  // as Or
  return filter.Count(wanted) == 1000 && rows.size() >= 2 ? 0 : 1;
}
