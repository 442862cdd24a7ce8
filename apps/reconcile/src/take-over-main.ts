// The command `npm run take-over`: a step of a restore, of a move and of an upgrade of Postgres. After it the queue belongs to
// the database of DATABASE_URL, and claims that were made before count for nothing. What waits in the queue stays.
// Exit status: 0 done, 2 it could not be done: the queue belongs to whom it did, and the command can be run again.

import { raiseTotals } from '@weir/db/accepted';
import { openDatabase } from '@weir/db/database';
import { identify, requireSchema } from '@weir/db/installation';
import { forgetDrainedCounts, readDrainedCounts } from '@weir/queue/accepted-counts';
import { countBatches } from '@weir/queue/batches';
import { disconnect, openCommand } from '@weir/queue/connection';
import { isSameWeir, readOwner, takeOver } from '@weir/queue/ownership';
import { Closer } from '@weir/shared/closer';
import { exitOnSignal } from '@weir/shared/stop-signals';
import { explainFailure, loadCommandSettings, newCommand } from './connect.ts';

exitOnSignal();
newCommand()
  .name('npm run take-over')
  .description('Gives the queue in Redis to the database, which takes the place of the one that it belonged to.')
  .addHelpText(
    'after',
    '\nStop all of Weir before. Settings: DATABASE_URL, REDIS_URL and QUEUE_PREFIX, as the processes have them; without them, ' +
      'what npm start brought up.',
  )
  .parse();
try {
  await run();
} catch (error) {
  process.exitCode = 2;
  const line = explainFailure(error);
  console.error(line === undefined ? error : `take-over: ${line}`);
}

async function run(): Promise<void> {
  const settings = loadCommandSettings(process.env);
  const closer = new Closer();
  try {
    const queue = await openCommand({ url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX });
    closer.add('Redis', () => disconnect(queue));
    const database = openDatabase(settings.DATABASE_URL, {
      connectionsMax: 1,
      statementTimeoutMs: 30_000,
      onConnectionError: () => {},
    });
    closer.add('the database', () => database.close());
    await requireSchema(database);
    const facts = await identify(database, undefined);
    const former = await readOwner(queue);
    const isAnotherWeir = former !== undefined && !isSameWeir(former, facts.mark);
    // What may be done again comes first, while the queue says whose it was. What another Weir has counted would be missing here.
    if (isAnotherWeir) await forgetDrainedCounts(queue);
    // Before anything is counted on top of what it has. Where a reconciliation is at work, a worker does it.
    else await raiseTotals(database, () => readDrainedCounts(queue));
    await takeOver(queue, facts);
    const batches = await countBatches(queue);
    console.log(
      [
        `The queue ${settings.QUEUE_PREFIX} belongs to this database now; before, it belonged to ${describe(former, facts.mark)}.`,
        `${batches === 1 ? '1 batch waits' : `${batches} batches wait`} in it and will be recorded. Idempotency keys are judged by this database alone.`,
        'Start Weir, and run npm run reconcile: it says what is missing as far as Redis knows.',
      ].join('\n'),
    );
  } finally {
    await closer.close();
  }
}

function describe(former: string | undefined, mark: string): string {
  if (former === undefined)
    return 'none. Where Weir still says that its queue is of another database, give this command the REDIS_URL and QUEUE_PREFIX of Weir';
  if (former === mark) return 'it already';
  return isSameWeir(former, mark) ? 'another copy of it' : 'the database of another Weir';
}
