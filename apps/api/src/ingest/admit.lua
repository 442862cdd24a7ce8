-- Admits the events of one flush, all in one step: nobody ever sees a claim without its event.
--
-- KEYS  1 the batch's hash, 2 the sorted set of staged batches, then tombstones of API keys, then claims.
-- ARGV  1 the batch's id, 2 now in milliseconds, 3 seconds that a claim lives, 4 how many tombstones; then five for
--       each event: index in KEYS of its tombstone, of its claim (0: none), its id, its fingerprint, its JSON.
-- Answers one text for each event: '' staged, 'revoked', or the claim that holds its idempotency key.
local revoked = {}
for k = 3, 2 + tonumber(ARGV[4]) do
  revoked[k] = redis.call('EXISTS', KEYS[k]) == 1
end

local answers, staged = {}, {}
for a = 5, #ARGV, 5 do
  local tombstone, claim = tonumber(ARGV[a]), tonumber(ARGV[a + 1])
  local id, fingerprint, event = ARGV[a + 2], ARGV[a + 3], ARGV[a + 4]
  local answer = ''
  if revoked[tombstone] then
    answer = 'revoked'
  elseif claim > 0 then
    answer = redis.call('SET', KEYS[claim], id .. fingerprint, 'NX', 'GET', 'EX', ARGV[3]) or ''
  end
  if answer == '' then
    staged[#staged + 1] = id
    staged[#staged + 1] = event
  end
  answers[#answers + 1] = answer
end

if #staged > 0 then
  redis.call('HSET', KEYS[1], unpack(staged))
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
end
return answers
