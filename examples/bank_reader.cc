// Queries a filter bank that programs cannot map, such as an object in an object store. A few reads
// of 16 KiB find the files that may have a key. Here the store is a file, and a request is a read
// from this file.
#include <tamis/bank/bank_reader.h>
#include <tamis/bank/filter_bank.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Returns the keys of file i, such as numbers of users.
std::vector<uint64_t> KeysOf(uint64_t file) {
  std::vector<uint64_t> keys(10'000);
  for (uint64_t i = 0; i < keys.size(); ++i) keys[i] = 10'000 * file + i;
  return keys;
}

void Require(bool condition) {
  if (!condition) std::exit(1);
}

// A client of an object store: reads the bytes of an object from an offset on.
class Store {
 public:
  explicit Store(const std::string& path) : in_(path, std::ios::binary) {}

  void Get(uint64_t offset, std::span<std::byte> out) {
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!in_) throw std::runtime_error("the store does not answer");
    ++requests;
    bytes += out.size();
  }

  size_t requests = 0, bytes = 0;

 private:
  std::ifstream in_;
};

}  // namespace

int main() {
  // One program writes the bank, with a member for each of 600 files.
  tamis::FilterBank bank({.fpr = 0.001});
  for (uint64_t file = 0; file < 600; ++file) {
    bank.Add("part-" + std::to_string(file), KeysOf(file));
  }
  bank.Save("example_reader.bank");
  const uint64_t object_bytes = std::filesystem::file_size("example_reader.bank");

  // Any machine can open the bank, with the size of the object and a function that reads ranges of
  // the object. A real client would read all ranges of a batch at the same time.
  Store store("example_reader.bank");
  const tamis::BankReader reader(object_bytes, [&](std::span<const tamis::BankRead> reads) {
    for (const tamis::BankRead& read : reads) store.Get(read.offset, read.out);
  });

  // 600 members are two groups, so a key needs two ranges of 16 KiB, in one batch.
  store.requests = store.bytes = 0;
  std::vector<uint64_t> row(reader.row_words());
  const size_t maybe = reader.Contains(uint64_t{1'234'567}, tamis::Bitmap(row));
  std::printf("%zu of %llu files may have the key: %zu requests, %zu of %llu bytes\n", maybe,
              static_cast<unsigned long long>(reader.num_members()), store.requests, store.bytes,
              static_cast<unsigned long long>(object_bytes));
  Require(tamis::Bitmap(row).Test(reader.Find("part-123")->index) && maybe < 20);
  Require(store.requests == 2 && store.bytes == 2 * 16384);

  // Many keys: each page is read once, whichever keys need it.
  for (const tamis::MemberCount& best :
       tamis::BestMembers(reader.CountPerMember(KeysOf(7)), /*at_least=*/9'000)) {
    Require(reader.NameOf(best.member) == "part-7");
  }
  Require(store.bytes <= object_bytes + 2 * 16384);

  // Damaged bytes can turn a "no" into "maybe", but never a "maybe" into "no".
  for (const tamis::BankDamage& damage : reader.damaged()) {
    std::printf("damaged: %llu bytes at %llu\n", static_cast<unsigned long long>(damage.bytes),
                static_cast<unsigned long long>(damage.offset));
  }
  Require(reader.damaged().empty());
  std::remove("example_reader.bank");
  return 0;
}
