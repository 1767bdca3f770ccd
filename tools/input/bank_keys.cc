#include "tools/input/bank_keys.h"

#include <tamis/error.h>
#include <tamis/hash.h>
#include <tamis/key_types_text.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/input/integer_key.h"
#include "tools/output/console.h"
#include "tools/output/format.h"

namespace tamis::tools {
namespace {

// Returns the Parquet types as which keys of type `asked` are also queried.
std::vector<KeyType> StoredTypes(KeyType asked) {
  if (asked == KeyType::kInteger) return {KeyType::kInt32};
  return {KeyType::kFloat, KeyType::kDouble};
}

bool HasAny(KeyTypes types, const std::vector<KeyType>& of) {
  return std::any_of(of.begin(), of.end(), [&](KeyType type) { return types.Has(type); });
}

std::optional<double> NumberIn(std::string_view text) {
  text = WithoutBlanks(text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void RequireKeyTypes(const KeyTypeOptions& options, KeyTypes types, const std::string& path,
                     KeyType asked) {
  if (options.any || HasAny(types, StoredTypes(asked))) return;
  const KeyType other = asked == KeyType::kInteger ? KeyType::kBytes : KeyType::kInteger;
  if (types.Admit(asked) || types.Has(other) || !HasAny(types, StoredTypes(other))) {
    return options.Require(types, path, asked);
  }
  throw Error(ErrorCode::kInvalidArgument,
              path + ": its keys are " + KeyTypesText(types) + ": " +
                  (other == KeyType::kInteger ? "give --integers (or --u64)"
                                              : "leave out --integers and --u64"));
}

}  // namespace

BankKeys::BankKeys(const FilterBank& bank, const KeyTypeOptions& options, const std::string& path,
                   KeyType asked, bool quiet)
    : bank_(bank), asked_(asked) {
  const std::vector<BankMember> members = bank.members();
  const std::vector<KeyType> stored = StoredTypes(asked);
  KeyTypes types;
  uint64_t others = 0;
  const BankMember* first_other = nullptr;
  for (const BankMember& member : members) {
    types.Add(member.key_types);
    if (member.key_types.Admit(asked) || HasAny(member.key_types, stored)) continue;
    if (others++ == 0) first_other = &member;
  }
  RequireKeyTypes(options, types, path, asked);
  if (others != 0 && !options.any && !quiet) {
    Say("warning: " + path + ": " + WithCommas(others) + " of " +
        Counted(members.size(), "member") + ", such as " + Quoted(first_other->name) +
        ", cannot have keys of the input: the input's keys are " + KeyTypesText(asked) +
        ", and the member's keys are " + KeyTypesText(first_other->key_types));
  }
  if (!HasAny(types, stored)) return;
  const auto add = [&](KeyType type, const auto& has) {
    Pass pass{type, std::vector<bool>(64 * bank.row_words())};
    bool some = false;
    for (const BankMember& member : members) {
      if (!has(member.key_types)) continue;
      pass.members[member.index] = some = true;
    }
    if (some) passes_.push_back(std::move(pass));
  };
  add(asked, [&](KeyTypes of) { return options.any || of.Admit(asked); });
  for (const KeyType type : stored) {
    add(type, [&](KeyTypes of) { return of.Has(type); });
  }
}

void BankKeys::AddHash(const void* stored, size_t bytes, size_t key) {
  hashes_.push_back(HashBytes({static_cast<const char*>(stored), bytes}, bank_.hash()));
  keys_.push_back(key);
}

void BankKeys::AddHashes(KeyType type, const KeyBatch& batch, size_t i) {
  if (type == KeyType::kInt32) {
    const uint64_t value = batch.integers[i];
    const auto low = static_cast<uint32_t>(value);
    const bool fits = value <= std::numeric_limits<uint32_t>::max() ||
                      static_cast<int64_t>(value) >= std::numeric_limits<int32_t>::min();
    // Negative integers are represented as integers from 2^63 to 2^64 - 1.
    if (fits && (value >> 32 == 0 || static_cast<int64_t>(value) < 0)) {
      return AddHash(&low, sizeof(low), i);
    }
    ++misfits_;
    return;
  }
  const std::optional<double> number = NumberIn(batch.strings[i]);
  if (!number) {
    ++misfits_;
    return;
  }
  if (std::isnan(*number)) {
    not_numbers_.push_back(i);
    return;
  }
  const auto add = [&](double value) {
    if (type == KeyType::kDouble) return AddHash(&value, sizeof(value), i);
    const auto nearest = static_cast<float>(value);
    AddHash(&nearest, sizeof(nearest), i);
  };
  add(*number);
  const bool is_zero = type == KeyType::kDouble ? *number == 0 : static_cast<float>(*number) == 0;
  if (is_zero) add(-*number);  // zero with either sign is the same number
}

std::vector<BankHit> BankKeys::Select(const Engine& engine, const KeyBatch& batch) {
  if (passes_.empty()) return bank_.Select(engine, batch.keys());
  std::vector<BankHit> hits;
  for (const Pass& pass : passes_) {
    const bool as_is = pass.type == asked_;
    hashes_.clear();
    keys_.clear();
    not_numbers_.clear();
    for (size_t i = 0; !as_is && i < batch.size(); ++i) AddHashes(pass.type, batch, i);
    const std::vector<BankHit> found =
        as_is ? bank_.Select(engine, batch.keys()) : bank_.Select(engine, Hashes{hashes_});
    for (const BankHit& hit : found) {
      if (!pass.members[hit.member]) continue;
      hits.push_back({as_is ? hit.key : keys_[hit.key], hit.member});
    }
    for (const uint64_t key : not_numbers_) {
      for (uint64_t member = 0; member < pass.members.size(); ++member) {
        if (pass.members[member]) hits.push_back({key, member});
      }
    }
  }
  std::sort(hits.begin(), hits.end(), [](const BankHit& a, const BankHit& b) {
    return std::pair(a.key, a.member) < std::pair(b.key, b.member);
  });
  hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
  return hits;
}

std::vector<uint64_t> BankKeys::CountPerMember(const Engine& engine, const KeyBatch& batch) {
  if (passes_.empty()) return bank_.CountPerMember(engine, batch.keys());
  std::vector<uint64_t> counts(64 * bank_.row_words());
  for (const BankHit& hit : Select(engine, batch)) ++counts[hit.member];
  return counts;
}

}  // namespace tamis::tools
