-- Begins a new epoch, since Postgres does not have any more what it had. Several processes find it out at once; the first one
-- renews.
--
-- KEYS  1 the mark of the database, 2 the epoch, 3 the id of the counts drained last, 4 the timeline, 5 that Postgres may have
--       fewer events counted than Redis remembers.
-- ARGV  1 the mark, 2 the id of the counts drained last and 3 the timeline, as they were seen; 4 the new epoch, 5 the timeline
--       that Postgres has now (0: it does not say).
-- Returns 1 where it did, 0 where something was not as it was seen.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[2] or (redis.call('GET', KEYS[4]) or '') ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[2], ARGV[4])
redis.call('SET', KEYS[5], '1')
redis.call('UNLINK', KEYS[3])
if ARGV[5] ~= '0' then redis.call('SET', KEYS[4], ARGV[5]) end
return 1
