// Filters on servers.
#include "tamis/c/redis/filter.h"

#include <chrono>
#include <new>
#include <utility>

#include "bindings/c/redis/src/handles.h"
#include "bindings/c/redis/src/local.h"
#include "bindings/c/redis/src/options.h"
#include "bindings/c/src/options.h"

namespace tamis::c {
namespace {

constexpr char kFilterName[] = "filter";

// Calls what is no call with keys.
template <typename Body>
void Use(tamis_redis_filter* filter, const Body& body) {
  Call(filter, kFilterName, [&](const auto&) { body(filter->client); });
}

uint32_t RebuildNumber(redis::RebuildState state) {
  switch (state) {
    case redis::RebuildState::kNone:
      return TAMIS_REDIS_NOT_REBUILT;
    case redis::RebuildState::kRunning:
      return TAMIS_REDIS_REBUILT;
    case redis::RebuildState::kAbandoned:
      return TAMIS_REDIS_REBUILD_ABANDONED;
    case redis::RebuildState::kUnknown:
      break;
  }
  return TAMIS_REDIS_REBUILD_UNKNOWN;
}

// Keeps what the numbers do not hold in the handle.
tamis_redis_info InfoOf(tamis_redis_filter& handle) {
  handle.info = handle.client.GetInfo();
  const redis::Info& info = handle.info;
  handle.nodes.clear();
  for (const redis::Info::Node& node : info.nodes) {
    handle.nodes.push_back({node.address.c_str(), node.segments});
  }
  tamis_redis_info made{};
  made.blocks = info.blocks;
  made.bytes = info.bytes;
  made.capacity = info.capacity;
  made.fpr = info.fpr;
  made.hash_kind = static_cast<uint32_t>(info.hash.kind);
  made.rebuild = RebuildNumber(info.rebuild);
  made.seed = info.hash.seed;
  made.generation = info.generation;
  if (info.deadline) {
    const auto since = info.deadline->time_since_epoch();
    made.deadline_ms = std::chrono::floor<std::chrono::milliseconds>(since).count();
  }
  made.segments = info.segments;
  made.segment_bytes = info.segment_bytes;
  made.bad_segments = info.bad_segments;
  made.server_bytes = info.server_bytes;
  made.problem = info.problem.c_str();
  made.nodes = handle.nodes.data();
  made.num_nodes = handle.nodes.size();
  made.measured_segments = info.measured_segments;
  return made;
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_redis_filter_create(const char* name, const tamis_redis_create_options* options,
                                       const tamis_redis_options* client,
                                       tamis_redis_filter** out) {
  return Guard([&] {
    tamis_redis_filter*& handle = Required(out, "out");
    const char* const called = &Required(name, "name");
    const redis::CreateOptions create = ReadCreate(options);
    const ClientOfServers by = ReadClient(client);
    handle = new tamis_redis_filter{
        redis::SplitBlockFilter::Create(by.servers, called, create, by.client)};
  });
}

tamis_status tamis_redis_filter_open(const char* name, const tamis_redis_create_options* expected,
                                     const tamis_redis_options* client, tamis_redis_filter** out) {
  return Guard([&] {
    tamis_redis_filter*& handle = Required(out, "out");
    const char* const called = &Required(name, "name");
    const ClientOfServers by = ReadClient(client);
    handle = new tamis_redis_filter{
        expected == nullptr
            ? redis::SplitBlockFilter::Open(by.servers, called, by.client)
            : redis::SplitBlockFilter::Open(
                  by.servers, called, ReadExpected(Required(expected, "expected")), by.client)};
  });
}

void tamis_redis_filter_free(tamis_redis_filter* filter) { delete filter; }

tamis_status tamis_redis_filter_drop(tamis_redis_filter* filter) {
  return Guard([&] { Use(filter, [](redis::SplitBlockFilter& client) { client.Drop(); }); });
}

tamis_status tamis_redis_filter_get_info(tamis_redis_filter* filter, tamis_redis_info* out) {
  return Guard([&] {
    Required(filter, kFilterName);
    ReadOptions(Required(out, "out"), "out");
    Use(filter, [&](auto&) { WriteInfo(out, "out", InfoOf(*filter)); });
  });
}

tamis_status tamis_redis_filter_unanswered(const tamis_redis_filter* filter, const uint64_t** keys,
                                           uint64_t* count) {
  return UnansweredOf(filter, kFilterName, keys, count);
}

tamis_status tamis_redis_filter_pull(tamis_redis_filter* filter, tamis_filter** out) {
  return Guard([&] {
    tamis_filter*& handle = Required(out, "out");
    Use(filter, [&](redis::SplitBlockFilter& client) { handle = LocalHandle(client.Pull()); });
  });
}

tamis_status tamis_redis_filter_push(tamis_redis_filter* filter, const tamis_filter* local) {
  return Guard([&] {
    Use(filter, [&](redis::SplitBlockFilter& client) {
      client.Push(Local(local, client.hash()).filter());
    });
  });
}

tamis_answer tamis_redis_filter_contains_u64(tamis_redis_filter* filter, uint64_t key) {
  return ContainsOne(filter, kFilterName, key);
}

tamis_answer tamis_redis_filter_contains_string(tamis_redis_filter* filter, const char* string,
                                                size_t bytes) {
  return ContainsOne(filter, kFilterName, CallersString{string, bytes});
}

tamis_answer tamis_redis_filter_contains_hash(tamis_redis_filter* filter, uint64_t hash) {
  return ContainsOne(filter, kFilterName, ReadyHash{hash});
}

tamis_answer tamis_redis_filter_insert_u64(tamis_redis_filter* filter, uint64_t key) {
  return InsertOne(filter, kFilterName, key);
}

tamis_answer tamis_redis_filter_insert_string(tamis_redis_filter* filter, const char* string,
                                              size_t bytes) {
  return InsertOne(filter, kFilterName, CallersString{string, bytes});
}

tamis_answer tamis_redis_filter_insert_hash(tamis_redis_filter* filter, uint64_t hash) {
  return InsertOne(filter, kFilterName, ReadyHash{hash});
}

tamis_status tamis_redis_filter_contains_bitmap(tamis_redis_filter* filter, const tamis_keys* keys,
                                                uint64_t* bits, uint64_t words, uint64_t* hits) {
  return AskMany(filter, kFilterName,
                 [&](const auto& calls) { LookUpBitmap(calls, keys, bits, words, hits); });
}

tamis_status tamis_redis_filter_contains_bytes(tamis_redis_filter* filter, const tamis_keys* keys,
                                               uint8_t* bytes, uint64_t capacity, uint64_t* hits) {
  return AskMany(filter, kFilterName,
                 [&](const auto& calls) { LookUpBytes(calls, keys, bytes, capacity, hits); });
}

tamis_status tamis_redis_filter_select32(tamis_redis_filter* filter, const tamis_keys* keys,
                                         uint32_t* indices, uint64_t capacity, uint64_t* hits) {
  return AskMany(filter, kFilterName,
                 [&](const auto& calls) { LookUpIndices(calls, keys, indices, capacity, hits); });
}

tamis_status tamis_redis_filter_select64(tamis_redis_filter* filter, const tamis_keys* keys,
                                         uint64_t* indices, uint64_t capacity, uint64_t* hits) {
  return AskMany(filter, kFilterName,
                 [&](const auto& calls) { LookUpIndices(calls, keys, indices, capacity, hits); });
}

tamis_status tamis_redis_filter_count(tamis_redis_filter* filter, const tamis_keys* keys,
                                      uint64_t* hits) {
  return AskMany(filter, kFilterName, [&](const auto& calls) { LookUpCount(calls, keys, hits); });
}

tamis_status tamis_redis_filter_insert(tamis_redis_filter* filter, const tamis_keys* keys,
                                       uint64_t* inserted) {
  return InsertMany(filter, kFilterName, keys, inserted);
}
