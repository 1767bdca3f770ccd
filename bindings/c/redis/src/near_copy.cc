// Near copies.
#include "tamis/c/redis/near_copy.h"

#include <chrono>
#include <limits>

#include "bindings/c/redis/src/handles.h"
#include "bindings/c/redis/src/local.h"
#include "bindings/c/redis/src/options.h"
#include "bindings/c/src/options.h"

namespace tamis::c {
namespace {

constexpr char kNearCopyName[] = "copy";

uint64_t AgeMs(const redis::NearCopy& copy) {
  using std::chrono::steady_clock;
  const steady_clock::time_point at = copy.refreshed_at();
  if (at == steady_clock::time_point{}) return std::numeric_limits<uint64_t>::max();
  const auto age = std::chrono::ceil<std::chrono::milliseconds>(steady_clock::now() - at);
  return static_cast<uint64_t>(age.count());
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_redis_near_copy_open(const char* name,
                                        const tamis_redis_near_copy_options* options,
                                        const tamis_redis_options* client,
                                        tamis_redis_near_copy** out) {
  return Guard([&] {
    tamis_redis_near_copy*& handle = Required(out, "out");
    const char* const called = &Required(name, "name");
    const redis::NearCopyOptions read = ReadNearCopy(options);
    const ClientOfServers by = ReadClient(client);
    handle = new tamis_redis_near_copy{
        redis::NearCopy(redis::SplitBlockFilter::Open(by.servers, called, by.client), read),
        read.refresh_every.has_value()};
  });
}

void tamis_redis_near_copy_free(tamis_redis_near_copy* copy) { delete copy; }

tamis_status tamis_redis_near_copy_refresh(tamis_redis_near_copy* copy, uint64_t* segments) {
  return Guard([&] {
    const WantedOutput segments_out(segments, "segments");
    Call(copy, kNearCopyName, [&](const auto&) { segments_out.Set(copy->client.Refresh()); });
  });
}

tamis_status tamis_redis_near_copy_get_stats(tamis_redis_near_copy* copy,
                                             tamis_redis_near_copy_stats* out) {
  return Guard([&] {
    tamis_redis_near_copy& handle = Required(copy, kNearCopyName);
    redis::NearCopyStats stats = handle.client.stats();
    tamis_redis_near_copy_stats made{};
    made.age_ms = AgeMs(handle.client);
    made.refreshes = stats.refreshes;
    made.segments = stats.segments;
    made.failures = stats.failures;
    made.failures_in_a_row = stats.failures_in_a_row;
    handle.last_error = std::move(stats.last_error);
    made.last_error = handle.last_error.c_str();
    WriteInfo(out, "out", made);
  });
}

tamis_status tamis_redis_near_copy_snapshot(tamis_redis_near_copy* copy, tamis_filter** out) {
  return Guard([&] {
    tamis_filter*& handle = Required(out, "out");
    const tamis_redis_near_copy& from = Required(copy, kNearCopyName);
    if (from.has_thread) {
      Refuse("a copy with refresh_every_ms changes at any time", ErrorCode::kUnsupported);
    }
    handle = LocalHandle(from.client.copy());
  });
}

tamis_status tamis_redis_near_copy_unanswered(const tamis_redis_near_copy* copy,
                                              const uint64_t** keys, uint64_t* count) {
  return UnansweredOf(copy, kNearCopyName, keys, count);
}

tamis_answer tamis_redis_near_copy_contains_u64(tamis_redis_near_copy* copy, uint64_t key) {
  return ContainsOne(copy, kNearCopyName, key);
}

tamis_answer tamis_redis_near_copy_contains_string(tamis_redis_near_copy* copy, const char* string,
                                                   size_t bytes) {
  return ContainsOne(copy, kNearCopyName, CallersString{string, bytes});
}

tamis_answer tamis_redis_near_copy_contains_hash(tamis_redis_near_copy* copy, uint64_t hash) {
  return ContainsOne(copy, kNearCopyName, ReadyHash{hash});
}

tamis_answer tamis_redis_near_copy_insert_u64(tamis_redis_near_copy* copy, uint64_t key) {
  return InsertOne(copy, kNearCopyName, key);
}

tamis_answer tamis_redis_near_copy_insert_string(tamis_redis_near_copy* copy, const char* string,
                                                 size_t bytes) {
  return InsertOne(copy, kNearCopyName, CallersString{string, bytes});
}

tamis_answer tamis_redis_near_copy_insert_hash(tamis_redis_near_copy* copy, uint64_t hash) {
  return InsertOne(copy, kNearCopyName, ReadyHash{hash});
}

tamis_status tamis_redis_near_copy_contains_bitmap(tamis_redis_near_copy* copy,
                                                   const tamis_keys* keys, uint64_t* bits,
                                                   uint64_t words, uint64_t* hits) {
  return AskMany(copy, kNearCopyName,
                 [&](const auto& calls) { LookUpBitmap(calls, keys, bits, words, hits); });
}

tamis_status tamis_redis_near_copy_contains_bytes(tamis_redis_near_copy* copy,
                                                  const tamis_keys* keys, uint8_t* bytes,
                                                  uint64_t capacity, uint64_t* hits) {
  return AskMany(copy, kNearCopyName,
                 [&](const auto& calls) { LookUpBytes(calls, keys, bytes, capacity, hits); });
}

tamis_status tamis_redis_near_copy_select32(tamis_redis_near_copy* copy, const tamis_keys* keys,
                                            uint32_t* indices, uint64_t capacity, uint64_t* hits) {
  return AskMany(copy, kNearCopyName,
                 [&](const auto& calls) { LookUpIndices(calls, keys, indices, capacity, hits); });
}

tamis_status tamis_redis_near_copy_select64(tamis_redis_near_copy* copy, const tamis_keys* keys,
                                            uint64_t* indices, uint64_t capacity, uint64_t* hits) {
  return AskMany(copy, kNearCopyName,
                 [&](const auto& calls) { LookUpIndices(calls, keys, indices, capacity, hits); });
}

tamis_status tamis_redis_near_copy_count(tamis_redis_near_copy* copy, const tamis_keys* keys,
                                         uint64_t* hits) {
  return AskMany(copy, kNearCopyName, [&](const auto& calls) { LookUpCount(calls, keys, hits); });
}

tamis_status tamis_redis_near_copy_insert(tamis_redis_near_copy* copy, const tamis_keys* keys,
                                          uint64_t* inserted) {
  return InsertMany(copy, kNearCopyName, keys, inserted);
}
