-- Finds the flush of a batch that holds an event.
--
-- KEYS  1 the batch's list.
-- ARGV  1 how the text of the event begins.
-- Returns the text of the flush, or nothing.
for _, flush in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if string.find(flush, ARGV[1], 1, true) then return flush end
end
return nil
