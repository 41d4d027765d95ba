/**
 * What Redis does in one step, as Lua. Nothing else is running meanwhile, so that a write that compares cannot be overtaken.
 * The keys are not announced in KEYS one by one, as a partition has a key for each of its kinds: Redis Cluster is not supported.
 *
 * Scripts have no key to verify signatures with: they compare texts as they are, and give back what is there where it is not what was
 * expected. Anyone who writes to Redis may have left anything there: of any type, and of any size.
 *
 * At its memory limit Redis refuses the first command of a script that needs memory, and none after one that needs none. So what puts objects, which
 * may be large, begins with a command that is refused, before anything of a partition has changed; and what is small and must get through (fences, heads, removals, records of
 * replicas and revocations) begins with the removal of what it replaces.
 * Source: redis.io/docs/latest/develop/programmability/eval-intro.
 */
const COMMON = `
local function clean(key, kind)
  local is = redis.call('TYPE', key).ok
  if is ~= kind and is ~= 'none' then redis.call('UNLINK', key) end
end
local function field(key, name, most)
  clean(key, 'hash')
  if redis.call('HSTRLEN', key, name) > tonumber(most) then return '!' end
  return redis.call('HGET', key, name) or ''
end
local function value(key, most)
  clean(key, 'string')
  if redis.call('STRLEN', key) > tonumber(most) then return '!' end
  return redis.call('GET', key) or ''
end
local function tell(channel, signature, from, count)
  local parts = {signature}
  for i = from, from + count - 1 do parts[#parts + 1] = #ARGV[i] .. ':' .. ARGV[i] end
  redis.call('PUBLISH', channel, table.concat(parts))
end
`;

/**
 * Writes to a partition. KEYS: fences, versions, heads, channel. ARGV: fence's name, its text, another text that it may have now; cluster; the
 * version's text, the text it has now; prefix of the partition's objects; limits of small texts and heads; signature, how many texts are
 * published, those (of which the seventh is the head), then counts and names of kinds to erase, pairs to remove, triples to put.
 * Gives what is there where that is not what was expected.
 */
export const WRITE = `${COMMON}
local fence = field(KEYS[1], ARGV[1], ARGV[8])
if fence ~= '' and fence ~= ARGV[2] and fence ~= ARGV[3] then return {'fence', fence} end
local version = field(KEYS[2], ARGV[4], ARGV[8])
if version ~= ARGV[6] then return {'changed', version, field(KEYS[3], ARGV[4], ARGV[9])} end
clean(KEYS[3], 'hash')
local prefix = ARGV[7]
local first = 12
local erased, removed, put = tonumber(ARGV[first + 7]), tonumber(ARGV[first + 8]), tonumber(ARGV[first + 9])
local at = first + 10
if put == 0 then redis.call('HDEL', KEYS[3], ARGV[4]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
for _ = 1, erased do
  redis.call('UNLINK', prefix .. ARGV[at])
  at = at + 1
end
for _ = 1, removed do
  clean(prefix .. ARGV[at], 'hash')
  redis.call('HDEL', prefix .. ARGV[at], ARGV[at + 1])
  at = at + 2
end
local last
for _ = 1, put do
  local key = prefix .. ARGV[at]
  if key ~= last then clean(key, 'hash') end
  last = key
  redis.call('HSET', key, ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[4], ARGV[5])
redis.call('HSET', KEYS[3], ARGV[4], ARGV[first + 6])
tell(KEYS[4], ARGV[10], first, tonumber(ARGV[11]))
return {'written'}
`;

/**
 * KEYS: fences, versions, heads, channel. ARGV: fence's name, its text, another text that it may have now; cluster; limit of small
 * texts; prefix of the partition's objects; how many kinds, those; signature, then the texts that are published.
 */
export const CLEAR = `${COMMON}
local fence = field(KEYS[1], ARGV[1], ARGV[5])
if fence ~= '' and fence ~= ARGV[2] and fence ~= ARGV[3] then return {'fence', fence} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
local kinds = tonumber(ARGV[7])
for i = 8, 7 + kinds do redis.call('UNLINK', ARGV[6] .. ARGV[i]) end
clean(KEYS[2], 'hash')
clean(KEYS[3], 'hash')
redis.call('HDEL', KEYS[2], ARGV[4])
redis.call('HDEL', KEYS[3], ARGV[4])
tell(KEYS[4], ARGV[8 + kinds], 9 + kinds, #ARGV - 8 - kinds)
return {'written'}
`;

/** KEYS: fences. ARGV: name, limit. Gives the text of a fence, and Redis' own clock in milliseconds. */
export const FENCE = `${COMMON}
local time = redis.call('TIME')
return {field(KEYS[1], ARGV[1], ARGV[2]), string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000))}
`;

/** KEYS: fences, channel. ARGV: name, limit, the text that it has now, the one that it gets; signature, then the texts that are published. */
export const RAISE = `${COMMON}
if field(KEYS[1], ARGV[1], ARGV[2]) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
tell(KEYS[2], ARGV[5], 6, #ARGV - 5)
return 1
`;

/** KEYS: channel. ARGV: signature, then the texts that are published. */
export const TELL = `${COMMON}
tell(KEYS[1], ARGV[1], 2, #ARGV - 1)
`;

/** KEYS: id, versions. ARGV: the id that an empty store gets, limit of names, limit of texts, how many clusters at most. */
export const OVERVIEW = `${COMMON}
clean(KEYS[1], 'string')
clean(KEYS[2], 'hash')
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1], 'NX') end
if redis.call('HLEN', KEYS[2]) > tonumber(ARGV[4]) then return redis.error_reply('ERR ' .. KEYS[2] .. ' has more entries than there can be clusters') end
local all = redis.call('HGETALL', KEYS[2])
local found = {}
for i = 1, #all, 2 do
  if #all[i] <= tonumber(ARGV[2]) and #all[i + 1] <= tonumber(ARGV[3]) then
    found[#found + 1] = all[i]
    found[#found + 1] = all[i + 1]
  end
end
return {redis.call('GETRANGE', KEYS[1], 0, 63), found}
`;

/** KEYS: versions, heads. ARGV: cluster, limit of small texts, limit of heads. */
export const HEAD = `${COMMON}
return {field(KEYS[1], ARGV[1], ARGV[2]), field(KEYS[2], ARGV[1], ARGV[3])}
`;

/**
 * KEYS: the objects of a kind. ARGV: cursor, how many, limit of names, limit of objects, how many bytes in all. Gives the next cursor,
 * names and texts in turn, names of those that did not fit any more, and how many are too long to be read at all.
 */
export const PAGE_SCRIPT = `${COMMON}
clean(KEYS[1], 'hash')
local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local found, later, left, size = {}, {}, 0, 0
for i = 1, #page[2], 2 do
  local name, text = page[2][i], page[2][i + 1]
  if #name > tonumber(ARGV[3]) or #text > tonumber(ARGV[4]) then
    left = left + 1
  elseif size + #text > tonumber(ARGV[5]) then
    later[#later + 1] = name
  else
    size = size + #text
    found[#found + 1] = name
    found[#found + 1] = text
  end
end
return {page[1], found, later, left}
`;

/** KEYS: the objects of a kind. ARGV: name, limit. */
export const OBJECT = `${COMMON}
return field(KEYS[1], ARGV[1], ARGV[2])
`;

/** KEYS: the record. ARGV: limit. */
export const RECORD = `${COMMON}
return value(KEYS[1], ARGV[1])
`;

/**
 * KEYS: the record, the names of its group, channel. ARGV: limit, "1" if it must be what follows, that; the new text, or none; life in
 * ms or ""; name; signature, then the texts that are published. Gives whether it was so, and what was there.
 */
export const SET_RECORD = `${COMMON}
local now = value(KEYS[1], ARGV[1])
if ARGV[2] == '1' and now ~= ARGV[3] then return {0, now} end
clean(KEYS[2], 'set')
if ARGV[4] == '' then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], ARGV[6])
else
  redis.call('DEL', KEYS[1])
  if ARGV[5] == '' then redis.call('SET', KEYS[1], ARGV[4]) else redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5]) end
  redis.call('SADD', KEYS[2], ARGV[6])
end
if now ~= '' or ARGV[4] ~= '' then tell(KEYS[3], ARGV[7], 8, #ARGV - 7) end
return {1, now}
`;

const FORGET_NAME = "redis.call('SREM', KEYS[1], name)";

/**
 * KEYS: the names of a group. ARGV: prefix of its records, limit of names, limit of texts, how many at most. Gives names and values in turn;
 * forgets names whose records have expired.
 */
export const RECORDS = `${COMMON}
clean(KEYS[1], 'set')
if redis.call('SCARD', KEYS[1]) > tonumber(ARGV[4]) then return redis.error_reply('ERR ' .. KEYS[1] .. ' has more names than servers write') end
local found = {}
for _, name in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local text = #name > tonumber(ARGV[2]) and '' or value(ARGV[1] .. name, ARGV[3])
  if text == '' then
    ${FORGET_NAME}
  else
    found[#found + 1] = name
    found[#found + 1] = text
  end
end
return found
`;

const UNLINK_OTHER = "redis.call('UNLINK', key)";
const SET_ID = "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1], 'NX') end\n";

/** The form of a script that writes nothing: what is of another type than ours is an error. Undefined for scripts whose purpose is to write. */
export function readingForm(script: string): string | undefined {
  if (![OVERVIEW, HEAD, PAGE_SCRIPT, OBJECT, RECORD, RECORDS].includes(script)) return undefined;
  return script
    .replace(UNLINK_OTHER, "error(key .. ' is of another type than a server writes')")
    .replace(SET_ID, "")
    .replace(FORGET_NAME, "-- it has expired");
}
