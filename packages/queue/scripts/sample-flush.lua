-- Says how long the events of a batch are, without sending the batch: of those at its beginning.
--
-- KEYS  1 the batch's list.
-- ARGV  1 how many bytes to look at.
-- Returns two: how many bytes the events have that were looked at, each with the comma and line break behind it, and how many
-- events they are; 0 and 0 where the batch is gone.
local flush = redis.call('LINDEX', KEYS[1], 0)
if not flush then return { 0, 0 } end
local head = string.sub(flush, 1, tonumber(ARGV[1]))
local _, breaks = string.gsub(head, '\n', '')
-- The last event may be cut; it is left out where it is not the only one.
if #head == #flush then return { #flush + 2, breaks + 1 } end
if breaks == 0 then return { #head, 1 } end
return { #string.match(head, '^.*\n'), breaks }
