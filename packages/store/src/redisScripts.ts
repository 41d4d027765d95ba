/**
 * What Redis does in one step, as Lua. Nothing else is running meanwhile, so that a write that compares cannot be overtaken.
 * The keys are not announced in KEYS one by one, as an area has a key for each of its kinds: Redis Cluster is not supported.
 */

/**
 * Writes to an area. KEYS: fences, versions, heads. ARGV: see `WRITE_FIELDS`, then kinds to erase, pairs to remove, triples to
 * put. What others hear is the list of arguments itself.
 */
export const WRITE = `
local fence = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or '0')
if fence > tonumber(ARGV[3]) then return 'superseded' end
if (redis.call('HGET', KEYS[2], ARGV[5]) or '') ~= ARGV[6] then return 'changed' end
local prefix = ARGV[9]
local at = 14
for _ = 1, tonumber(ARGV[11]) do
  redis.call('UNLINK', prefix .. ARGV[at])
  at = at + 1
end
for _ = 1, tonumber(ARGV[12]) do
  redis.call('HDEL', prefix .. ARGV[at], ARGV[at + 1])
  at = at + 2
end
for _ = 1, tonumber(ARGV[13]) do
  redis.call('HSET', prefix .. ARGV[at], ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[5], ARGV[7])
redis.call('HSET', KEYS[3], ARGV[5], ARGV[8])
local told = {}
local count = ARGV[10] == 'all' and #ARGV or 13
for i = 1, count do told[i] = ARGV[i] end
redis.call('PUBLISH', KEYS[4], cjson.encode(told))
return 'written'
`;

/** KEYS: fences, versions, heads, channel. ARGV: "cleared", fence's name, its number, section, cluster, prefix of the area's objects. */
export const CLEAR = `
local fence = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or '0')
if fence > tonumber(ARGV[3]) then return 'superseded' end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
local head = redis.call('HGET', KEYS[3], ARGV[5])
if head then
  for kind in pairs(cjson.decode(head).kinds) do redis.call('UNLINK', ARGV[6] .. kind) end
end
redis.call('HDEL', KEYS[2], ARGV[5])
redis.call('HDEL', KEYS[3], ARGV[5])
redis.call('PUBLISH', KEYS[4], cjson.encode({ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]}))
return 'written'
`;

/** KEYS: fences, channel. ARGV: "raised", name, by. By Redis' own clock, in milliseconds: see `nextFence`. */
export const RAISE = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local before = tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or '0')
local number = string.format('%.0f', math.max(before + 1, now))
redis.call('HSET', KEYS[1], ARGV[2], number)
redis.call('PUBLISH', KEYS[2], cjson.encode({ARGV[1], ARGV[2], number, ARGV[3]}))
return number
`;

/** KEYS: id, versions. ARGV: the id that an empty store gets. */
export const OVERVIEW = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return {redis.call('GET', KEYS[1]), redis.call('HGETALL', KEYS[2])}
`;

/** KEYS: the record, the names of its group, channel. ARGV: "recorded", group, name, value, life in ms or "", "NX" or "". */
export const PUT_RECORD = `
if ARGV[6] == 'NX' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if ARGV[5] == '' then redis.call('SET', KEYS[1], ARGV[4]) else redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
redis.call('SADD', KEYS[2], ARGV[3])
redis.call('PUBLISH', KEYS[3], cjson.encode({ARGV[1], ARGV[2], ARGV[3]}))
return 1
`;

/** KEYS: the record, the names of its group, channel. ARGV: "recorded", group, name. */
export const REMOVE_RECORD = `
redis.call('SREM', KEYS[2], ARGV[3])
local existed = redis.call('DEL', KEYS[1])
if existed == 1 then redis.call('PUBLISH', KEYS[3], cjson.encode({ARGV[1], ARGV[2], ARGV[3]})) end
return existed
`;

/**
 * KEYS: the record, the names of its group, channel. ARGV: "recorded", group, name, then what must be there and what shall be,
 * each as "1" and a value or as two empty texts for none.
 */
export const EXCHANGE_RECORD = `
local now = redis.call('GET', KEYS[1])
if (now and '1' or '') ~= ARGV[4] or (now or '') ~= ARGV[5] then return 0 end
if ARGV[6] == '1' then
  redis.call('SET', KEYS[1], ARGV[7])
  redis.call('SADD', KEYS[2], ARGV[3])
else
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], ARGV[3])
end
redis.call('PUBLISH', KEYS[3], cjson.encode({ARGV[1], ARGV[2], ARGV[3]}))
return 1
`;

/** KEYS: the names of a group. ARGV: prefix of its records. Gives names and values in turn; forgets names whose records have expired. */
export const RECORDS = `
local found = {}
for _, name in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local value = redis.call('GET', ARGV[1] .. name)
  if value then
    found[#found + 1] = name
    found[#found + 1] = value
  else
    redis.call('SREM', KEYS[1], name)
  end
end
return found
`;
