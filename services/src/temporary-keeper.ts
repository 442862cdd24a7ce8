// Started by temporary.ts: opens services in a new home, and takes everything away when the process that wanted them is
// gone, whatever became of it. The end of the channel tells.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPostgresPointer } from './postgres-folder.ts';
import { openServices } from './services.ts';
import type { KeeperMessage, TemporaryOptions } from './temporary.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as Omit<TemporaryOptions, 'log'>;
const gone = new AbortController();
const isGone = new Promise<void>((resolve) => gone.signal.addEventListener('abort', () => resolve()));
process.once('disconnect', () => gone.abort());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => gone.abort());

const home = await mkdtemp(join(tmpdir(), 'weir-temporary-'));
try {
  // As root, Postgres runs as another user and has to get to its data in here.
  await chmod(home, 0o711);
  const services = await openServices({ ...options, home, log: (line) => tell({ line }), signal: gone.signal });
  const { databaseUrl, redisUrl } = services;
  tell({ services: { home: services.home, databaseUrl, redisUrl } });
  await isGone;
  await services.close();
} catch (error) {
  tell({ error: error instanceof Error ? error.message : String(error) });
} finally {
  const outside = await readPostgresPointer(home);
  if (outside !== undefined) await rm(outside, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
}
// An open channel would keep this process.
if (process.connected) process.disconnect();

function tell(message: KeeperMessage): void {
  if (process.connected) process.send?.(message);
}
