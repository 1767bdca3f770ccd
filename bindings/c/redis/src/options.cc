#include "bindings/c/redis/src/options.h"

#include <algorithm>
#include <limits>
#include <string>

#include "bindings/c/src/options.h"

namespace tamis::c {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

// Options that are 0, and texts that are NULL, stay as they are.
void Take(milliseconds& option, uint64_t ms) {
  if (ms != 0) option = Milliseconds(ms);
}
void Take(std::string& option, const char* text) {
  if (text != nullptr) option = text;
}

[[noreturn]] void RefuseNumber(const char* name, uint32_t number) {
  Refuse(std::string(name) + " is " + std::to_string(number) + ", which stands for nothing");
}

double ReadIdleShare(double given, double otherwise) {
  if (given == 0) return otherwise;
  return given == -1 ? 0 : given;
}

redis::Unavailable ReadUnavailable(uint32_t number) {
  switch (number) {
    case TAMIS_REDIS_FAIL:
      return redis::Unavailable::kThrow;
    case TAMIS_REDIS_MAYBE:
      return redis::Unavailable::kMaybe;
    default:
      RefuseNumber("unavailable", number);
  }
}

std::optional<redis::Route> ReadRoute(uint32_t number) {
  switch (number) {
    case TAMIS_REDIS_CHEAPER:
      return std::nullopt;
    case TAMIS_REDIS_BLOCKS:
      return redis::Route::kBlocks;
    case TAMIS_REDIS_SEGMENTS:
      return redis::Route::kSegments;
    default:
      RefuseNumber("route", number);
  }
}

// One that is over is refused by who makes the filter.
system_clock::time_point ReadDeadline(int64_t ms) {
  constexpr auto kLast =
      std::chrono::floor<milliseconds>(system_clock::time_point::max()).time_since_epoch();
  if (milliseconds(ms) > kLast) Refuse("deadline_ms is after what the clock can show, April 2262");
  return system_clock::time_point(std::max(milliseconds(ms), milliseconds(-1)));
}

}  // namespace

milliseconds Milliseconds(uint64_t ms) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  return milliseconds(static_cast<int64_t>(std::min(ms, kMost)));
}

ClientOfServers ReadClient(const tamis_redis_options* options) {
  const tamis_redis_options given = ReadOptions(options, "client");
  RequireZero(given.reserved);
  ClientOfServers read;
  redis::ServerOptions& servers = read.servers;
  Take(servers.url, given.url);
  Take(servers.user, given.user);
  Take(servers.password, given.password);
  Take(servers.ca_file, given.ca_file);
  Take(servers.connect_timeout, given.connect_timeout_ms);
  Take(servers.command_timeout, given.command_timeout_ms);
  Take(servers.retry_for, given.retry_for_ms);
  Take(servers.min_backoff, given.min_backoff_ms);
  Take(servers.max_backoff, given.max_backoff_ms);
  if (given.max_bytes_in_flight != 0) servers.max_bytes_in_flight = given.max_bytes_in_flight;
  servers.idle_share = ReadIdleShare(given.idle_share, servers.idle_share);
  servers.read_from_replicas = ReadFlag(given.read_from_replicas, "read_from_replicas");
  redis::ClientOptions& client = read.client;
  client.unavailable = ReadUnavailable(given.unavailable);
  client.route = ReadRoute(given.route);
  client.durable_replicas = given.durable_replicas;
  if (ReadFlag(given.has_secret, "has_secret")) {
    client.secret = HashSecret{given.secret_low, given.secret_high};
  }
  return read;
}

redis::CreateOptions ReadCreate(const tamis_redis_create_options* options) {
  const tamis_redis_create_options given = ReadOptions(Required(options, "options"), "options");
  redis::CreateOptions create;
  create.filter = ReadExpected(given);
  create.filter.hash = ReadNewHash(given.hash);
  if (given.deadline_ms != 0) create.deadline = ReadDeadline(given.deadline_ms);
  return create;
}

FilterOptions ReadExpected(const tamis_redis_create_options& options) {
  const tamis_redis_create_options given = ReadOptions(options, "options");
  FilterOptions filter;
  filter.capacity = given.capacity;
  filter.fpr = given.fpr;
  filter.bytes = given.bytes;
  filter.hash = ReadHash(given.hash);
  return filter;
}

redis::NearCopyOptions ReadNearCopy(const tamis_redis_near_copy_options* options) {
  const tamis_redis_near_copy_options given = ReadOptions(options, "options");
  RequireZero(given.reserved);
  redis::NearCopyOptions read;
  if (given.staleness_ms != 0) read.staleness = Milliseconds(given.staleness_ms);
  if (given.refresh_every_ms != 0) read.refresh_every = Milliseconds(given.refresh_every_ms);
  read.memory = ReadMemory(given.no_huge_pages);
  return read;
}

}  // namespace tamis::c
