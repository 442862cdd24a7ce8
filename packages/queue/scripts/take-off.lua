-- Takes a batch off, unless something has joined it since it was read: an API that was kept from running for a while may still
-- add to a batch whose job the sweeper has added meanwhile. Flushes only ever join a batch, so as many as were read, with the
-- same one first, are those that were read. One that joins after another worker has taken the batch off begins it anew, and
-- never with the text that the batch began with before. What is taken off no longer counts for those that wait. When nothing
-- waits, the count begins anew, whatever it had come to.
--
-- KEYS  1 the batch's list, 2 the sorted set of staged batches, 3 the bytes that wait of each organization, 4 the notes of batches that
--       are recorded.
-- ARGV  1 the batch's id, 2 how many flushes were read, 3 the text of the first event (empty: there was none), then two for
--       each organization: its id, and the bytes of its events.
-- Returns 1 once the batch is off, 0 where something has joined it.
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] ~= '' and string.sub(redis.call('LINDEX', KEYS[1], 0), 1, #ARGV[3]) ~= ARGV[3] then return 0 end
redis.call('HDEL', KEYS[4], ARGV[1])
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('UNLINK', KEYS[3], KEYS[4])
  return 1
end
for o = 4, #ARGV, 2 do
  if redis.call('HINCRBY', KEYS[3], ARGV[o], '-' .. ARGV[o + 1]) <= 0 then redis.call('HDEL', KEYS[3], ARGV[o]) end
end
return 1
