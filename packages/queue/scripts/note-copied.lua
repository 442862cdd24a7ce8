#!lua flags=allow-oom
-- Writes a small key, also where Redis is full: what a flush before it has filled is acknowledged all the same, and workers make room again.
--
-- KEYS  1 the key.
-- ARGV  1 after how many seconds it is forgotten.
-- Returns what SET answers.
return redis.call('SET', KEYS[1], '', 'EX', ARGV[1])
