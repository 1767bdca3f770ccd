#include "tamis/queryable.h"

#include <limits>

#include "core/src/backend/providers.h"
#include "core/src/bulk/output.h"
#include "core/src/bulk/queryable_access.h"
#include "tamis/unanswered_error.h"

namespace tamis {

using detail::Output;

namespace {

size_t LookUp(const Queryable& queryable, const Keys& keys, const Output& output) {
  const auto query = [&](const Keys& some, uint64_t* bits) {
    detail::QueryableAccess::Query(queryable, some, bits);
  };
  return detail::Answer(query, queryable.traits(), keys, output);
}

template <typename Index>
size_t LookUpFrom(const Queryable& queryable, const Keys& keys, std::span<const Index> selection,
                  std::span<Index> out) {
  const auto query = [&](const Keys& some, uint64_t* bits) {
    detail::QueryableAccess::Query(queryable, some, bits);
  };
  return detail::AnswerFrom(query, queryable.traits(), keys, selection, out);
}

}  // namespace

Queryable::~Queryable() = default;

bool Queryable::Contains(uint64_t key) const { return Count(std::span(&key, 1)) != 0; }

bool Queryable::Contains(std::string_view key) const { return Count(std::span(&key, 1)) != 0; }

bool Queryable::ContainsHash(uint64_t hash) const { return Count(Hashes{{&hash, 1}}) != 0; }

// Does the same as Answer, but without the overhead of Answer, because calls that request a bitmap
// often have few keys.
size_t Queryable::Contains(Keys keys, Bitmap out) const {
  detail::RequireRoom(out, keys.size());
  if (keys.empty()) return 0;
  uint64_t* const bits = out.words().data();
  const auto count = [&] {
    return detail::HostBackends().front().kernels->popcount(bits, BitmapWords(keys.size()));
  };
  try {
    Query(keys, bits);
  } catch (UnansweredError& error) {
    error.set_done(count());
    throw;
  }
  return count();
}

size_t Queryable::Contains(Keys keys, std::span<uint8_t> out) const {
  return LookUp(*this, keys, out);
}

size_t Queryable::Select(Keys keys, std::span<uint32_t> out) const {
  return LookUp(*this, keys, out);
}

size_t Queryable::Select(Keys keys, std::span<uint64_t> out) const {
  return LookUp(*this, keys, out);
}

size_t Queryable::SelectFrom(Keys keys, std::span<const uint32_t> selection,
                             std::span<uint32_t> out) const {
  return LookUpFrom(*this, keys, selection, out);
}

size_t Queryable::SelectFrom(Keys keys, std::span<const uint64_t> selection,
                             std::span<uint64_t> out) const {
  return LookUpFrom(*this, keys, selection, out);
}

size_t Queryable::Count(Keys keys) const { return LookUp(*this, keys, Output::Count()); }

Answers Queryable::Contains(Keys keys) const {
  return Answers(keys.size(), [&](Bitmap out) { return Contains(keys, out); });
}

std::vector<uint64_t> Queryable::Select(Keys keys) const {
  std::vector<uint64_t> rows(keys.size());
  rows.resize(Select(keys, std::span(rows)));
  return rows;
}

QueryTraits Queryable::traits() const noexcept { return {}; }

double Queryable::estimated_count() const { return std::numeric_limits<double>::quiet_NaN(); }

double Queryable::expected_fpr() const { return std::numeric_limits<double>::quiet_NaN(); }

const Filter* Queryable::engine_filter() const noexcept { return nullptr; }

}  // namespace tamis
