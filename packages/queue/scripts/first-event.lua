-- Finds the id of the first event of a batch, without sending the batch.
--
-- KEYS  1 the batch's list.
-- ARGV  none.
-- Returns the id, or nothing where the batch is gone.
local flush = redis.call('LINDEX', KEYS[1], 0)
-- An event begins with its id, in quotes and the bracket of its array.
return flush and string.sub(flush, 3, 38)
