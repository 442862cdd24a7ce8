import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findFreePort, isPortFree, loadConnection } from './connection.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-connection-'));
});
afterEach(() => rm(folder, { recursive: true }));

test('port and password stay from run to run, and only the owner can read them', async () => {
  const file = join(folder, 'redis.json');
  const first = await loadConnection(file);
  expect(await loadConnection(file)).toEqual(first);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a port that something else has taken is given up, the password is not', async () => {
  const file = join(folder, 'redis.json');
  const first = await loadConnection(file);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(first.port, '127.0.0.1', resolve));
  try {
    const second = await loadConnection(file);
    expect(second.port).not.toBe(first.port);
    expect(second.password).toBe(first.password);
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});

test.each(['192.0.2.1', 'no.invalid'])('%s, where nobody can listen here, has no port that is taken', async (host) => {
  expect(await isPortFree(await findFreePort(), host)).toBe(true);
});
