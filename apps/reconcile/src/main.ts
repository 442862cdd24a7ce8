// The command: the only file that reads the environment and the arguments.
// Exit status: 0 all is equal (after --repair: is now), 1 something differs, 2 it could not be found out.

import { RepairUnderWay } from '@weir/db/accepted';
import { openDatabase, type Database } from '@weir/db/database';
import { identify, requireSchema } from '@weir/db/installation';
import { findExistingOrganizations } from '@weir/db/organizations';
import { saveReconciliation } from '@weir/db/reconciliations';
import { disconnect, openCommand, type QueueConnection } from '@weir/queue/connection';
import { foreignQueue, readOwner, unmarkedQueue } from '@weir/queue/ownership';
import { Closer } from '@weir/shared/closer';
import { outliveReaders, ProgressLine } from '@weir/shared/progress-line';
import { exitOnSignal } from '@weir/shared/stop-signals';
import { explainFailure, loadCommandSettings, newCommand } from './connect.ts';
import { parseReconcileOptions, type ReconcileOptions } from './reconcile-options.ts';
import { describe, toJson } from './reconcile-report.ts';
import { reconcile, type Reconciliation } from './reconcile.ts';
import { verdictOf } from './verdict.ts';

class NoSuchOrganization extends Error {}

exitOnSignal();
outliveReaders();
// What nobody catches would end Node with 1, which says that something differs.
process.once('uncaughtException', (error) => {
  console.error(error);
  process.exit(2);
});
const options = parseReconcileOptions(process.argv.slice(2), newCommand());
try {
  process.exitCode = await run(options);
} catch (error) {
  process.exitCode = 2;
  const line = explain(error);
  console.error(line === undefined ? error : `reconcile: ${line}`);
}

async function run(options: ReconcileOptions): Promise<number> {
  const settings = loadCommandSettings(process.env);
  const progress = new ProgressLine(process.stderr);
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
    await requireSchema(database);
    await requireItsQueue(database, queue);
    const onPart = (name: string) => progress.show(() => `Looking at ${name} …`);
    const found = await reconcile({ database, queue, onPart }, options);
    await requireOrganization(database, options, found);
    progress.clear();
    // Told first: what took hours to find is not lost with a Postgres that goes away now.
    console.log(options.json ? toJson(found) : describe(found, options));
    // Of a month alone there is nothing to say of all of them.
    if (options.month === undefined) await saveReconciliation(database, options.organizationId, verdictOf(found));
    return found.isEqual ? 0 : 1;
  } finally {
    progress.clear();
    await closer.close();
  }
}

/** Events of an organization that is gone are compared as others are; of an id that nothing is of, nothing would be said to be equal. */
async function requireOrganization(
  database: Database,
  { organizationId }: ReconcileOptions,
  { events, rollups, billing }: Reconciliation,
): Promise<void> {
  if (organizationId === undefined || events.length > 0 || rollups.compared > 0 || billing !== undefined) return;
  if ((await findExistingOrganizations(database.kysely, [organizationId])).size > 0) return;
  throw new NoSuchOrganization(`there is no organization ${organizationId} in this database, and nothing of one`);
}

/** What another Weir has accepted would all be missing here; and what waits in the queue of the processes, if this is not that one. */
async function requireItsQueue(database: Database, queue: QueueConnection): Promise<void> {
  const { mark, hasCounted } = await identify(database, undefined);
  const owner = await readOwner(queue);
  const unmarked = owner === undefined && hasCounted ? unmarkedQueue(queue) : undefined;
  const wrong = unmarked ?? foreignQueue(mark, owner ?? mark);
  if (wrong !== undefined) throw wrong;
}

function explain(error: unknown): string | undefined {
  const isTold = error instanceof RepairUnderWay || error instanceof NoSuchOrganization;
  return isTold ? error.message : explainFailure(error);
}
