-- Admits the events of one flush, all in one step: nobody ever sees a claim without its event, or an event that was not counted.
--
-- KEYS  1 the batch's hash, 2 the sorted set of staged batches, 3 the tally, 4 the mark of this memory, then the tombstone
--       of each sender's API key, then claims.
-- ARGV  1 the batch's id, 2 now in milliseconds, 3 seconds that a claim lives, 4 how many senders, then two for each: the
--       field of the tally that counts its events, and the mark that the memory had when its API key was looked up; then five
--       for each event: the number of its sender (0: it is replayed, and was counted before), index in KEYS of its claim
--       (0: none), its id, its fingerprint, its JSON.
-- Answers one text for each event: '' staged, 'revoked', 'unsure' when a tombstone may be lost, or the claim that holds its
-- idempotency key.
local senders = tonumber(ARGV[4])
local memory = redis.call('GET', KEYS[4])
local refused, accepted = {}, {}
for s = 1, senders do
  if redis.call('EXISTS', KEYS[4 + s]) == 1 then
    refused[s] = 'revoked'
  elseif memory ~= ARGV[4 + 2 * s] then
    refused[s] = 'unsure'
  end
  accepted[s] = 0
end

local first = 5 + senders
local held = {}
if #KEYS >= first then
  local values = redis.call('MGET', unpack(KEYS, first))
  for k = 1, #values do
    held[KEYS[first - 1 + k]] = values[k] or nil
  end
end

local answers, staged, claims = {}, {}, {}
local firstCounted
for a = 5 + 2 * senders, #ARGV, 5 do
  local sender, claim = tonumber(ARGV[a]), KEYS[tonumber(ARGV[a + 1])]
  local id, fingerprint, event = ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local answer = refused[sender] or held[claim] or ''
  if answer == '' then
    staged[#staged + 1] = id
    staged[#staged + 1] = event
    if claim then
      -- An event of the same flush with the same key comes too late as well.
      held[claim] = id .. fingerprint
      claims[#claims + 1] = claim
    end
    if sender > 0 then
      accepted[sender] = accepted[sender] + 1
      firstCounted = firstCounted or id
    end
  end
  answers[#answers + 1] = answer
end

-- Events before their claims. A machine that dies can tear its log in the middle of this, and Redis may then take the part
-- before the tear for whole: an event without a claim is counted once all the same, a claim without an event would be a loss.
if #staged > 0 then
  redis.call('HSET', KEYS[1], unpack(staged))
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
  for s = 1, senders do
    -- The first count of a field may be the first of the whole tally, which then gets its id: that of an event, since a batch
    -- may go on in the next tally.
    if accepted[s] > 0 and redis.call('HINCRBY', KEYS[3], ARGV[3 + 2 * s], accepted[s]) == accepted[s] then
      redis.call('HSETNX', KEYS[3], 'id', firstCounted)
    end
  end
  for c = 1, #claims do
    redis.call('SET', claims[c], held[claims[c]], 'EX', ARGV[3])
  end
end
return answers
