// A user's program that links tamis::redis and everything it needs. It connects to no server.
#include <tamis/error.h>
#include <tamis/redis/split_block_filter.h>

#include <cstdio>

int main() {
  tamis::redis::ServerOptions servers;
  servers.url = "http://127.0.0.1";
  try {
    tamis::redis::SplitBlockFilter::Open(servers, "phones");
  } catch (const tamis::Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == tamis::ErrorCode::kInvalidArgument ? 0 : 1;
  }
  return 1;
}
