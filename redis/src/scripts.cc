#include "redis/src/scripts.h"

namespace tamis::redis {
namespace {

constexpr const char* kCheck = R"lua(
local call, key = redis.call, KEYS[1]
local state = call('GETRANGE', key, ARGV[1], ARGV[2])
if #state ~= 32 or string.sub(state, 1, 24) ~= ARGV[3] then return state end
)lua";

constexpr const char* kInsert = R"lua(
local changed, bor, unpack, pack = 0, bit.bor, struct.unpack, struct.pack
for i = 6, #ARGV, 3 do
  local old = call('GETRANGE', key, ARGV[i], ARGV[i + 1])
  local a, b, c, d, e, f, g, h = unpack('<I4I4I4I4I4I4I4I4', ARGV[i + 2])
  local A, B, C, D, E, F, G, H = unpack('<I4I4I4I4I4I4I4I4', old)
  local new = pack('<i4i4i4i4i4i4i4i4', bor(a, A), bor(b, B), bor(c, C), bor(d, D),
                   bor(e, E), bor(f, F), bor(g, G), bor(h, H))
  if new ~= old then
    call('SETRANGE', key, ARGV[i], new)
    changed = changed + 1
  end
end
if changed > 0 and string.byte(state, 25) % 2 == 0 then call('SETRANGE', key, ARGV[4], ARGV[5]) end
return changed
)lua";

// The delta is as long as the bits: BITOP takes zeros for what it lacks, so the state stays.
constexpr const char* kMerge = R"lua(
if call('STRLEN', KEYS[2]) ~= tonumber(ARGV[1]) then return -1 end
call('BITOP', 'OR', key, key, KEYS[2])
if string.byte(state, 25) % 2 == 0 then call('SETRANGE', key, ARGV[4], ARGV[5]) end
call('UNLINK', KEYS[2])
return 1
)lua";

constexpr const char* kSettle = R"lua(
if string.byte(state, 25) % 2 == 1 then call('SETRANGE', key, ARGV[4], ARGV[5]) end
return call('GETRANGE', key, ARGV[1], ARGV[2])
)lua";

// A second time after a lost reply it finds its own work.
constexpr const char* kCreate = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[3]) end
return redis.call('GETRANGE', KEYS[1], ARGV[1], ARGV[2])
)lua";

constexpr const char* kDrop = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)lua";

}  // namespace

const Scripts& AllScripts() {
  static const Scripts scripts = {
      Script(std::string(kCheck) + kInsert), Script(std::string(kCheck) + kMerge),
      Script(std::string(kCheck) + kSettle), Script(kCreate), Script(kDrop)};
  return scripts;
}

}  // namespace tamis::redis
