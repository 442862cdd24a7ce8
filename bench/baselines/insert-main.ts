// No queue: each request is one transaction, and is answered when Postgres has it on disk.

import { openDatabase } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { buildDoor } from './door.ts';
import { recordOne } from './record-one.ts';
import { loadBaselineSettings } from './baseline-settings.ts';

/** Twice the threads of a small machine and more: most of them wait for an fsync. */
const CONNECTIONS = 20;

await runUntilStopped(async () => {
  const settings = loadBaselineSettings();
  const log = createLog('insert-per-request', 'warn');
  const database = openDatabase(settings.DATABASE_URL, {
    connectionsMax: CONNECTIONS,
    statementTimeoutMs: 0,
    onConnectionError: (error) => log.warn({ err: error }, 'a connection was lost'),
  });
  const app = buildDoor(settings, async (event, keyHash) =>
    (await recordOne(database.pool, event, keyHash)) ? null : 'another event',
  );
  const url = await app.listen({ port: settings.PORT, host: '127.0.0.1' });
  const close = async () => {
    await app.close();
    await database.close();
  };
  return { log, url, drainTimeoutMs: 5_000, close };
});
