#!/bin/sh
# Starts a Redis Cluster of three masters and three replicas on this machine, for experiments and
# tests. `single` starts one server without cluster mode. The servers run until standard input ends
# or the script is interrupted. Only the files in DIR remain.
#
# Usage: redis/local_cluster.sh [cluster|single] [DIR [SERVER OPTIONS...]]
#        redis/local_cluster.sh [cluster|single] -- COMMAND...
#
# With a COMMAND, runs it with the URL in TAMIS_REDIS_URL, and returns its status. Otherwise prints
# a line for each server: "master PORT PID", "replica PORT PID" or "single PORT PID", and then a
# line that begins with "ready". The ports are free ports of 127.0.0.1. Status 69: redis-server is
# missing.
set -eu

mode=${1:-cluster}
[ $# -eq 0 ] || shift
case $mode in
  cluster) count=6 ;;
  single) count=1 ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || {
  echo "local_cluster: redis-server and redis-cli are not installed (Debian: redis-server)" >&2
  exit 69
}
# With a command: starts this script again in the background, until the command has ended.
if [ "${1:-}" = -- ]; then
  shift
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  mkfifo "$dir/in" "$dir/out"
  sh "$0" $mode "$dir/servers" <"$dir/in" >"$dir/out" &
  exec 3>"$dir/in" 4<"$dir/out"
  url=
  while [ -z "$url" ] && read -r role rest <&4; do
    [ "$role" != ready ] || url=${rest%% *}
  done
  status=0
  [ -z "$url" ] || TAMIS_REDIS_URL=$url "$@" 3>&- 4<&- || status=$?
  exec 3>&-
  wait $! || exit $?
  exit $status
fi

made=
if [ $# -eq 0 ]; then
  dir=$(mktemp -d)
  made=$dir
else
  dir=$1
  shift
  mkdir -p "$dir"
fi

pids=
stop() {
  trap - EXIT
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
  [ -z "$made" ] || rm -rf "$made"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

cli() {
  port=$1
  shift
  redis-cli -h 127.0.0.1 -p "$port" "$@"
}
fail() {
  echo "local_cluster: $*" >&2
  exit 1
}
# wait_for SECONDS COMMAND...: waits until the command succeeds.
wait_for() {
  tries=$(($1 * 20))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.05
  done
}

# start PORT: fails if another process has the port.
start() {
  options="--port $1 --bind 127.0.0.1 --save --appendonly no --dir $dir --loglevel notice"
  options="$options --logfile $dir/$1.log --enable-debug-command yes"
  if [ $mode = cluster ]; then
    # The default bus port, PORT + 10000, may be in use. The bus ports follow those of the servers.
    options="$options --cluster-enabled yes --cluster-config-file nodes-$1.conf"
    options="$options --cluster-port $(($1 + count)) --cluster-node-timeout 5000"
    options="$options --cluster-replica-validity-factor 0 --repl-diskless-sync-delay 0"
  fi
  shift
  rm -f "$dir/nodes-$port.conf"
  redis-server $options "$@" >/dev/null 2>&1 &
  pid=$!
  pids="$pids $pid"
  wait_for 60 is_up "$port" "$pid"
}
# is_up PORT PID: succeeds if the server answers, with NOAUTH as well, or if its process has ended.
is_up() {
  kill -0 "$2" || return 0
  cli "$1" ping | grep -q -e PONG -e NOAUTH -e LOADING
}

# A random seed: two scripts that start at the same time must not take the same ports.
random=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  base=$((20000 + (random + attempt * 7919) % 12000))
  pids=
  up=0
  for i in $(seq 0 $((count - 1))); do
    port=$((base + i))
    # Skips a port on which another server already answers.
    ! cli $port ping >/dev/null 2>&1 || break
    start $port "$@" || break
    kill -0 $pid 2>/dev/null || break
    up=$((up + 1))
  done
  [ $up -lt $count ] || break
  kill -9 $pids 2>/dev/null || true
done
[ $up -eq $count ] || fail "found no free ports, or redis-server does not start: see $dir"

if [ $mode = single ]; then
  echo "single $base $pid"
else
  for i in 0 1 2; do
    cli $((base + i)) CLUSTER ADDSLOTSRANGE $((i * 16384 / 3)) $(((i + 1) * 16384 / 3 - 1)) >/dev/null
    cli $((base + i)) CLUSTER SET-CONFIG-EPOCH $((i + 1)) >/dev/null
  done
  for i in 1 2 3 4 5; do
    cli $((base + i)) CLUSTER MEET 127.0.0.1 $base $((base + count)) >/dev/null
  done
  knows_all() { [ "$(cli "$1" CLUSTER NODES | grep -cw connected)" = $count ]; }
  for i in 0 1 2 3 4 5; do
    wait_for 60 knows_all $((base + i)) || fail "the nodes do not find each other: see $dir"
  done
  for i in 3 4 5; do
    cli $((base + i)) CLUSTER REPLICATE "$(cli $((base + i - 3)) CLUSTER MYID)" >/dev/null
  done
  is_ready() { cli "$1" CLUSTER INFO | grep -q cluster_state:ok; }
  follows() { cli "$1" INFO replication | grep -q master_link_status:up; }
  # Other nodes learn of a replica with its next ping, which may take seconds.
  knows_replicas() { [ "$(cli "$1" CLUSTER NODES | grep -c slave)" = 3 ]; }
  for i in 0 1 2 3 4 5; do
    wait_for 60 is_ready $((base + i)) || fail "the cluster does not come up: see $dir"
    [ $i -lt 3 ] || wait_for 60 follows $((base + i)) || fail "a replica does not follow: see $dir"
    wait_for 120 knows_replicas $((base + i)) || fail "the nodes do not learn of the replicas: see $dir"
  done
  set -- $pids
  for i in 0 1 2 3 4 5; do
    [ $i -lt 3 ] && role=master || role=replica
    echo "$role $((base + i)) $1"
    shift
  done
fi
echo "ready redis://127.0.0.1:$base (ends with standard input, or Ctrl-C)"
# Also ends when the process that started this script has ended, because that closes the pipe.
cat >/dev/null
