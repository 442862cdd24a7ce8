-- Gives the queue to a database, whoever it belonged to. All in one step, and the mark last: a log that is torn in the middle
-- leaves a queue that is to be taken over again.
--
-- KEYS  1 the mark of the database, 2 the epoch, 3 the id of the counts drained last, 4 the timeline, 5 that Postgres may have
--       fewer events counted than Redis remembers.
-- ARGV  1 the mark, 2 the new epoch, 3 the timeline.
-- Returns nothing.
redis.call('SET', KEYS[2], ARGV[2])
redis.call('SET', KEYS[5], '1')
redis.call('UNLINK', KEYS[3])
redis.call('SET', KEYS[4], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1])
