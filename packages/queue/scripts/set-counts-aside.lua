-- Sets the counts of accepted events aside, so that new ones begin. Those that an earlier drain set aside and did not finish
-- come before new ones.
--
-- KEYS  1 the counts, 2 those that are set aside, 3 the id of those drained last.
-- ARGV  none.
-- Returns the id of those drained last (empty where there is none), and the fields and values that are set aside, one after the other.
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
return { redis.call('GET', KEYS[3]) or '', redis.call('HGETALL', KEYS[2]) }
