-- Drops the counts that were set aside, once Postgres has them, and remembers what Postgres has counted, which is never less
-- than it was before: a Postgres that has less has gone back in time. Another drain may be at work on the next counts by now.
-- The counts go first: should the log be torn in the middle, a total that is too low is mended by the next drain, and one that
-- is too high would speak of a loss.
--
-- KEYS  1 the counts that are set aside, 2 the id of those drained last, then what was drained in the month of each total.
-- ARGV  1 the id of the counts to drop, 2 seconds that totals are remembered, then three for each total: its organization, the
--       total, and how much of it was added by these counts.
-- Returns nothing.
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then return end
redis.call('UNLINK', KEYS[1])
for n = 1, #KEYS - 2 do
  local field, total, added = ARGV[3 * n], tonumber(ARGV[3 * n + 1]), tonumber(ARGV[3 * n + 2])
  local before = tonumber(redis.call('HGET', KEYS[2 + n], field) or 0)
  if before > 0 and before + added > total then total = before + added end
  redis.call('HSET', KEYS[2 + n], field, string.format('%.0f', total))
  redis.call('EXPIRE', KEYS[2 + n], ARGV[2])
end
redis.call('SET', KEYS[2], ARGV[1])
