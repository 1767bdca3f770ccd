// The address of the servers, and the limits for using them.
#ifndef TAMIS_REDIS_SERVER_OPTIONS_H_
#define TAMIS_REDIS_SERVER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::redis {

struct ServerOptions {
  // redis://[[user][:password]@]host[:port][/database], for a single server or any node of a
  // cluster, which names the other nodes. IPv6 addresses need brackets. `user` and `password` may
  // contain %XX. With a user but no password, `password` below must be set. rediss:// uses TLS,
  // which needs a hiredis that was built with it. Error texts never contain the password.
  std::string url = "redis://127.0.0.1:6379";
  // Override the user and password of the URL if not empty. They are sent to every node that the
  // cluster names.
  std::string user = {};
  std::string password = {};
  // File with the certificates that TLS trusts; empty: those of the system.
  std::string ca_file = {};

  // All durations are at most a day.
  //
  // Time limit for connecting and for the start of TLS, at least 1 ms. It does not include the
  // look-up of the host name, which may take longer.
  std::chrono::milliseconds connect_timeout{2000};
  // Time limit for each reply of a server, at least 1 ms. Each 4 MiB of the command, its reply and
  // the segments that it works on add the same time again.
  std::chrono::milliseconds command_timeout{5000};
  // How long failed commands are retried while no other command of the call succeeds. Should be
  // longer than the cluster needs to replace a failed node.
  std::chrono::milliseconds retry_for{15000};
  // Limits for the pause before a node is tried again. The pause begins at `min_backoff`, which is
  // at least 1 ms, and doubles up to `max_backoff`. Each is shortened by a random factor of 0.5
  // to 1.
  std::chrono::milliseconds min_backoff{10};
  std::chrono::milliseconds max_backoff{1000};

  // Upper bound for the work that is under way on one connection: bytes of commands and replies,
  // and bytes of segments that the server merges. A single command may exceed it. This also limits
  // how long other clients of that server wait, because a server finishes all commands of one
  // connection before it serves the next one. 8 MiB of segments take about 16 ms.
  uint64_t max_bytes_in_flight = uint64_t{8} << 20;
  // Share of time in which a server is free of merges for this client while a call sends it many
  // segments (Insert of many keys, Push, Rebuild). After each merge there is a pause of at most
  // 200 ms. In [0, 0.9]; 0: no pauses.
  double idle_share = 0.5;
  // Whether queries, Pull and GetInfo read from a replica if the master has one, and only read from
  // the master if the replica lacks a segment. A replica lags behind its master, and may lag for
  // long if their connection is down, unless its replica-serve-stale-data is "no". For a
  // key that has not reached the replica yet, the answer may be "no". The exception are keys that
  // ClientOptions::durable_replicas has put on all replicas of the master, while their slots do not
  // move between masters.
  bool read_from_replicas = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SERVER_OPTIONS_H_
