#include "tamis/join/join_filter.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/src/base/hash_check.h"
#include "core/src/bulk/batches.h"
#include "core/src/bulk/valid_keys.h"
#include "join/src/join_choice.h"
#include "join/src/join_part.h"
#include "tamis/backends.h"
#include "tamis/detail/str_cat.h"
#include "tamis/error.h"
#include "tamis/filters/sizing.h"
#include "tamis/hash_kinds.h"
#include "tamis/layout/split_block.h"

namespace tamis {
namespace detail {
namespace {

// Keys of a form with blocks whose range is checked at a time. They stay in a first-level cache.
constexpr size_t kRangeKeys = 4096;
// The range is checked only if it is smaller than this. A larger one removes few keys. The answer
// for a key must not depend on the other keys of a call, so the check cannot depend on them either.
constexpr uint64_t kCheckedSpan = uint64_t{1} << 62;

// The owner of a ValueList.
struct OwnedList {
  std::vector<uint64_t> slots;  // empty: no values
  ValueList view;

  // Finds a multiplier without collisions, and returns whether there was one. Two values collide
  // with a probability of at most 2 / slots (Dietzfelbinger et al., "A Reliable Randomized
  // Algorithm for the Closest-Pair Problem", 1997). So at least half of all odd multipliers
  // separate 64 values in 8192 slots. Small limits of bytes allow fewer slots.
  bool Build(const std::vector<uint64_t>& values, uint64_t max_bytes) {
    if (values.empty()) return true;
    constexpr uint64_t kMaxSlots = 8192;
    constexpr int kAttempts = 64;
    uint64_t random = 0;
    for (uint64_t size = FirstListSlots(values.size());
         size <= std::min(kMaxSlots, max_bytes / sizeof(uint64_t)); size *= 2) {
      view.shift = 64 - std::countr_zero(size);
      for (int i = 0; i < kAttempts; ++i) {
        view.multiplier = HashU64(++random) | 1;
        if (Fill(values, size)) return true;
      }
    }
    return false;
  }

  size_t SlotOf(uint64_t value) const { return (value * view.multiplier) >> view.shift; }

  // Slots without a value get a value that belongs elsewhere. The slot of this value gets itself.
  bool Fill(const std::vector<uint64_t>& values, uint64_t size) {
    slots.assign(size, values[0]);
    for (size_t i = 1; i < values.size(); ++i) {
      uint64_t& slot = slots[SlotOf(values[i])];
      if (slot != values[0] || SlotOf(values[i]) == SlotOf(values[0])) return false;
      slot = values[i];
    }
    view.slots = slots.data();
    return true;
  }

  void Query(const Kernels& kernels, const uint64_t* values, size_t n, uint64_t* bits) const {
    if (slots.empty()) {
      std::fill_n(bits, BitmapWords(n), uint64_t{0});
    } else {
      kernels.join.in_list(view, values, n, bits);
    }
  }
};

// Sets the first `n` bits, and clears the other bits of the last word.
void SetAll(uint64_t* bits, size_t n) noexcept {
  std::fill_n(bits, BitmapWords(n), ~uint64_t{0});
  if (n % 64 != 0) bits[n / 64] = (uint64_t{1} << (n % 64)) - 1;
}

}  // namespace

// A structure that answers queries. Nothing changes after it was published.
struct CompletedJoin {
  JoinForm form = JoinForm::kNothing;
  JoinChoice choice;
  std::optional<ValueRange> range;  // integers only; empty for no keys
  OwnedList list;                   // of the integers, or of the hashes
  OwnedList hash_list;              // of the hashes of the integers
  size_t list_keys = 0;
  std::vector<uint64_t> bitmap;
  std::unique_ptr<SplitBlockBloomFilter> blocks;

  // Writes the bits of values that are integers or hashes, as the parts had them.
  void Query(const Kernels& kernels, JoinKeyType type, const Batch& batch, uint64_t* bits) const {
    switch (form) {
      case JoinForm::kNothing:
        return SetAll(bits, batch.n);
      case JoinForm::kBitmap:
        return kernels.join.in_bitmap(bitmap.data(), *range, batch.values, batch.n, bits);
      case JoinForm::kList:
        if (type == JoinKeyType::kHashes && batch.hasher.source != Source::kHashes) {
          return QueryHashed(kernels, list, batch, bits);
        }
        return list.Query(kernels, batch.values, batch.n, bits);
      case JoinForm::kBlocks:
        if (type == JoinKeyType::kHashes) return Probe(kernels, batch, bits);
        return ProbeInRange(kernels, batch, bits);
    }
  }

  // Writes the bits of hashes of integers.
  void QueryHashes(const Kernels& kernels, const Batch& batch, uint64_t* bits) const {
    if (form == JoinForm::kList) return hash_list.Query(kernels, batch.values, batch.n, bits);
    if (form == JoinForm::kBlocks) return Probe(kernels, batch, bits);
    SetAll(bits, batch.n);
  }

 private:
  static void QueryHashed(const Kernels& kernels, const OwnedList& list, const Batch& batch,
                          uint64_t* bits) {
    alignas(64) uint64_t hashes[kBatchKeys];
    ForEachSlice(batch, [&](const Batch& slice, size_t begin) {
      kernels.hash(slice, hashes);
      list.Query(kernels, hashes, slice.n, bits + begin / 64);
    });
  }

  void Probe(const Kernels& kernels, const Batch& batch, uint64_t* bits) const {
    const auto* const words = reinterpret_cast<const uint32_t*>(blocks->payload().data());
    kernels.split_block.contains(words, blocks->num_blocks(), batch, bits);
  }

  // Probes only the slices that have keys in the range.
  void ProbeInRange(const Kernels& kernels, const Batch& batch, uint64_t* bits) const {
    if (!range || range->span >= kCheckedSpan) return Probe(kernels, batch, bits);
    alignas(64) uint64_t in_range[kRangeKeys / 64];
    for (size_t begin = 0; begin < batch.n; begin += kRangeKeys) {
      const Batch some = {batch.hasher, batch.values + begin,
                          std::min(kRangeKeys, batch.n - begin)};
      const size_t words = BitmapWords(some.n);
      uint64_t* const out = bits + begin / 64;
      kernels.join.in_range(*range, some.values, some.n, in_range);
      if (std::all_of(in_range, in_range + words, [](uint64_t word) { return word == 0; })) {
        std::fill_n(out, words, uint64_t{0});
        continue;
      }
      Probe(kernels, some, out);
      kernels.intersect(out, in_range, words);
    }
  }
};

struct JoinState {
  JoinGeometry geometry;
  JoinLimits limits;
  JoinChoice first_choice;
  const Backend* backend = nullptr;

  mutable std::mutex mutex;  // guards the next three
  std::unique_ptr<JoinPartState> sum;
  std::vector<bool> added;
  uint32_t parts_added = 0;

  std::unique_ptr<const CompletedJoin> owned;
  std::unique_ptr<const CompletedJoin> without_memory;   // takes its place if memory runs out
  std::atomic<const CompletedJoin*> completed{nullptr};  // nullptr before completion

  const CompletedJoin* get() const noexcept { return completed.load(std::memory_order_acquire); }
  std::unique_ptr<CompletedJoin> MakeCompleted() const;
  void RequireAllParts(uint32_t expected) const;
  void RequireIncomplete() const {
    if (get() != nullptr) throw Error(ErrorCode::kReadOnly, "the join filter is complete");
  }
};

namespace {

std::string WhyNothing(JoinLimit limit, uint64_t max_bytes) {
  switch (limit) {
    case JoinLimit::kBytes:
      return StrCat("a part had more keys than fit ", max_bytes, " bytes");
    case JoinLimit::kRange:
      return "a part had a key outside of the known range";
    case JoinLimit::kMemory:
      return "there was not enough memory";
    case JoinLimit::kNone:
      break;
  }
  return "";
}

JoinChoice NothingBecause(std::string reason) {
  JoinChoice choice;
  choice.reason = std::move(reason);
  return choice;
}

ValueRange ToValues(const JoinKeyRange& range) { return {range.low, range.span()}; }

// Returns false, and leaves no list, if no table was found.
bool MakeList(const JoinPartState& sum, const JoinLimits& limits, std::vector<uint64_t> values,
              CompletedJoin& out) {
  out.list_keys = values.size();
  const uint64_t max_bytes = limits.max_bytes / limits.list_tables;
  bool built = out.list.Build(values, max_bytes);
  if (sum.geometry.key_type == JoinKeyType::kIntegers) {
    for (uint64_t& value : values) value = HashU64(value, sum.geometry.hash);
    built = built && out.hash_list.Build(values, max_bytes);
  }
  if (!built) out.list = out.hash_list = {};
  return built;
}

void MakeBitmap(const JoinPartState& sum, CompletedJoin& out) {
  out.bitmap.resize(JoinBitmapWords(out.range->span));
  for (const uint64_t key : sum.keys) {
    const uint64_t bit = key - out.range->low;
    out.bitmap[bit / 64] |= uint64_t{1} << (bit % 64);
  }
}

void MakeBlocks(const JoinPartState& sum, const Backend* backend, uint64_t bytes,
                CompletedJoin& out) {
  out.blocks = std::make_unique<SplitBlockBloomFilter>(
      FilterOptions{.bytes = bytes, .hash = sum.geometry.hash, .backend = backend});
  out.blocks->Insert(sum.AsKeys(sum.keys.data(), sum.keys.size()));
}

// Chooses from keys in full.
void CompleteKeys(JoinPartState& sum, const JoinLimits& limits, const Backend* backend,
                  CompletedJoin& out) {
  sum.RemoveManyDuplicates();
  std::optional<std::vector<uint64_t>> few = FewDistinct(sum.keys);
  JoinFacts facts = {.keys = few ? few->size() : sum.keys.size()};
  if (few) facts.no_list = "";
  if (out.range) facts.span = out.range->span;
  out.choice = ChooseJoinForm(limits, facts);
  if (out.choice.form == JoinForm::kList && !MakeList(sum, limits, std::move(*few), out)) {
    facts.no_list = "no table without collisions was found";
    out.choice = ChooseJoinForm(limits, facts);
  }
  out.form = out.choice.form;
  if (out.form == JoinForm::kBitmap) MakeBitmap(sum, out);
  if (out.form == JoinForm::kBlocks) {
    MakeBlocks(sum, backend, out.choice.candidates.front().bytes, out);
  }
}

}  // namespace

// Moves nothing out of the sum before the last step that can throw.
std::unique_ptr<CompletedJoin> JoinState::MakeCompleted() const {
  auto out = std::make_unique<CompletedJoin>();
  if (sum->contents == JoinForm::kNothing) {
    out->choice = NothingBecause(WhyNothing(sum->limit, geometry.max_bytes));
    return out;
  }
  const bool integers = geometry.key_type == JoinKeyType::kIntegers;
  if (integers && !sum->extent.empty()) out->range = ToValues(sum->extent.range());
  if (sum->contents == JoinForm::kList) {
    CompleteKeys(*sum, limits, backend, *out);
    return out;
  }
  out->form = sum->contents;
  out->choice.form = out->form;
  if (sum->contents == JoinForm::kBlocks) {
    out->choice.reason = "a part, or all parts together, had more keys than could be kept in full";
    out->blocks = std::move(sum->blocks);
  } else {
    out->choice = first_choice;
    out->range = ToValues(geometry.range);
    out->bitmap = std::move(sum->bitmap);
    if (out->bitmap.empty()) out->bitmap.resize(JoinBitmapWords(out->range->span));
  }
  return out;
}

void JoinState::RequireAllParts(uint32_t expected) const {
  std::string missing;
  uint32_t count = 0;
  for (uint32_t i = 0; i < expected && count <= 3; ++i) {
    if (i < added.size() && added[i]) continue;
    missing += count == 3 ? ", ..." : StrCat(count == 0 ? " " : ", ", i);
    ++count;
  }
  if (count != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                StrCat("parts are missing:", missing, "; expected are ", expected, ", added were ",
                       parts_added));
  }
  if (parts_added == expected) return;
  throw Error(ErrorCode::kInvalidArgument,
              StrCat(parts_added, " parts were added; expected are ", expected));
}

}  // namespace detail

using detail::JoinPartState;
using detail::StrCat;

namespace {

void Require(bool good, const std::string& message) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, message);
}

void Check(const JoinFilterOptions& options) {
  constexpr uint64_t kMinBytes = 4096;
  Require(options.expected_keys > 0, "expected_keys is 0, must be at least 1");
  Require(options.fpr >= kMinFpr && options.fpr <= kMaxFpr, "fpr must be in [1e-12, 0.5]");
  Require(options.max_bytes >= kMinBytes,
          StrCat("max_bytes is ", options.max_bytes, ", must be at least ", kMinBytes));
  Require(options.kept_keys > 0, "kept_keys is 0, must be at least 1");
  Require(
      options.l2_bytes <= options.l3_bytes,
      StrCat("l2_bytes is ", options.l2_bytes, ", must be at most l3_bytes, ", options.l3_bytes));
  detail::CheckedHash(options.hash);
  Require(!IsKeyed(options.hash.kind), StrCat("a join filter has no secret, so its hash cannot be ",
                                              HashKindName(options.hash.kind)));
  Require(!options.range || options.key_type == JoinKeyType::kIntegers,
          "a range needs JoinKeyType::kIntegers");
  Require(options.key_type <= JoinKeyType::kHashes, "key_type is unknown");
  if (options.calibration != nullptr) options.calibration->Validate();
}

bool IsInteger(const Keys& keys) {
  return keys.layout() == KeyLayout::kU64 || keys.layout() == KeyLayout::kU32 ||
         keys.layout() == KeyLayout::kI32;
}

// Returns whether some of the keys are times that need 128 bits (TimeKeys).
bool AreWideTimes(const Keys& keys) {
  return keys.key_type() == KeyType::kTime && keys.layout() == KeyLayout::kStringViews;
}

// Nulls may have any layout, because a column of only nulls often has no type.
void RequireType(JoinKeyType type, const Keys& keys, bool hashes) {
  if (type == JoinKeyType::kHashes || IsInteger(keys)) return;
  if (hashes && (keys.layout() == KeyLayout::kHashes || AreWideTimes(keys))) return;
  if (keys.CountValid() == 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              StrCat("the keys of this join are integers; ",
                     keys.key_type() == KeyType::kTime ? "times before 1677 or after 2262"
                     : hashes                          ? "strings"
                                                       : "other keys",
                     " need a join of hashes"));
}

}  // namespace

JoinFilter::JoinFilter(const JoinFilterOptions& options)
    : state_(std::make_unique<detail::JoinState>()) {
  Check(options);
  state_->backend = options.backend != nullptr ? options.backend : &DefaultBackend();
  state_->limits = detail::LimitsOf(options, *state_->backend);
  detail::JoinFacts facts = {.keys = options.expected_keys};
  if (options.range) facts.span = options.range->span();
  state_->first_choice = detail::ChooseJoinForm(state_->limits, facts);
  detail::JoinGeometry& geometry = state_->geometry;
  geometry = {.key_type = options.key_type,
              .hash = options.hash,
              .has_bitmap = state_->first_choice.form == JoinForm::kBitmap,
              .max_bytes = options.max_bytes};
  if (geometry.has_bitmap) {
    geometry.range = *options.range;
  } else {
    geometry.kept_keys = std::min(options.kept_keys, options.max_bytes / sizeof(uint64_t));
    for (const JoinCandidate& candidate : state_->first_choice.candidates) {
      if (candidate.form != JoinForm::kBlocks || !candidate.possible()) continue;
      geometry.num_blocks = candidate.bytes / split_block::kBlockBytes;
    }
  }
  state_->sum = std::make_unique<JoinPartState>(geometry, 0, state_->backend);
  auto nothing = std::make_unique<detail::CompletedJoin>();
  nothing->choice =
      detail::NothingBecause(detail::WhyNothing(detail::JoinLimit::kMemory, options.max_bytes));
  state_->without_memory = std::move(nothing);
}

JoinFilter::~JoinFilter() = default;

JoinFilter::Part JoinFilter::MakePart(uint32_t index) const {
  Require(index < detail::kMaxJoinParts,
          StrCat("the number of the part is ", index, ", must be below ", detail::kMaxJoinParts));
  return Part(std::make_unique<JoinPartState>(state_->geometry, index, state_->backend));
}

void JoinFilter::Add(Part&& part) {
  Require(part.state_ != nullptr, "the part was moved");
  JoinPartState& from = *part.state_;
  if (from.geometry != state_->geometry) {
    throw Error(ErrorCode::kIncompatible,
                StrCat("part ", from.index, " has another layout (", from.geometry.ToText(),
                       ") than the join filter (", state_->geometry.ToText(), ")"));
  }
  const std::lock_guard lock(state_->mutex);
  state_->RequireIncomplete();
  if (from.index >= state_->added.size()) state_->added.resize(from.index + size_t{1});
  Require(!state_->added[from.index], StrCat("part ", from.index, " was added before"));
  state_->added[from.index] = true;
  ++state_->parts_added;
  state_->sum->Merge(std::move(from));
  part.state_.reset();
}

void JoinFilter::Complete(uint32_t parts_expected) {
  const std::lock_guard lock(state_->mutex);
  state_->RequireIncomplete();
  state_->RequireAllParts(parts_expected);
  try {
    state_->owned = state_->MakeCompleted();
  } catch (const std::exception&) {  // std::bad_alloc or Error(kOutOfMemory)
    state_->sum->GiveUp(detail::JoinLimit::kMemory);
    state_->owned = std::move(state_->without_memory);
  }
  state_->sum->keys = {};
  state_->completed.store(state_->owned.get(), std::memory_order_release);
}

bool JoinFilter::complete() const noexcept { return state_->get() != nullptr; }

JoinForm JoinFilter::form() const noexcept {
  const auto* const completed = state_->get();
  return completed == nullptr ? JoinForm::kNothing : completed->form;
}

JoinChoice JoinFilter::choice() const {
  const auto* const completed = state_->get();
  return completed == nullptr ? state_->first_choice : completed->choice;
}

uint32_t JoinFilter::parts_added() const {
  const std::lock_guard lock(state_->mutex);
  return state_->parts_added;
}

std::optional<JoinKeyRange> JoinFilter::range() const noexcept {
  const auto* const completed = state_->get();
  if (completed == nullptr || !completed->range || completed->form == JoinForm::kNothing) return {};
  return JoinKeyRange(completed->range->low, completed->range->low + completed->range->span);
}

const SplitBlockBloomFilter* JoinFilter::blocks() const noexcept {
  const auto* const completed = state_->get();
  return completed == nullptr ? nullptr : completed->blocks.get();
}

const HashSpec& JoinFilter::hash() const noexcept { return state_->geometry.hash; }

QueryTraits JoinFilter::traits() const noexcept {
  return {.thread_safety = QueryTraits::ThreadSafety::kConcurrentChanges,
          .backend = state_->backend};
}

// The types of all parts. Before completion, a key of any type may be in the filter.
KeyTypes JoinFilter::key_types() const {
  return complete() ? state_->sum->key_types : KeyTypes(KeyType::kUnknown);
}

uint64_t JoinFilter::bytes() const {
  const auto* const completed = state_->get();
  if (completed == nullptr) return 0;
  if (completed->blocks != nullptr) return completed->blocks->bytes();
  return (completed->list.slots.size() + completed->hash_list.slots.size() +
          completed->bitmap.size()) *
         sizeof(uint64_t);
}

double JoinFilter::estimated_count() const {
  switch (form()) {
    case JoinForm::kList:
      return static_cast<double>(state_->get()->list_keys);
    case JoinForm::kBitmap: {
      const std::vector<uint64_t>& bitmap = state_->get()->bitmap;
      return static_cast<double>(state_->backend->kernels->popcount(bitmap.data(), bitmap.size()));
    }
    case JoinForm::kBlocks:
      return blocks()->estimated_count();
    case JoinForm::kNothing:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double JoinFilter::expected_fpr() const {
  if (form() == JoinForm::kNothing) return 1;
  return form() == JoinForm::kBlocks ? blocks()->expected_fpr() : 0;
}

// A join of integers cannot have a time of 128 bits.
void JoinFilter::QueryWideTimes(const Keys& keys, uint64_t* bits) const {
  std::vector<uint64_t> values(keys.size());
  std::vector<uint8_t> fits(keys.size() / 8 + 1);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view bytes = keys.data<std::string_view>()[i];
    if (!keys.IsValid(i) || bytes.size() != sizeof(uint64_t)) continue;
    std::memcpy(&values[i], bytes.data(), sizeof(uint64_t));
    fits[i / 8] |= static_cast<uint8_t>(1 << (i % 8));
  }
  Query(Keys(values).WithValidity(fits.data()), bits);
}

void JoinFilter::Query(const Keys& keys, uint64_t* bits) const {
  const JoinKeyType type = state_->geometry.key_type;
  RequireType(type, keys, /*hashes=*/true);
  const detail::CompletedJoin* const completed = state_->get();
  if (completed == nullptr || completed->form == JoinForm::kNothing || keys.CountValid() == 0) {
    detail::SetAll(bits, keys.size());
    detail::ClearNulls(keys, 0, keys.size(), bits);
    return;
  }
  if (type == JoinKeyType::kIntegers && AreWideTimes(keys)) return QueryWideTimes(keys, bits);
  const bool given_hashes = type == JoinKeyType::kIntegers && keys.layout() == KeyLayout::kHashes;
  const detail::Kernels& kernels = *state_->backend->kernels;
  detail::ForEachBatchAndNulls(kernels, keys, state_->geometry.hash, detail::kUnlimited,
                               [&](const detail::Batch& batch, size_t begin) {
                                 uint64_t* const out = bits + begin / 64;
                                 if (given_hashes) {
                                   completed->QueryHashes(kernels, batch, out);
                                 } else {
                                   completed->Query(kernels, type, batch, out);
                                 }
                               });
  detail::ClearNulls(keys, 0, keys.size(), bits);
}

JoinFilter::Part::Part(std::unique_ptr<JoinPartState> state) : state_(std::move(state)) {}
JoinFilter::Part::Part(Part&&) noexcept = default;
JoinFilter::Part& JoinFilter::Part::operator=(Part&&) noexcept = default;
JoinFilter::Part::~Part() = default;

JoinPartState& JoinFilter::Part::Usable() const {
  if (state_ == nullptr) throw Error(ErrorCode::kReadOnly, "the part was added or moved");
  return *state_;
}

void JoinFilter::Part::Insert(const Keys& keys) {
  JoinPartState& state = Usable();
  const bool integers = state.geometry.key_type == JoinKeyType::kIntegers;
  RequireType(state.geometry.key_type, keys, /*hashes=*/false);
  const detail::Kernels& kernels = *state.backend->kernels;
  const size_t n = keys.CountValid();
  if (n == 0) return;
  state.key_types.Add(keys.key_type());
  const auto insert = [&](const detail::Batch& batch, uint64_t) {
    if (integers || batch.hasher.source == detail::Source::kHashes) {
      return state.Insert(batch.values, batch.n);
    }
    alignas(64) uint64_t hashes[detail::kBatchKeys];
    detail::ForEachSlice(batch, [&](const detail::Batch& slice, size_t) {
      kernels.hash(slice, hashes);
      state.Insert(hashes, slice.n);
    });
  };
  if (keys.validity() == nullptr) {
    detail::BatchesOf(keys, state.geometry.hash)(kernels, 0, n, insert);
  } else {
    detail::ValidKeys(keys, state.geometry.hash)(kernels, 0, n, insert);
  }
}

uint32_t JoinFilter::Part::index() const { return Usable().index; }
const HashSpec& JoinFilter::Part::hash() const { return Usable().geometry.hash; }
JoinForm JoinFilter::Part::contents() const { return Usable().contents; }
uint64_t JoinFilter::Part::inserted_count() const { return Usable().inserted; }
uint64_t JoinFilter::Part::bytes() const { return Usable().bytes(); }

std::vector<std::byte> JoinFilter::Part::Serialize() const {
  return detail::SerializeJoinPart(Usable());
}

JoinFilter::Part JoinFilter::Part::FromBytes(std::span<const std::byte> bytes) {
  return Part(detail::JoinPartFromBytes(bytes));
}

}  // namespace tamis
