import { expect, test } from 'vitest';
import { configurationFor } from './redis.ts';

test('the embedded Redis answers a write when it is on disk, evicts nothing, and is closed to others', () => {
  const lines = configurationFor('/home/a b/redis', { port: 7001, password: 'secret' }, 1000).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'bind 127.0.0.1',
      'requirepass secret',
      'dir "/home/a b/redis"',
      'appendonly yes',
      'appendfsync always',
      'aof-load-truncated yes',
      'auto-aof-rewrite-min-size 256mb',
      'maxmemory-policy noeviction',
    ]),
  );
});
