#include "redis/src/filter/scripts.h"

namespace tamis::redis {
namespace {

// BITOP removes the expiry of the key that it writes, so the script sets it again. The client
// passes the time, or "0" for never, because servers before Redis 7 lack PEXPIRETIME.
constexpr const char* kUnite = R"lua(
local function unite(to, from, expires)
  redis.call('BITOP', 'OR', to, to, from)
  if expires ~= '0' then redis.call('PEXPIREAT', to, expires) end
end
)lua";

constexpr const char* kCheck = R"lua(
local call, key = redis.call, KEYS[1]
local state = call('GETRANGE', key, ARGV[1], ARGV[2])
if #state ~= 32 or string.sub(state, 1, 24) ~= ARGV[3] then return state end
)lua";

// From Redis 7.2 on, WAIT ignores bits that another connection has set, if its own connection has
// written nothing.
constexpr const char* kAlwaysWrites = "local always_writes = true\n";
constexpr const char* kWritesChanges = "local always_writes = false\n";

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
if changed > 0 and string.byte(state, 25) % 2 == 0 then
  call('SETRANGE', key, ARGV[4], ARGV[5])
elseif changed == 0 and always_writes then
  call('SETRANGE', key, ARGV[4], string.sub(state, 25))
end
return changed
)lua";

// The delta is as long as the bits. BITOP pads it with zeros, so the state does not change.
constexpr const char* kMerge = R"lua(
if call('STRLEN', KEYS[2]) ~= tonumber(ARGV[1]) then return -1 end
unite(key, KEYS[2], ARGV[6])
if string.byte(state, 25) % 2 == 0 then call('SETRANGE', key, ARGV[4], ARGV[5]) end
call('UNLINK', KEYS[2])
return 1
)lua";

constexpr const char* kSettle = R"lua(
if string.byte(state, 25) % 2 == 1 then call('SETRANGE', key, ARGV[4], ARGV[5]) end
return call('GETRANGE', key, ARGV[1], ARGV[2])
)lua";

// If the reply is lost and the script runs again, it returns the state that it has written.
constexpr const char* kCreate = R"lua(
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('SETRANGE', KEYS[1], ARGV[1], ARGV[3])
  if ARGV[4] ~= '0' then redis.call('PEXPIREAT', KEYS[1], ARGV[4]) end
end
return redis.call('GETRANGE', KEYS[1], ARGV[1], ARGV[2])
)lua";

constexpr const char* kDrop = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
local rebuild = redis.call('GET', KEYS[2]) or ''
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
return rebuild
)lua";

// ---- During a rebuild ----

// Checks the second segment. If it is missing or closed, no query reads it for its generation, so
// the script does not set bits in it.
constexpr const char* kOther = R"lua(
local other = call('GETRANGE', KEYS[2], ARGV[1], ARGV[2])
local both = #other == 32 and string.sub(other, 1, 16) == string.sub(ARGV[6], 1, 16)
if both and string.sub(other, 17, 24) ~= string.sub(ARGV[6], 17, 24) then return state .. other end
)lua";

constexpr const char* kInsertBoth = R"lua(
local bor, unpack, pack = bit.bor, struct.unpack, struct.pack
local function insert(to, its_state)
  local changed = 0
  for i = 7, #ARGV, 3 do
    local old = call('GETRANGE', to, ARGV[i], ARGV[i + 1])
    local a, b, c, d, e, f, g, h = unpack('<I4I4I4I4I4I4I4I4', ARGV[i + 2])
    local A, B, C, D, E, F, G, H = unpack('<I4I4I4I4I4I4I4I4', old)
    local new = pack('<i4i4i4i4i4i4i4i4', bor(a, A), bor(b, B), bor(c, C), bor(d, D),
                     bor(e, E), bor(f, F), bor(g, G), bor(h, H))
    if new ~= old then
      call('SETRANGE', to, ARGV[i], new)
      changed = changed + 1
    end
  end
  if changed > 0 and string.byte(its_state, 25) % 2 == 0 then
    call('SETRANGE', to, ARGV[4], ARGV[5])
  elseif changed == 0 and always_writes then
    call('SETRANGE', to, ARGV[4], string.sub(its_state, 25))
  end
  return changed
end
local changed = insert(key, state)
if both then insert(KEYS[2], other) end
return changed
)lua";

constexpr const char* kMergeBoth = R"lua(
if call('STRLEN', KEYS[3]) ~= tonumber(ARGV[1]) then return -1 end
local function merge(to, its_state)
  unite(to, KEYS[3], ARGV[7])
  if string.byte(its_state, 25) % 2 == 0 then call('SETRANGE', to, ARGV[4], ARGV[5]) end
end
merge(key, state)
if both and ARGV[8] == '2' then merge(KEYS[2], other) end
call('UNLINK', KEYS[3])
return 1
)lua";

// Servers without memory refuse SET and SETRANGE only as the first write of a script. So this
// script and kAcquire first remove a key. A rebuild can then be ended on such servers.
constexpr const char* kMark = R"lua(
if KEYS[2] then call('UNLINK', KEYS[2]) end
call('SETRANGE', key, ARGV[4], ARGV[5])
return call('GETRANGE', key, ARGV[1], ARGV[2])
)lua";

// If a failover lost the mark, writers may have set bits in this segment only. So the script adds
// these bits to the next generation.
constexpr const char* kClose = R"lua(
local call = redis.call
local state = call('GETRANGE', KEYS[1], ARGV[1], ARGV[2])
if #state ~= 32 or string.sub(state, 1, 16) ~= ARGV[3] then return 0 end
if string.sub(state, 17, 24) ~= ARGV[4] then
  local new = call('GETRANGE', KEYS[2], ARGV[1], ARGV[2])
  if #new == 32 and string.sub(new, 1, 16) == ARGV[4] .. string.sub(ARGV[3], 9, 16) then
    unite(KEYS[2], KEYS[1], ARGV[6])
    call('SETRANGE', KEYS[2], ARGV[1], string.sub(new, 1, 24) .. ARGV[5])
  end
end
call('SETRANGE', KEYS[1], ARGV[1], ARGV[4])
return 1
)lua";

// If the reply to this script or to one below is lost, the script runs again, finds its own result
// and succeeds. Only kEnd returns kChanged then, which its callers ignore.
constexpr const char* kAcquire = R"lua(
local call = redis.call
local descriptor = call('GET', KEYS[1])
local rebuild = call('GET', KEYS[2]) or ''
if rebuild ~= ARGV[2] then
  if rebuild ~= ARGV[1] then return -1 end
  local owner = call('GET', KEYS[3])
  if owner and owner ~= ARGV[3] then return math.max(call('PTTL', KEYS[3]), 0) end
end
if not descriptor then return '' end
if rebuild ~= '' then call('DEL', KEYS[3]) end
call('SET', KEYS[2], ARGV[2])
if ARGV[6] ~= '0' then call('PEXPIREAT', KEYS[2], ARGV[6]) end
call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
return descriptor
)lua";

constexpr const char* kRenew = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 1
)lua";

constexpr const char* kReplace = R"lua(
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return -1 end
local descriptor = redis.call('GET', KEYS[1])
if descriptor ~= ARGV[2] and descriptor ~= ARGV[3] then return -1 end
redis.call('SET', KEYS[1], ARGV[3], 'KEEPTTL')
return 1
)lua";

constexpr const char* kEnd = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
)lua";

constexpr const char* kRelease = R"lua(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)lua";

Script Checked(const char* first, const char* second = "", const char* third = "") {
  return Script(std::string(kCheck) + first + second + third);
}

Script CheckedMerge(const char* first, const char* second = "") {
  return Script(std::string(kUnite) + kCheck + first + second);
}

}  // namespace

const Scripts& AllScripts() {
  static const Scripts scripts = {
      .insert = Checked(kWritesChanges, kInsert),
      .durable_insert = Checked(kAlwaysWrites, kInsert),
      .merge = CheckedMerge(kMerge),
      .settle = Checked(kSettle),
      .insert_both = Checked(kWritesChanges, kOther, kInsertBoth),
      .durable_insert_both = Checked(kAlwaysWrites, kOther, kInsertBoth),
      .merge_both = CheckedMerge(kOther, kMergeBoth),
      .mark = Checked(kMark),
      .close = Script(std::string(kUnite) + kClose),
      .create = Script(kCreate),
      .drop = Script(kDrop),
      .acquire = Script(kAcquire),
      .renew = Script(kRenew),
      .replace = Script(kReplace),
      .end = Script(kEnd),
      .release = Script(kRelease),
  };
  return scripts;
}

}  // namespace tamis::redis
