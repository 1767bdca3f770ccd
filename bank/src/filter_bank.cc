#include "tamis/bank/filter_bank.h"

#include <string>
#include <utility>

#include "bank/src/bank_state.h"
#include "core/src/bulk/output.h"
#include "core/src/engine/engine_access.h"
#include "tamis/detail/str_cat.h"
#include "tamis/engine/engine.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"

namespace tamis {

using detail::CountSet;
using detail::IsSet;

namespace {

void RequireRow(Bitmap out, size_t rows, size_t row_words) {
  detail::RequireRoom(out, uint64_t{64} * rows * row_words);
}

}  // namespace

FilterBank::FilterBank(const BankOptions& options) : impl_(std::make_unique<Impl>(options)) {}
FilterBank::FilterBank(FilterBank&&) noexcept = default;
FilterBank& FilterBank::operator=(FilterBank&&) noexcept = default;
FilterBank::~FilterBank() = default;

const HashSpec& FilterBank::hash() const noexcept { return impl_->hash; }
double FilterBank::fpr() const noexcept { return impl_->fpr; }
const Backend& FilterBank::backend() const noexcept { return *impl_->backend; }
void FilterBank::set_backend(const Backend& backend) noexcept { impl_->backend = &backend; }
bool FilterBank::read_only() const noexcept { return impl_->read_only; }
uint64_t FilterBank::num_members() const noexcept { return impl_->names.size(); }
size_t FilterBank::row_words() const noexcept { return impl_->row_words(); }

uint64_t FilterBank::bytes() const noexcept {
  uint64_t sum = impl_->waiting.bytes();
  for (const detail::BankGroup& group : impl_->groups) sum += group.storage.size();
  return sum;
}

std::vector<BankMember> FilterBank::members() const {
  std::vector<BankMember> all;
  all.reserve(num_members());
  for (size_t g = 0; g < impl_->groups.size(); ++g) {
    for (size_t slot = 0; slot < bank::kGroupMembers; ++slot) {
      if (IsSet(impl_->groups[g].live, slot)) all.push_back(impl_->MemberAt({g, slot}));
    }
  }
  for (size_t i = 0; i < impl_->waiting.size(); ++i) {
    all.push_back(impl_->MemberAt({Impl::kWaiting, i}));
  }
  return all;
}

std::vector<BankGroupInfo> FilterBank::groups() const {
  std::vector<BankGroupInfo> all;
  for (const detail::BankGroup& group : impl_->groups) {
    const size_t live = CountSet(group.live);
    all.push_back({group.num_blocks, live, CountSet(group.filled) - live, group.storage.size()});
  }
  return all;
}

std::optional<BankMember> FilterBank::Find(const MemberName& name) const {
  const auto found = impl_->names.find(name.text());
  if (found == impl_->names.end()) return std::nullopt;
  return impl_->MemberAt(found->second);
}

const std::string& FilterBank::NameOf(uint64_t index) const {
  const uint64_t in_groups = bank::kGroupMembers * impl_->groups.size();
  if (index < in_groups) {
    const detail::BankGroup& group = impl_->groups[index / bank::kGroupMembers];
    const size_t slot = index % bank::kGroupMembers;
    if (IsSet(group.live, slot)) return group.members[slot].name;
  } else if (index - in_groups < impl_->waiting.size()) {
    return impl_->waiting[index - in_groups].data.name;
  }
  throw Error(ErrorCode::kInvalidArgument,
              detail::StrCat("the bank has no member with index ", index));
}

FilterBank::Added FilterBank::Add(const MemberName& name, const SplitBlockBloomFilter& filter) {
  impl_->RequireWritable();
  impl_->RequireNewName(name.text());
  impl_->RequireHash(filter.hash());
  BankBlocks(filter.num_blocks());  // throws if the filter has too many blocks
  // Clone verifies a mapped filter.
  if (filter.read_only()) return impl_->AddCopy(name.text(), filter.Clone(impl_->memory));
  return impl_->AddCopy(name.text(), filter);
}

FilterBank::Added FilterBank::Add(const MemberName& name, Keys keys) {
  impl_->RequireWritable();
  impl_->RequireNewName(name.text());
  const uint64_t n = std::max<uint64_t>(1, keys.CountValid());
  FilterOptions options;
  options.capacity = n;
  options.bytes = BankBlocks(SplitBlockBlocks(n, impl_->fpr)) * split_block::kBlockBytes;
  options.hash = impl_->hash;
  options.memory = impl_->memory;
  options.backend = impl_->backend;
  SplitBlockBloomFilter filter(options);
  filter.Insert(keys);
  return impl_->AddCopy(name.text(), filter);
}

void FilterBank::Flush() {
  impl_->RequireWritable();
  impl_->Flush();
}

bool FilterBank::Remove(const MemberName& name) {
  impl_->RequireWritable();
  return impl_->Remove(name.text());
}

SplitBlockBloomFilter FilterBank::Extract(const MemberName& name,
                                          const MemoryOptions& memory) const {
  return impl_->Extract(name.text(), memory);
}

void FilterBank::Merge(const FilterBank& other) {
  impl_->RequireWritable();
  impl_->RequireHash(other.hash());
  for (const auto& [name, place] : other.impl_->names) impl_->RequireNewName(name);
  for (const detail::BankGroup& group : other.impl_->groups) {
    other.impl_->RequireIntact(group);
    impl_->MergeGroup(group);
  }
  for (const detail::WaitingMembers::Member& member : other.impl_->waiting) {
    impl_->AddCopy(member.data, member.num_blocks, member.words);
  }
}

void FilterBank::Compact() {
  impl_->RequireWritable();
  impl_->Compact();
}

size_t FilterBank::Contains(uint64_t key, Bitmap out) const {
  return ContainsHash(HashU64(key, impl_->hash), out);
}

size_t FilterBank::Contains(std::string_view key, Bitmap out) const {
  return ContainsHash(HashBytes(key, impl_->hash), out);
}

size_t FilterBank::ContainsHash(uint64_t hash, Bitmap out) const {
  RequireRow(out, 1, row_words());
  return impl_->ContainsHash(hash, out.words().data());
}

size_t FilterBank::Contains(Keys keys, Bitmap out) const {
  RequireRow(out, keys.size(), row_words());
  detail::CallingThread alone;
  return impl_->Contains(keys, out.words().data(), alone);
}

std::vector<BankHit> FilterBank::Select(Keys keys) const {
  detail::CallingThread alone;
  return impl_->Select(keys, alone);
}

std::vector<uint64_t> FilterBank::CountPerMember(Keys keys) const {
  detail::CallingThread alone;
  return impl_->CountPerMember(keys, alone);
}

size_t FilterBank::Contains(const Engine& engine, Keys keys, Bitmap out) const {
  RequireRow(out, keys.size(), row_words());
  size_t found = 0;
  detail::EngineAccess::WithWorkers(engine, [&](detail::Workers& workers) {
    found = impl_->Contains(keys, out.words().data(), workers);
  });
  return found;
}

std::vector<BankHit> FilterBank::Select(const Engine& engine, Keys keys) const {
  std::vector<BankHit> hits;
  detail::EngineAccess::WithWorkers(
      engine, [&](detail::Workers& workers) { hits = impl_->Select(keys, workers); });
  return hits;
}

std::vector<uint64_t> FilterBank::CountPerMember(const Engine& engine, Keys keys) const {
  std::vector<uint64_t> counts;
  detail::EngineAccess::WithWorkers(
      engine, [&](detail::Workers& workers) { counts = impl_->CountPerMember(keys, workers); });
  return counts;
}

double FilterBank::expected_false_members() const { return impl_->expected_false_members(); }

}  // namespace tamis
