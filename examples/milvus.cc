// Makes the set of a membership_match() of Milvus in C++, and queries a set of Milvus in place.
#include <tamis/formats/milvus.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  std::vector<int64_t> members;
  for (int64_t i = 0; i < 10'000; ++i) members.push_back(1000 * i);

  // A filter of a size that Milvus uses, with its hash.
  tamis::SplitBlockBloomFilter filter({.capacity = members.size(),
                                       .bytes = tamis::milvus::BytesFor(members.size()),
                                       .hash = {tamis::HashKind::kXxh64, 0}});
  filter.Insert(members);
  const std::vector<std::byte> blob = tamis::milvus::ToBytes(filter);  // for filter_params

  // Queries the bytes from a client without a copy.
  const tamis::milvus::Header header = tamis::milvus::ReadHeader(blob);
  if (!header.key_types.Has(tamis::KeyType::kInteger)) return 1;
  const tamis::ConstSplitBlockView view = tamis::milvus::View(blob);
  std::vector<uint64_t> bits(tamis::BitmapWords(members.size()));
  const size_t found = view.Contains(members, tamis::Bitmap(bits));

  // Makes a filter of this library, which can be changed, merged and saved.
  tamis::SplitBlockBloomFilter copy = tamis::milvus::FromBytes(blob);
  copy.Insert(uint64_t{7});
  copy.Save("members.tamis");
  std::printf("%zu of %zu members found, at a rate of %.4f\n", found, members.size(),
              view.expected_fpr());
  return found == members.size() && copy.Contains(uint64_t{7}) ? 0 : 1;
}
