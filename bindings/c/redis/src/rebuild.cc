// Rebuilds.
#include "tamis/c/redis/rebuild.h"

#include <exception>
#include <string>

#include "bindings/c/redis/src/handles.h"
#include "bindings/c/redis/src/local.h"
#include "bindings/c/redis/src/options.h"
#include "bindings/c/src/options.h"
#include "tamis/redis/rebuild.h"

struct tamis_redis_inserter {
  tamis::redis::RebuildInserter& into;
  const tamis::HashSpec& hash;
  // Of the last function that failed: if the source returns its status it has this reason.
  tamis_status status = TAMIS_OK;
  std::exception_ptr reason = {};
};

namespace tamis::c {
namespace {

constexpr char kRebuildName[] = "filter";
constexpr char kInserter[] = "into";

// A source has ended a rebuild, with a status that may be of its own.
struct SourceEnded : std::exception {
  SourceEnded(tamis_status with, std::string its_message)
      : status(with), message(std::move(its_message)) {}
  const char* what() const noexcept override { return message.c_str(); }

  tamis_status status;
  std::string message;
};

redis::RebuildOptions ReadRebuild(const tamis_redis_rebuild_options* options) {
  const tamis_redis_rebuild_options given = ReadOptions(options, "options");
  RequireZero(given.reserved);
  redis::RebuildOptions read;
  if (given.lease_ms != 0) read.lease = Milliseconds(given.lease_ms);
  if (given.grace_ms != 0) {
    read.grace = std::chrono::milliseconds(given.grace_ms == -1 ? 0 : given.grace_ms);
    if (given.grace_ms < -1) {
      Refuse("grace_ms is " + std::to_string(given.grace_ms) + ", must be -1 or more");
    }
  }
  if (given.on_progress != nullptr) {
    read.on_progress = [call = given.on_progress,
                        context = given.context](const redis::RebuildProgress& progress) {
      const auto step = static_cast<uint32_t>(progress.step);
      if (call(step, progress.done, progress.total, context) == 0) return;
      Refuse("on_progress has ended the rebuild", ErrorCode::kCancelled);
    };
  }
  read.memory = ReadMemory(given.no_huge_pages);
  return read;
}

// Calls the source, and throws for what it returns.
void RunSource(tamis_redis_source source, void* context, tamis_redis_inserter& inserter) {
  const std::string text_before = tamis_last_error();
  const tamis_status status = source(&inserter, context);
  if (status == TAMIS_OK) return;
  if (status == inserter.status) std::rethrow_exception(inserter.reason);
  std::string message = "the source has ended the rebuild: " + std::to_string(status) + ", " +
                        tamis_status_name(status);
  // Of a function of the library that the source has called.
  if (text_before != tamis_last_error()) message += std::string(": ") + tamis_last_error();
  throw SourceEnded(status, std::move(message));
}

// The body of functions of the inserter.
template <typename Body>
tamis_status GuardInserter(tamis_redis_inserter* into, const Body& body) noexcept {
  return Guard([&] {
    tamis_redis_inserter& inserter = Required(into, kInserter);
    try {
      body(inserter);
    } catch (...) {
      inserter.reason = std::current_exception();
      inserter.status = Caught();
      throw;
    }
  });
}

}  // namespace
}  // namespace tamis::c

using namespace tamis;
using namespace tamis::c;

tamis_status tamis_redis_filter_rebuild(tamis_redis_filter* filter, tamis_redis_source source,
                                        void* context, const tamis_redis_rebuild_options* options,
                                        tamis_redis_rebuild_result* result) {
  tamis_status ended = TAMIS_OK;
  const tamis_status status = Guard([&] {
    Required(filter, kRebuildName);
    if (source == nullptr) Refuse("source is NULL");
    if (result != nullptr) ReadOptions(Required(result, "result"), "result");
    const redis::RebuildOptions read = ReadRebuild(options);
    const auto fill = [&](redis::RebuildInserter& into) {
      tamis_redis_inserter inserter{into, filter->client.hash()};
      RunSource(source, context, inserter);
    };
    redis::RebuildResult made;
    Call(filter, kRebuildName, [&](const auto&) {
      try {
        made = redis::Rebuild(filter->client, fill, read);
      } catch (const SourceEnded& error) {
        ended = error.status;
        throw;
      }
    });
    if (result == nullptr) return;
    tamis_redis_rebuild_result written{};
    written.generation = made.generation;
    written.keys = made.keys;
    written.ended_abandoned = made.ended_abandoned;
    WriteInfo(result, "result", written);
  });
  return ended != TAMIS_OK ? ended : status;
}

tamis_status tamis_redis_filter_end_abandoned_rebuild(tamis_redis_filter* filter,
                                                      const tamis_redis_rebuild_options* options,
                                                      uint32_t* ended) {
  return Guard([&] {
    Required(filter, kRebuildName);
    const WantedOutput ended_out(ended, "ended");
    const redis::RebuildOptions read = ReadRebuild(options);
    Call(filter, kRebuildName, [&](const auto&) {
      ended_out.Set(redis::EndAbandonedRebuild(filter->client, read) ? 1 : 0);
    });
  });
}

tamis_status tamis_redis_inserter_insert(tamis_redis_inserter* into, const tamis_keys* keys,
                                         uint64_t* inserted) {
  return GuardInserter(into, [&](tamis_redis_inserter& inserter) {
    const WantedOutput inserted_out(inserted, "inserted");
    uint64_t done = 0;
    KeyArray(keys).ForRuns([&](const Keys& run, size_t) { done += inserter.into.Insert(run); });
    inserted_out.Set(done);
  });
}

tamis_status tamis_redis_inserter_add(tamis_redis_inserter* into, const tamis_filter* local) {
  return GuardInserter(into, [&](tamis_redis_inserter& inserter) {
    inserter.into.Add(Local(local, inserter.hash).filter());
  });
}

tamis_status tamis_redis_inserter_keep_alive(tamis_redis_inserter* into) {
  return GuardInserter(into, [](tamis_redis_inserter& inserter) { inserter.into.KeepAlive(); });
}

tamis_status tamis_redis_inserter_set_total(tamis_redis_inserter* into, uint64_t keys) {
  return GuardInserter(into, [&](tamis_redis_inserter& inserter) { inserter.into.SetTotal(keys); });
}
