-- Lets go of old claims among some of all keys: one step of a walk.
--
-- KEYS  none: SCAN finds them.
-- ARGV  1 where to go on, 2 what the names of claims match, 3 how many keys to look at, 4 the id that those of old claims are
--       smaller than.
-- Returns where to go on ('0': the walk is over), how many claims it let go of, and the smallest id of those that it kept.
local scanned = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local keys, old, oldest = scanned[2], {}, ''
if #keys > 0 then
  local values = redis.call('MGET', unpack(keys))
  for c = 1, #keys do
    local id = values[c] and string.sub(values[c], 1, 36)
    if id and id < ARGV[4] then
      old[#old + 1] = keys[c]
    elseif id and (oldest == '' or id < oldest) then
      oldest = id
    end
  end
  if #old > 0 then redis.call('UNLINK', unpack(old)) end
end
return { scanned[1], #old, oldest }
