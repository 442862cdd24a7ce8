-- Makes the queue that of a database, unless it belongs to another one. The epoch comes with the mark in one step: whoever has
-- it had it from a queue of its own.
--
-- KEYS  1 the mark of the database, 2 the epoch.
-- ARGV  1 the mark of this database, 2 the epoch to begin where there is none.
-- Returns the mark of the owner; and where that is this database the epoch, and 1 if the queue had no owner before.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return {owner} end
if not owner then redis.call('SET', KEYS[1], ARGV[1]) end
local epoch = redis.call('GET', KEYS[2])
if not epoch then
  epoch = ARGV[2]
  redis.call('SET', KEYS[2], epoch)
end
return {ARGV[1], epoch, owner and 0 or 1}
