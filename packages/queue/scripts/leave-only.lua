-- Leaves some events of a batch and takes off the others, unless something has joined it since it was read. So the next attempt
-- has nothing to do for those that are recorded, and they no longer count for those that wait. What stays is added before the
-- rest is cut off: a log that is torn in between has them twice, which changes nothing.
--
-- KEYS  1 the batch's list, 2 the bytes that wait of each organization, 3 the notes of batches that are recorded.
-- ARGV  1 the text of the events that stay, 2 how many flushes were read, then these flushes, then the batch's id, then two for each
--       organization: its id, and the bytes of its events that go.
-- Returns nothing.
local flushes, count = redis.call('LRANGE', KEYS[1], 0, -1), tonumber(ARGV[2])
if #flushes ~= count then return end
for n = 1, count do
  if flushes[n] ~= ARGV[n + 2] then return end
end
redis.call('HDEL', KEYS[3], ARGV[count + 3])
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -1, -1)
for o = count + 4, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[2], ARGV[o], '-' .. ARGV[o + 1])
end
