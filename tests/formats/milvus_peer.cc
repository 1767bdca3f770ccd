// The counterpart of milvus_peer.py in this library: filters of its keys, and answers of its
// filters.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tamis/error.h"
#include "tamis/formats/milvus.h"
#include "tamis/tamis.h"
#include "tests/test_util.h"

namespace {

namespace fs = std::filesystem;

constexpr size_t kInserted = 100'000;
constexpr size_t kAsked = 1'000'000;

// Keys [0, n) of milvus_peer.py.
std::vector<uint64_t> Integers(size_t n) {
  std::vector<uint64_t> keys;
  for (uint64_t i = 0; i < n; ++i) keys.push_back(tamis::Mix(i));
  return keys;
}

std::vector<std::string> Text(size_t n) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < n; ++i) {
    keys.push_back("\xC3\xA9\xE2\x82\xAC" + std::to_string(i) + std::string(i % 40, 'x'));
  }
  return keys;
}

void Make(const fs::path& folder, const std::string& name, double rate, const tamis::Keys& keys) {
  tamis::SplitBlockBloomFilter filter({.capacity = kInserted,
                                       .bytes = tamis::milvus::BytesFor(kInserted, rate),
                                       .hash = {tamis::HashKind::kXxh64, 0}});
  filter.Insert(keys);
  tamis::milvus::Header header = tamis::milvus::HeaderOf(filter);
  header.fpr = rate;
  const std::vector<std::byte> bytes = tamis::milvus::ToBytes(filter, header);
  std::ofstream out(folder / (name + ".mbf1"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

// Queries a copy and a view of the bytes, which must agree.
bool Ask(const fs::path& folder, const std::string& name, const tamis::Keys& keys) {
  const fs::path path = folder / (name + ".mbf1");
  const tamis::SplitBlockBloomFilter filter = tamis::milvus::Load(path);
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> blob{std::istreambuf_iterator<char>(in), {}};
  std::vector<uint64_t> bits(tamis::BitmapWords(kAsked)), of_view = bits;
  filter.Contains(keys, tamis::Bitmap(bits));
  const auto view = tamis::milvus::View(std::as_bytes(std::span(blob)));
  view.Contains(keys, tamis::Bitmap(of_view));
  std::ofstream out(folder / (name + ".answers"), std::ios::binary);
  out.write(reinterpret_cast<const char*>(bits.data()), kAsked / 8);
  return bits == of_view;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "make" && what != "ask") {
    std::fprintf(stderr, "usage: %s make|ask FOLDER\n", argv[0]);
    return 2;
  }
  const fs::path folder = argv[2];
  const size_t n = what == "make" ? kInserted : kAsked;
  const std::vector<uint64_t> integers = Integers(n);
  const std::vector<std::string> text = Text(n);
  try {
    for (const auto& [name, rate] : {std::pair("0.05", 0.05), {"0.005", 0.005}, {"0.0001", 1e-4}}) {
      const std::string rate_name = name;
      if (what == "make") {
        Make(folder, "int64_" + rate_name, rate, integers);
        Make(folder, "utf8_" + rate_name, rate, text);
      } else if (!Ask(folder, "int64_" + rate_name, integers) ||
                 !Ask(folder, "utf8_" + rate_name, text)) {
        std::fprintf(stderr, "a view has other answers\n");
        return 1;
      }
    }
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
