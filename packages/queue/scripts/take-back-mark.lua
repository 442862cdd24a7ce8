-- Takes back the mark of an API key that was not deleted after all, and leaves that of whoever has deleted it since.
--
-- KEYS  1 the mark.
-- ARGV  1 what it holds, which no other one does.
-- Returns how many were taken back.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
