-- Admits the events of one flush, all in one step: nobody ever sees a claim without its event, or an event that was not counted.
--
-- KEYS  1 the batch's list, 2 the sorted set of staged batches, 3 the counts of accepted events, 4 the epoch of this Redis,
--       5 the bytes that wait of each organization, then the revoked mark of each sender's API key, then the claim of each
--       event that has one.
-- ARGV  1 the batch's id, 2 now in milliseconds, 3 seconds that a claim lives (0: none is written), 4 the id of counts that
--       begin here, 5 how many senders, 6 how many runs; then three for each sender: the field that counts its events, the
--       epoch in which its API key was looked up, and its organization; then three for each run of events of one sender: the
--       number of the sender (0: they are replayed, and were counted before), how many they are, and their bytes, two more for
--       each than its text has; then what the claim of each event is to hold, all of the same length and one right after the
--       other, blank for an event without a claim; then that length; then the events, a comma and a line break between them
--       and no other line break. As one text they are what is staged, if all of them are.
-- Returns two for each event that is not staged: its place, from 1, and 'revoked', 'unsure' when the mark of a revoked key may
-- be lost, or what the claim on its idempotency key holds.
local senders, runs = tonumber(ARGV[5]), tonumber(ARGV[6])
local epoch = redis.call('GET', KEYS[4])
local refused, accepted, waiting = {}, {}, {}
for s = 1, senders do
  if redis.call('EXISTS', KEYS[5 + s]) == 1 then
    refused[s] = 'revoked'
  elseif epoch ~= ARGV[5 + 3 * s] then
    refused[s] = 'unsure'
  end
  accepted[s], waiting[s] = 0, 0
end

local k = 5 + senders
local held = {}
if #KEYS > k then
  local values = redis.call('MGET', unpack(KEYS, k + 1))
  for c = 1, #values do
    if values[c] then held[KEYS[k + c]] = values[c] end
  end
end

local a = 6 + 3 * (senders + runs)
local values, length, events = ARGV[a + 1], tonumber(ARGV[a + 2]), ARGV[a + 3]
local blank = string.rep(' ', length)
local exceptions, leftOut, claims = {}, {}, {}
local place, staged = 0, 0
for r = 1, runs do
  local sender = tonumber(ARGV[4 + 3 * (senders + r)])
  local before = staged
  for _ = 1, tonumber(ARGV[5 + 3 * (senders + r)]) do
    local value = string.sub(values, place * length + 1, place * length + length)
    place = place + 1
    local claim
    if value ~= blank then
      k = k + 1
      claim = KEYS[k]
    end
    local exception = refused[sender] or held[claim]
    if exception then
      exceptions[#exceptions + 1] = place
      exceptions[#exceptions + 1] = exception
      leftOut[place] = sender
    else
      staged = staged + 1
      if claim then
        -- An event of the same flush with the same key comes too late as well.
        held[claim] = value
        claims[#claims + 1] = claim
      end
    end
  end
  if sender > 0 then
    accepted[sender] = accepted[sender] + staged - before
    waiting[sender] = waiting[sender] + tonumber(ARGV[6 + 3 * (senders + r)])
  end
end

-- Events before their claims. A machine that dies can tear its log in the middle of this, and Redis may then take the part
-- before the tear for whole: an event without a claim is counted once all the same, a claim without an event would be a loss.
if staged > 0 then
  if staged < place then
    local kept, at = {}, 0
    for event in string.gmatch(events, '[^\n]+') do
      at = at + 1
      local sender = leftOut[at]
      if not sender then
        kept[#kept + 1] = event
      elseif sender > 0 then
        -- The comma is here already, but not behind the last one.
        waiting[sender] = waiting[sender] - #event - (at < place and 1 or 2)
      end
    end
    -- A comma ends all of them but the last of the flush.
    kept[#kept] = string.gsub(kept[#kept], ',$', '')
    events = table.concat(kept, '\n')
  end
  redis.call('RPUSH', KEYS[1], events)
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  for s = 1, senders do
    -- The first count of a field may be the first of all of them, which then get their id.
    if accepted[s] > 0 and redis.call('HINCRBY', KEYS[3], ARGV[4 + 3 * s], accepted[s]) == accepted[s] then
      redis.call('HSETNX', KEYS[3], 'id', ARGV[4])
    end
    if accepted[s] > 0 then redis.call('HINCRBY', KEYS[5], ARGV[6 + 3 * s], waiting[s]) end
  end
  if ARGV[3] ~= '0' then
    for c = 1, #claims do
      redis.call('SET', claims[c], held[claims[c]], 'EX', ARGV[3])
    end
  end
end
return exceptions
