// Where the servers are, and how long they may take.
#ifndef TAMIS_REDIS_SERVER_OPTIONS_H_
#define TAMIS_REDIS_SERVER_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "tamis/cpp20.h"

namespace tamis::redis {

struct ServerOptions {
  // redis://[[user][:password]@]host[:port][/database] of a single server, or of any one node of a
  // cluster, which tells the others. IPv6 addresses are in brackets; user and password may have
  // %XX. A user without a password has the one below. rediss:// is TLS, for which hiredis has to be
  // one that has it. No error shows the password.
  std::string url = "redis://127.0.0.1:6379";
  // If not empty, in place of those of the URL, for passwords that are not to be in one. They are
  // sent to every node that the cluster names.
  std::string user = {};
  std::string password = {};
  // Of TLS: the file with the certificates to trust; empty: the system's.
  std::string ca_file = {};

  // To connect, and to begin TLS. Names are looked up before that, by the system and for as long as
  // it takes.
  std::chrono::milliseconds connect_timeout{2000};
  // For each reply of a server, and as much again for each 4 MiB of it.
  std::chrono::milliseconds command_timeout{5000};
  // How long what fails is tried again, if nothing else of the call succeeds meanwhile: it should
  // be longer than the cluster needs to replace a node that is gone.
  std::chrono::milliseconds retry_for{15000};
  // The pause before a node is tried again: at first min_backoff, then twice as long each time, up
  // to max_backoff, of which a random half to all is waited.
  std::chrono::milliseconds min_backoff{10};
  std::chrono::milliseconds max_backoff{1000};

  // Commands and replies that are under way on a connection, in bytes, and the bytes of segments
  // that a server is to unite with others, at most, but always one command. So long do other
  // clients of that server wait at most: it works on one command at a time, and on all that have
  // come on a connection before it turns to the next one. 8 MiB of segments are some 16 ms.
  uint64_t max_bytes_in_flight = uint64_t{8} << 20;
  // The share of its time in which a server has no segment of this client to unite, while it is
  // sent many (Insert of many keys, Push, Rebuild): after each it has a pause of this part of pause
  // and work together, but of 200 ms at most. In [0, 0.9]; 0: none.
  double idle_share = 0.5;
  // Whether Contains, Count and Pull ask a replica where there is one, and its master for what the
  // replica lacks. It lags behind its master, and for long if the connection between them is down
  // (unless its replica-serve-stale-data is "no"), so that keys inserted since may be answered by
  // "no": all but those that are durable on as many replicas as the master has
  // (ClientOptions::durable_replicas), while their slots do not move between masters.
  bool read_from_replicas = false;
};

}  // namespace tamis::redis

#endif  // TAMIS_REDIS_SERVER_OPTIONS_H_
