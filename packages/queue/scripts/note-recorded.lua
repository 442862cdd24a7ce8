#!lua flags=allow-oom
-- Notes that all events of a batch are in Postgres, although it stays here, unless it is another one by now than was read: something may
-- have joined it, and this Redis may be another one. No two flushes begin alike, and what is before the last one is the same wherever that
-- is. Also where Redis is full. Whatever shortens the batch takes the note away first, so as many flushes as are noted are those.
--
-- KEYS  1 the batch's list, 2 the notes, 3 the epoch of this Redis.
-- ARGV  1 the batch's id, 2 the epoch when it was read: with another one Postgres may have lost what it had, 3 how many flushes were read,
--       4 the text of the first event of the last one.
-- Returns nothing.
if redis.call('GET', KEYS[3]) ~= ARGV[2] or redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[3]) then return end
if string.sub(redis.call('LINDEX', KEYS[1], -1), 1, #ARGV[4]) ~= ARGV[4] then return end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
