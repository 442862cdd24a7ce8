// Started by reaper.ts. The end of the channel tells that the suite is gone; what it has started then has to go, also what
// is paused and could not hear of it.

import { readPostgresPointer } from '@weir/services/postgres-folder';
import { findProcesses, isCode, startedAt, stopProcess } from '@weir/services/processes';
import { rm } from 'node:fs/promises';
import type { ReaperMessage } from './reaper.ts';

const [folder = ''] = process.argv.slice(2);
/** A pid alone may name another process later. */
const births = new Map<number, Promise<string | undefined>>();
let keepsFolder = false;

process.on('message', (message: ReaperMessage) => {
  if ('pid' in message) births.set(message.pid, startedAt(message.pid));
  else keepsFolder = message.keepFolder;
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
process.once('disconnect', () => void clearAway());

async function clearAway(): Promise<void> {
  for (const [pid, birth] of births) {
    const born = await birth;
    if (born !== undefined && (await startedAt(pid)) === born) kill(pid);
  }
  const outside = await readPostgresPointer(folder);
  const servers = await Promise.all(
    [folder, outside]
      .filter((path) => path !== undefined)
      .map((path) => findProcesses(['postgres', 'initdb', 'redis-server', 'valkey-server'], `${path}/`)),
  );
  await Promise.all(servers.flat().map((pid) => stopProcess(pid, [['SIGKILL', 10]])));
  if (keepsFolder) return;
  for (const path of [outside, folder]) {
    // The rest of a Postgres whose main process was killed still writes for a moment.
    if (path !== undefined) await rm(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!isCode(error, 'ESRCH')) throw error;
  }
}
