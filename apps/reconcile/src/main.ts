// The command: the only file that reads the environment and the arguments.
// Exit status: 0 all is equal (after --repair: is now), 1 something differs, 2 it could not be found out.

import { RepairUnderWay } from '@weir/db/accepted';
import { openDatabase } from '@weir/db/database';
import { identify } from '@weir/db/installation';
import { disconnect, openCommand } from '@weir/queue/connection';
import { foreignQueue, readOwner } from '@weir/queue/ownership';
import { Closer } from '@weir/shared/closer';
import { explainFailure, loadCommandSettings } from './connect.ts';
import { OptionError, parseOptions, usage, type ReconcileOptions } from './options.ts';
import { Progress } from './progress.ts';
import { describe, toJson } from './report.ts';
import { reconcile } from './run.ts';

try {
  const options = parseOptions(process.argv.slice(2));
  if (options) process.exitCode = await run(options);
  else console.log(usage);
} catch (error) {
  process.exitCode = 2;
  const line = explain(error);
  console.error(line === undefined ? error : `reconcile: ${line}`);
}

async function run(options: ReconcileOptions): Promise<number> {
  const settings = loadCommandSettings(process.env);
  const progress = new Progress(process.stderr);
  const closer = new Closer();
  try {
    const queue = await openCommand({ url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX });
    closer.add('Redis', () => disconnect(queue));
    // One to look through, one for a repair, one for its lock.
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 3,
      statementTimeoutMs: 0,
      onConnectionError: () => {},
    });
    closer.add('the database', () => database.close());
    // What another Weir has accepted would all be missing here.
    const { mark } = await identify(database, undefined);
    const foreign = foreignQueue(mark, (await readOwner(queue)) ?? mark);
    if (foreign !== undefined) throw foreign;
    const found = await reconcile({ database, queue, onPart: (name) => progress.part(name) }, options);
    progress.clear();
    console.log(options.json ? toJson(found) : describe(found, options));
    return found.isEqual ? 0 : 1;
  } finally {
    progress.clear();
    await closer.close();
  }
}

function explain(error: unknown): string | undefined {
  if (error instanceof OptionError) return `${error.message} (--help shows the options)`;
  return error instanceof RepairUnderWay ? error.message : explainFailure(error);
}
