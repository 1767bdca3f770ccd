// The parts of a SplitBlockFilter.
#ifndef TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_
#define TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_

#include <memory>
#include <string_view>

#include "redis/src/client/client.h"
#include "redis/src/filter/admin.h"
#include "redis/src/filter/filter_state.h"
#include "redis/src/filter/key_reader.h"
#include "redis/src/filter/key_writer.h"
#include "redis/src/filter/retry_across_rebuilds.h"
#include "redis/src/filter/segment_commands.h"
#include "redis/src/filter/segment_transfer.h"
#include "tamis/redis/split_block_filter.h"

namespace tamis::redis {

struct SplitBlockFilter::Impl {
  Impl(const ServerOptions& servers, std::string_view name, const ClientOptions& its_options)
      : state(name), client(servers), options(its_options) {}

  // Returns a client of the same filter that has its own connections.
  std::unique_ptr<Impl> Another() const {
    auto another = std::make_unique<Impl>(client.options(), state.name(), options);
    another->state.Adopt(state.descriptor());
    another->state.set_hash(state.hash());
    return another;
  }

  FilterState state;
  Client client;
  const ClientOptions options;
  SegmentCommands commands{state, client, options.durable_replicas};
  RetryAcrossRebuilds retry{state, client, commands};
  SegmentTransfer transfer{state, commands, retry};
  KeyReader reader{state, commands, retry, transfer, options};
  KeyWriter writer{state, commands, retry, transfer, options};
  Admin admin{state, client, commands, retry};
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SRC_FILTER_FILTER_IMPL_H_
