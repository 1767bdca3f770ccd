#include "tests/core/contract.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tamis/file/file_checks.h"
#include "tamis/filters/any_scalable_filter.h"
#include "tamis/filters/bloom_filter.h"
#include "tamis/filters/counting_filter.h"
#include "tamis/filters/cuckoo_filter.h"
#include "tamis/filters/split_block_filter.h"
#include "tests/test_util.h"

namespace tamis {

const std::vector<Subject>& Subjects() {
  static const std::vector<Subject> subjects = {
      SubjectOf<SplitBlockBloomFilter>(),
      SubjectOf<CuckooFilter<8>>(),
      SubjectOf<CuckooFilter<12>>(),
      SubjectOf<CuckooFilter<16>>(),
      SubjectOf<BloomFilter>(),
      SubjectOf<CountingBloomFilter>(),
      SubjectOf<ScalableFilter<SplitBlockBloomFilter>>(),
      SubjectOf<ScalableFilter<BloomFilter>>(),
      SubjectOf<ScalableFilter<CuckooFilter<8>>>(),
      SubjectOf<ScalableFilter<CuckooFilter<12>>>(),
      SubjectOf<ScalableFilter<CuckooFilter<16>>>(),
  };
  return subjects;
}

// A kind that is missing in the list would not be tested.
TEST(ContractSubjectsTest, EveryKindAndEveryKindOfLayerIsOne) {
  std::set<std::string> want, got;
  for (const FilterKindInfo& info : FilterKinds()) {
    if (info.is_plain()) want.insert(info.name);
    if (info.can_be_layer) want.insert(std::string("scalable_") + info.name);
  }
  for (const Subject& subject : Subjects()) {
    std::string name = subject.name;
    if (const size_t at = name.find("split_"); at != name.npos) name[at + 5] = '-';
    got.insert(name);
  }
  EXPECT_EQ(got, want);
}

std::vector<char> Contents(const Filter& filter) {
  std::vector<char> contents;
  const auto add = [&](const Filter& f) {
    for (const uint64_t number : {f.inserted_count(), f.capacity()}) {
      const auto* bytes = reinterpret_cast<const char*>(&number);
      contents.insert(contents.end(), bytes, bytes + sizeof(number));
    }
    const auto* const payload = reinterpret_cast<const char*>(f.payload().data());
    contents.insert(contents.end(), payload, payload + f.payload().size());
  };
  add(filter);
  if (const auto view = ViewScalable(filter)) {
    for (const Filter* layer : view->layers) add(*layer);
  }
  return contents;
}

Engine PinnedEngine(const Backend& backend, unsigned threads, bool partitioned) {
  return Engine({.pin = CallRoute{&backend, threads, partitioned, 0, 0}});
}

AllLayouts::AllLayouts(size_t n, uint64_t seed)
    : u64_(RandomKeys(n, seed)), strings_(RandomStrings(n, seed)) {
  // A cuckoo filter refuses the ninth copy of a key, or adds a layer for the copy. So only a few
  // keys repeat.
  for (size_t i = 400; i < n; ++i) strings_[i] += std::to_string(i);
  for (size_t i = 0; i < n; ++i) {
    i64_.push_back(static_cast<int64_t>(u64_[i]));
    u32_.push_back(static_cast<uint32_t>(u64_[i]));
    i32_.push_back(static_cast<int32_t>(u32_[i]));
    bytes_ += strings_[i];
    offsets_.push_back(static_cast<int32_t>(bytes_.size()));
    hashes_.push_back({u64_[i]});
  }
  large_offsets_.assign(offsets_.begin(), offsets_.end());
  views_.assign(strings_.begin(), strings_.end());
  const auto add = [&](const char* name, Keys keys, const auto& ones) {
    sets_.push_back({name, keys, {ones.begin(), ones.end()}});
  };
  add("u64", u64_, u64_);
  add("i64", i64_, i64_);
  add("u32", u32_, u32_);
  add("i32", i32_, i32_);
  add("string views", views_, views_);
  add("strings", strings_, views_);
  add("column", StringColumn{bytes_.data(), offsets_}, views_);
  add("large column", LargeStringColumn{bytes_.data(), large_offsets_}, views_);
  // Values of 4 and 8 bytes are hashed with instructions of their own.
  const auto add_fixed = [&](const char* name, const auto& values, uint32_t width) {
    const auto* const bytes = reinterpret_cast<const char*>(values.data());
    std::vector<std::string_view> ones;
    for (size_t i = 0; i < n; ++i) ones.emplace_back(bytes + width * i, width);
    add(name, FixedColumn{bytes, width, n}, ones);
  };
  add_fixed("fixed column of 4 bytes", u32_, 4);
  add_fixed("fixed column of 7 bytes", u64_, 7);
  add_fixed("fixed column of 8 bytes", u64_, 8);
  add("hashes", Hashes{u64_}, hashes_);
}

std::vector<Subject> SubjectsThat(bool (*suits)(const Subject&)) {
  std::vector<Subject> subjects;
  std::copy_if(Subjects().begin(), Subjects().end(), std::back_inserter(subjects), suits);
  return subjects;
}

void ExpectRefused(const Subject& subject, const std::filesystem::path& path, const Bytes& file,
                   const std::string& check, uint64_t at, bool by_headers, ErrorCode code) {
  WriteBytes(path, file);
  const MapOptions full{.verify = Verify::kFull};
  ExpectFormatError([&] { VerifyFile(path); }, check, at, code);
  ExpectFormatError([&] { subject.load(path, {}); }, check, at, code);
  ExpectFormatError([&] { subject.map(path, full); }, check, at, code);
  ExpectFormatError([&] { Load(path); }, check, at, code);
  ExpectFormatError([&] { Map(path, full); }, check, at, code);
  if (by_headers) {
    ExpectFormatError([&] { ReadHeader(path); }, check, at, code);
    ExpectFormatError([&] { subject.map(path, {}); }, check, at, code);
    ExpectFormatError([&] { Map(path); }, check, at, code);
  } else {
    EXPECT_EQ(ReadHeader(path).payload_bytes, GetField<uint64_t>(file, 80));
    const AnyFilter mapped = subject.map(path, {});
    const std::vector<uint64_t> keys = RandomKeys(100, /*seed=*/2);
    size_t found = 0;
    for (const uint64_t key : keys) found += subject.contains(*mapped, key);
    EXPECT_EQ(mapped->Count(keys), found);
  }
}

}  // namespace tamis
