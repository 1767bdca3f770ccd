// Reads a Bloom filter that a Redis server made, and makes one for the server.
#include <tamis/formats/redis_bloom.h>
#include <tamis/formats/redis_cuckoo.h>
#include <tamis/tamis.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
  // Like BF.RESERVE users 0.01 1000 and BF.MADD.
  tamis::RedisBloomFilter made({.capacity = 1000, .error_rate = 0.01});
  made.Insert(std::vector<std::string>{"ada", "bob", "eve"});
  made.Insert(uint64_t{1789});  // "1789", as clients send integers
  made.Save("users.dump");      // for BF.LOADCHUNK

  // Reads the replies of BF.SCANDUMP.
  auto users = tamis::RedisBloomFilter::Load("users.dump");
  const std::vector<std::string> asked = {"ada", "dan", "eve", "1789"};
  std::vector<uint32_t> rows(asked.size());
  rows.resize(users.Select(asked, rows));
  for (const uint32_t row : rows) std::printf("%s may be in\n", asked[row].c_str());
  const bool is_new = users.Insert("mallory");  // as BF.ADD

  // Like CF.RESERVE sessions 1000. Keys can be erased.
  tamis::RedisCuckooFilter sessions({.capacity = 1000});
  sessions.Insert("one");
  sessions.Insert("one");
  sessions.Erase("one");
  const bool once = sessions.Occurrences("one") == 1;
  const std::vector<tamis::RedisChunk> chunks = sessions.ToChunks();  // as CF.SCANDUMP
  return is_new && once && rows.size() == 3 && chunks.size() == 2 ? 0 : 1;
}
