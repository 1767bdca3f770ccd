// The address of the servers, and the limits for using them.
#ifndef TAMIS_REDIS_SERVER_OPTIONS_H_
#define TAMIS_REDIS_SERVER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::redis {

// The servers, and how to connect to them.
struct ServerOptions {
  // redis://[[user][:password]@]host[:port][/database]. The host is a single server or any node of
  // a cluster, which names the other nodes. IPv6 addresses need brackets. `user` and `password` may
  // contain %XX. If the URL has a user but no password, `password` below must be set. rediss://
  // uses TLS, and requires a hiredis that was built with TLS. Error texts never contain the
  // password.
  std::string url = "redis://127.0.0.1:6379";
  // If not empty, these override the user and password of the URL. Both are sent to every node that
  // the cluster names.
  std::string user = {};
  std::string password = {};
  // File with the certificates that TLS trusts; empty: the certificates of the system.
  std::string ca_file = {};

  // All durations are at most a day.
  //
  // Time limit for connecting and for the start of TLS, at least 1 ms. The limit does not include
  // the look-up of the host name, which may take longer.
  std::chrono::milliseconds connect_timeout{2000};
  // Time limit for each reply of a server, at least 1 ms. Each 4 MiB of the command, its reply, and
  // the segments that the server processes add the same time to the limit.
  std::chrono::milliseconds command_timeout{5000};
  // How long failed commands are retried while no other command of the call succeeds. Should be
  // longer than the cluster needs to replace a failed node.
  std::chrono::milliseconds retry_for{15000};
  // Limits for the pause before a failed node is tried again. The first pause is `min_backoff`, at
  // least 1 ms. Each further pause is twice as long, up to `max_backoff`. Each pause is multiplied
  // by a random factor of 0.5 to 1.
  std::chrono::milliseconds min_backoff{10};
  std::chrono::milliseconds max_backoff{1000};

  // Upper bound for the work that is under way on one connection: bytes of commands and replies,
  // and bytes of segments that the server merges. A single command may exceed it. The bound also
  // limits how long other clients of that server wait, because a server finishes all commands of
  // one connection before it serves the next one. Merging 8 MiB of segments takes about 16 ms.
  uint64_t max_bytes_in_flight = uint64_t{8} << 20;
  // For calls that send many segments to a server (Insert of many keys, Push, Rebuild): the share
  // of the call's time, in [0, 0.9], in which the server does not merge segments for this client.
  // To reach this share, the client pauses after each merge, for at most 200 ms. 0: no pauses.
  double idle_share = 0.5;
  // Whether queries, Pull and GetInfo read from replicas. Queries and Pull read from the master if
  // it lacks replicas, or if a replica fails or lacks a segment. If a replica lacks a segment,
  // GetInfo may report the segment as bad. A replica lags behind its master. While the connection
  // to its master is down, a replica may lag for long, unless its replica-serve-stale-data is "no".
  // For a key that has not reached the replica yet, the answer may be "no". This cannot happen if
  // all replicas of the master have confirmed the key (ClientOptions::durable_replicas), and the
  // slot of the key does not move to another master.
  bool read_from_replicas = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SERVER_OPTIONS_H_
