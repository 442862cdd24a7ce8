-- Says how long the events are that wait, without sending them: of the first ones in some batches.
--
-- KEYS  1… the lists of the batches.
-- ARGV  1 the organization, 2 how many bytes to look at.
-- Returns the bytes of its events that were looked at, each with the comma and line break behind it, and how many they are; then
-- the same of all events that were looked at.
local organization, left = ARGV[1], tonumber(ARGV[2])
local ownBytes, own, allBytes, all = 0, 0, 0, 0
for k = 1, #KEYS do
  local at = 0
  local flush = redis.call('LINDEX', KEYS[k], at)
  while flush and left > 0 do
    for event in string.gmatch(string.sub(flush, 1, left), '[^\n]+') do
      -- A comma ends all of them but the last of a flush; one that is cut ends in neither.
      local bytes = #event + (string.sub(event, -1) == ',' and 1 or 2)
      allBytes, all = allBytes + bytes, all + 1
      -- An event begins with its id and its organization, in quotes and with a comma between them.
      if string.sub(event, 42, 77) == organization then
        ownBytes, own = ownBytes + bytes, own + 1
      end
    end
    left = left - #flush
    at = at + 1
    flush = redis.call('LINDEX', KEYS[k], at)
  end
end
return { ownBytes, own, allBytes, all }
