#include "tamis/bank/bank_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "bank/src/bank_file.h"
#include "bank/src/bank_state.h"
#include "core/src/base/function_ref.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/valid_keys.h"
#include "core/src/file/key_tag.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"

namespace tamis {

using detail::BankFile;
using detail::BankRows;
using detail::Batch;
using detail::CountSet;
using detail::IsSet;
using detail::MemberData;

namespace {

using detail::kWordBits;
constexpr uint64_t kPageBytes = bank::kBlockBytes;
// Number of keys of a page that are looked up at a time. Their rows take 8 KiB.
constexpr size_t kKeysAtOnce = 128;

// A key of a call. The order of hashes is also the order of blocks in groups of any size, because
// layout/split_block.h computes the block from the upper bits.
struct AskedKey {
  uint64_t hash;
  uint64_t index;
};

// The keys of a slice take at most half of max_bytes, so that the other half has room for pages.
// Many pages only cause more batches, but many keys cause more slices, each of which reads its
// pages again.
constexpr uint64_t kBytesPerSliceKey = 2 * sizeof(AskedKey);
constexpr uint64_t kMinMaxBytes = 2 * kPageBytes;

// A page that the keys [first, end) of a slice need.
struct NeededPage {
  size_t group;
  uint64_t number;  // index in the payload
  size_t first, end;
  size_t slot;  // index in memory
};

struct alignas(64) PageBytes {
  std::byte bytes[kPageBytes];
};

// Pages that are read together, ascending. The number of these pages and of the pages in gaps is
// limited.
class PageWindow {
 public:
  PageWindow(uint64_t max_pages, uint64_t max_gap_pages)
      : max_pages_(max_pages), max_gap_pages_(max_gap_pages) {}

  bool empty() const { return pages_.empty(); }
  std::span<const NeededPage> pages() const { return pages_; }
  std::span<const std::byte> BytesOf(const NeededPage& page) const {
    return memory_[page.slot].bytes;
  }

  // Returns false if the page does not fit. An empty window always has room for one page.
  bool Add(NeededPage page) {
    const uint64_t gap = empty() ? 0 : page.number - pages_.back().number - 1;
    const bool joins = !empty() && gap <= max_gap_pages_;
    const uint64_t more = joins ? gap + 1 : 1;
    if (more > max_pages_ - used_) return false;
    if (joins) {
      ranges_.back().pages += more;
    } else {
      ranges_.push_back({page.number, 1});
    }
    used_ += more;
    page.slot = static_cast<size_t>(used_ - 1);
    pages_.push_back(page);
    return true;
  }

  void Read(const BankReadFunction& read) {
    if (capacity_ < used_) {
      memory_.reset();  // frees the memory before allocating more
      capacity_ = 0;
      // make_unique would first write zeros.
      memory_.reset(new PageBytes[static_cast<size_t>(used_)]);
      capacity_ = used_;
    }
    reads_.clear();
    std::byte* to = memory_[0].bytes;
    for (const Range& range : ranges_) {
      const auto bytes = static_cast<size_t>(range.pages * kPageBytes);
      reads_.push_back({detail::kBankPayloadAt + range.first * kPageBytes, {to, bytes}});
      to += bytes;
    }
    read(reads_);
  }

  void Clear() {
    pages_.clear();
    ranges_.clear();
    used_ = 0;
  }

 private:
  struct Range {
    uint64_t first, pages;
  };

  uint64_t max_pages_, max_gap_pages_;
  uint64_t used_ = 0;
  std::vector<NeededPage> pages_;
  std::vector<Range> ranges_;
  std::vector<BankRead> reads_;
  std::unique_ptr<PageBytes[]> memory_;
  uint64_t capacity_ = 0;
};

// Reads header and tables. Requests the start of the file as one range, and takes the header from
// it.
BankFile ReadTables(uint64_t file_bytes, const BankReadFunction& read, const std::string& name) {
  std::vector<std::byte> start(std::min(file_bytes, detail::kBankPayloadAt));
  const auto read_one = [&](std::span<std::byte> out, uint64_t offset) {
    if (out.empty()) return;
    const BankRead one{offset, out};
    read({&one, 1});
  };
  read_one(start, 0);
  return detail::ReadBankFile(
      file_bytes,
      [&](std::span<std::byte> out, uint64_t offset) {
        if (offset + out.size() > start.size()) return read_one(out, offset);
        std::copy_n(start.begin() + static_cast<ptrdiff_t>(offset), out.size(), out.begin());
      },
      name);
}

const BankReadFunction& Checked(const BankReadFunction& read, const BankReaderOptions& options) {
  if (!read)
    throw Error(ErrorCode::kInvalidArgument, "the read function of a bank reader is empty");
  if (options.max_bytes < kMinMaxBytes) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("max_bytes of a bank reader is ", options.max_bytes,
                               ", must be at least ", kMinMaxBytes));
  }
  return read;
}

}  // namespace

class BankReader::Impl {
 public:
  Impl(uint64_t file_bytes, BankReadFunction read_ranges, const BankReaderOptions& options)
      : file(ReadTables(file_bytes, Checked(read_ranges, options), options.name)),
        hash(detail::HashOf(file.header, options.secret, options.name)),
        backend(options.backend != nullptr ? options.backend : &DefaultBackend()),
        read(std::move(read_ranges)),
        max_bytes(options.max_bytes),
        max_gap_bytes(options.max_gap_bytes) {
    ForEachMember([&](size_t g, size_t slot) {
      names.emplace(file.groups[g].members[slot].name, std::pair(g, slot));
    });
  }

  const detail::Kernels& kernels() const noexcept { return *backend->kernels; }
  size_t row_words() const noexcept { return bank::kRowWords * file.groups.size(); }

  template <typename Visit>
  void ForEachMember(const Visit& visit) const {
    for (size_t g = 0; g < file.groups.size(); ++g) {
      for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
        if (IsSet(file.groups[g].live, slot)) visit(g, slot);
      }
    }
  }

  BankMember MemberAt(size_t g, size_t slot) const {
    const BankFile::Group& group = file.groups[g];
    const MemberData& data = group.members[slot];
    return {data.name,        bank::kGroupMembers * g + slot,
            group.num_blocks, data.capacity,
            data.inserted,    data.key_types};
  }

  // Calls visit(group, keys, rows), in any order, so that each valid key is visited once for each
  // group with members. `rows` has bank::kRowWords words for each of `keys`.
  using VisitRows =
      detail::FunctionRef<void(size_t group, std::span<const AskedKey> keys, const uint64_t* rows)>;
  void LookUp(const Keys& keys, VisitRows visit) const {
    if (file.groups.empty()) return;
    const auto slice_keys =
        static_cast<size_t>(std::min<uint64_t>(keys.size(), max_bytes / kBytesPerSliceKey));
    std::vector<AskedKey> asked;
    asked.reserve(slice_keys);
    PageWindow window((max_bytes - slice_keys * sizeof(AskedKey)) / kPageBytes,
                      max_gap_bytes / kPageBytes);
    for (size_t begin = 0; begin < keys.size(); begin += slice_keys) {
      const Keys slice = keys.Slice(begin, std::min(slice_keys, keys.size() - begin));
      asked.clear();
      detail::ForEachBatchAndNulls(
          kernels(), slice, hash, detail::kUnlimited, [&](const Batch& batch, size_t at) {
            for (size_t i = 0; i < batch.n; ++i) {
              if (!slice.IsValid(at + i)) continue;
              asked.push_back({batch.hasher(batch.values[i]), begin + at + i});
            }
          });
      std::ranges::sort(asked, {}, &AskedKey::hash);
      LookUpSlice(asked, window, visit);
    }
  }

  BankFile file;
  HashSpec hash;
  const Backend* backend;
  BankReadFunction read;
  uint64_t max_bytes, max_gap_bytes;
  std::map<std::string_view, std::pair<size_t, size_t>> names;  // group and place
  mutable std::mutex mutex;                                     // guards `damaged`
  mutable std::set<std::pair<size_t, uint64_t>> damaged;        // group and page of the payload

 private:
  void LookUpSlice(std::span<const AskedKey> asked, PageWindow& window, VisitRows visit) const {
    for (size_t g = 0; g < file.groups.size(); ++g) {
      const BankFile::Group& group = file.groups[g];
      if (CountSet(group.live) == 0) continue;
      const auto block_of = [&](size_t i) {
        return split_block::BlockIndex32(asked[i].hash, group.num_blocks);
      };
      for (size_t first = 0, end = 0; first < asked.size(); first = end) {
        const uint64_t block = block_of(first);
        while (end < asked.size() && block_of(end) == block) ++end;
        const NeededPage page{g, group.first_page + block, first, end, 0};
        if (window.Add(page)) continue;
        Answer(asked, window, visit);
        window.Add(page);
      }
    }
    Answer(asked, window, visit);
  }

  // Reads the pages of a window, passes the answers of their keys to `visit`, and empties the
  // window.
  void Answer(std::span<const AskedKey> asked, PageWindow& window, VisitRows visit) const {
    if (window.empty()) return;
    window.Read(read);
    for (const NeededPage& page : window.pages()) {
      const std::span<const std::byte> bytes = window.BytesOf(page);
      const bool intact = detail::IsBankPage(bytes, file.pages[page.number]);
      if (!intact) {
        const std::lock_guard lock(mutex);
        damaged.emplace(page.group, page.number);
      }
      const detail::MemberMask& live = file.groups[page.group].live;
      const BankRows rows{reinterpret_cast<const uint64_t*>(bytes.data()), 1, live.data()};
      for (size_t begin = page.first; begin < page.end; begin += kKeysAtOnce) {
        const auto keys = asked.subspan(begin, std::min(kKeysAtOnce, page.end - begin));
        alignas(64) uint64_t found[kKeysAtOnce * bank::kRowWords];
        if (intact) {
          uint64_t hashes[kKeysAtOnce];
          std::ranges::transform(keys, hashes, &AskedKey::hash);
          kernels().bank.look_up(&rows, 1, detail::HashBatch(hashes, keys.size()), found,
                                 bank::kRowWords);
        } else {
          for (size_t i = 0; i < keys.size(); ++i) {
            std::ranges::copy(live, found + i * bank::kRowWords);
          }
        }
        visit(page.group, keys, found);
      }
    }
    window.Clear();
  }
};

BankReader::BankReader(uint64_t file_bytes, BankReadFunction read, const BankReaderOptions& options)
    : impl_(std::make_unique<Impl>(file_bytes, std::move(read), options)) {}
BankReader::BankReader(BankReader&&) noexcept = default;
BankReader& BankReader::operator=(BankReader&&) noexcept = default;
BankReader::~BankReader() = default;

const HashSpec& BankReader::hash() const noexcept { return impl_->hash; }
double BankReader::fpr() const noexcept { return impl_->file.fpr; }
const Backend& BankReader::backend() const noexcept { return *impl_->backend; }
uint64_t BankReader::num_members() const noexcept { return impl_->names.size(); }
size_t BankReader::row_words() const noexcept { return impl_->row_words(); }
uint64_t BankReader::bytes() const noexcept { return impl_->file.header.payload_bytes; }

std::vector<BankMember> BankReader::members() const {
  std::vector<BankMember> all;
  all.reserve(num_members());
  impl_->ForEachMember([&](size_t g, size_t slot) { all.push_back(impl_->MemberAt(g, slot)); });
  return all;
}

std::vector<BankGroupInfo> BankReader::groups() const {
  std::vector<BankGroupInfo> all;
  for (const BankFile::Group& group : impl_->file.groups) {
    const size_t live = CountSet(group.live);
    all.push_back(
        {group.num_blocks, live, CountSet(group.filled) - live, group.num_blocks * kPageBytes});
  }
  return all;
}

std::optional<BankMember> BankReader::Find(const MemberName& name) const {
  const auto found = impl_->names.find(name.text());
  if (found == impl_->names.end()) return std::nullopt;
  return impl_->MemberAt(found->second.first, found->second.second);
}

const std::string& BankReader::NameOf(uint64_t index) const {
  const uint64_t g = index / bank::kGroupMembers;
  const size_t slot = index % bank::kGroupMembers;
  if (g >= impl_->file.groups.size() || !IsSet(impl_->file.groups[g].live, slot)) {
    throw Error(ErrorCode::kInvalidArgument,
                detail::StrCat("the bank has no member with index ", index));
  }
  return impl_->file.groups[g].members[slot].name;
}

size_t BankReader::Contains(uint64_t key, Bitmap out) const {
  return ContainsHash(HashU64(key, impl_->hash), out);
}

size_t BankReader::Contains(std::string_view key, Bitmap out) const {
  return ContainsHash(HashBytes(key, impl_->hash), out);
}

size_t BankReader::ContainsHash(uint64_t hash, Bitmap out) const {
  return Contains(Keys(Hashes{{&hash, 1}}), out);
}

size_t BankReader::Contains(Keys keys, Bitmap out) const {
  const size_t stride = row_words();
  detail::RequireRoom(out, uint64_t{kWordBits} * keys.size() * stride);
  uint64_t* const rows = out.words().data();
  std::fill_n(rows, keys.size() * stride, 0);  // for nulls and groups without members
  size_t total = 0;
  impl_->LookUp(keys, [&](size_t g, std::span<const AskedKey> asked, const uint64_t* found) {
    for (size_t i = 0; i < asked.size(); ++i) {
      std::copy_n(found + i * bank::kRowWords, bank::kRowWords,
                  rows + asked[i].index * stride + g * bank::kRowWords);
    }
    total += impl_->kernels().popcount(found, asked.size() * bank::kRowWords);
  });
  return total;
}

std::vector<BankHit> BankReader::Select(Keys keys) const {
  std::vector<BankHit> hits;
  impl_->LookUp(keys, [&](size_t g, std::span<const AskedKey> asked, const uint64_t* found) {
    for (size_t i = 0; i < asked.size(); ++i) {
      for (size_t w = 0; w < bank::kRowWords; ++w) {
        for (uint64_t rest = found[i * bank::kRowWords + w]; rest != 0; rest &= rest - 1) {
          const size_t slot = kWordBits * w + static_cast<size_t>(std::countr_zero(rest));
          hits.push_back({asked[i].index, bank::kGroupMembers * g + slot});
        }
      }
    }
  });
  std::ranges::sort(hits, {}, [](const BankHit& hit) { return std::pair(hit.key, hit.member); });
  return hits;
}

std::vector<uint64_t> BankReader::CountPerMember(Keys keys) const {
  std::vector<uint64_t> counts(kWordBits * row_words());
  impl_->LookUp(keys, [&](size_t g, std::span<const AskedKey> asked, const uint64_t* found) {
    impl_->kernels().bank.count(found, asked.size(), bank::kRowWords, bank::kRowWords,
                                counts.data() + bank::kGroupMembers * g);
  });
  return counts;
}

std::vector<BankDamage> BankReader::damaged() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<BankDamage> all;
  for (const auto& [g, page] : impl_->damaged) {
    all.push_back({g, page - impl_->file.groups[g].first_page,
                   detail::kBankPayloadAt + page * kPageBytes, kPageBytes});
  }
  return all;
}

}  // namespace tamis
