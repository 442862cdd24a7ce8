// What workers delete goes as fast as it comes, and holds up nothing else that they do.

import { admit } from '@weir/queue/admit';
import { disconnect, openWorker } from '@weir/queue/connection';
import { DELETING_QUEUE, openMaintenance } from '@weir/queue/maintenance-jobs';
import { stagedText } from '@weir/queue/staged';
import { receivedAt, type StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { expect, inject, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { weirOfEachTest } from '../support/use-weir.ts';

const weir = weirOfEachTest({ withWorker: false });

/** An admin whose key has asked for so many tokens, all of which have ended. */
async function endedTokens(count: number) {
  const admin = await signUp(weir);
  await admin.createKey('usage.write');
  await weir.pool.query(
    `INSERT INTO widget_tokens (token_hash, organization_id, api_key_id, customer_external_id, expires_at)
     SELECT sha256(int4send(n)), organization_id, id, 'ada', now() - interval '1 minute'
     FROM api_keys, generate_series(1, $1::int) AS n`,
    [count],
  );
  return admin;
}

test('a worker goes on deleting while there is more than it deletes at a time', async () => {
  await endedTokens(120_000);
  await weir.startWorker();
  const left = async () => (await weir.pool.query('SELECT FROM widget_tokens LIMIT 1')).rowCount;
  await until(async () => (await left()) === 0, 'all are gone', 50);
  expect(await left()).toBe(0);
});

test('while deleting has to wait, the one worker does all else', async () => {
  const admin = await endedTokens(1);
  const meter = await admin.createMeter('SUM');
  const holder = await weir.pool.connect();
  await holder.query('BEGIN; LOCK TABLE widget_tokens IN SHARE MODE');
  const waiting = async () => {
    const { rows } = await weir.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%DELETE FROM widget_tokens%'
         AND datname = current_database()`,
    );
    return rows;
  };
  await weir.startWorker({ DATABASE_STATEMENT_TIMEOUT_MS: '60000' });
  await until(async () => (await waiting()).length > 0, 'deleting waits');
  const before = await waiting();
  // Nothing but the sweep of maintenance finds a batch without a job.
  const id = newId();
  const event: StagedEvent = {
    id,
    organization_id: admin.id,
    meter_id: meter.id,
    aggregation: 'SUM',
    customer_external_id: 'ada',
    quantity: '1',
    timestamp: receivedAt(id),
  };
  await admit(weir.queue, newId(), [{ id, event: stagedText(event), sender: null, claim: null }], 60);
  await weir.swept();
  expect(await waiting()).toEqual(before);
  await holder.query('ROLLBACK');
  holder.release();
});

test('a task is overdue until it is done, and one that cannot be scheduled is not in the way of others', async () => {
  const queue = openWorker({ url: inject('redisUrl'), prefix: weir.keys.prefix }, () => {});
  // Where the schedule of the first two belongs there is something else.
  for (const task of ['first', 'second'])
    await weir.redis.set(`${weir.keys.prefix}:${DELETING_QUEUE}:repeat:${task}`, 'x');
  await weir.redis.hset(weir.keys.maintenanceDone, 'late', Date.now() - 13 * 3_600_000);
  /** A worker for whose next look nobody has to wait: it looks as it starts. */
  const open = (late: () => Promise<void>) => {
    const overdue = new Map<string, number>();
    const unscheduled: string[][] = [];
    const write = (line: string) => {
      const { msg, tasks } = JSON.parse(line) as { msg: string; tasks: string[] };
      if (msg === 'maintenance could not be scheduled') unscheduled.push(tasks);
    };
    const task = { everyMs: 200, perform: () => Promise.resolve() };
    const worker = openMaintenance(queue, {
      name: DELETING_QUEUE,
      tasks: { first: task, second: task, late: { everyMs: 200, perform: late } },
      begin: () => Promise.resolve(),
      showOverdue: (task, seconds) => overdue.set(task, seconds),
      log: createLog('test', 'warn', [], { write }),
    });
    return { overdue, unscheduled, worker };
  };
  let failed = 0;
  const failing = open(() => Promise.reject(new Error(`for a test, ${(failed += 1)} times`)));
  await until(() => failed > 1, 'it has failed twice');
  await until(() => failing.unscheduled.length > 0, 'it is told which are not scheduled');
  expect(failing.unscheduled).toEqual([['first', 'second']]);
  expect(failing.overdue.get('first')).toBe(0);
  expect(failing.overdue.get('late')).toBeGreaterThan(12 * 3_600);
  await failing.worker.close();
  let done = 0;
  const well = open(async () => void (done += 1));
  await until(() => done > 1, 'it is done, and noted');
  expect(well.overdue.get('late')).toBeGreaterThan(12 * 3_600);
  await well.worker.close();
  const { overdue, worker } = open(() => Promise.resolve());
  await until(() => overdue.has('late'), 'it is looked at anew');
  expect(overdue.get('late')).toBe(0);
  await worker.close();
  disconnect(queue);
});

test.each([
  ['its share of the interval is over', 200, () => {}],
  ['the worker takes no more', 600_000, (worker: { take(isOn: boolean): void }) => worker.take(false)],
])('a task that would go on is told when %s', async (_, everyMs, end) => {
  const queue = openWorker({ url: inject('redisUrl'), prefix: weir.keys.prefix }, () => {});
  let isBegun = false;
  let isTold = false;
  const worker = openMaintenance(queue, {
    name: DELETING_QUEUE,
    tasks: {
      long: {
        everyMs,
        async perform(isOver) {
          isBegun = true;
          await until(isOver, 'it is over');
          isTold = true;
        },
      },
    },
    begin: () => Promise.resolve(),
    log: createLog('test', 'silent'),
  });
  await until(() => isBegun, 'it has begun');
  end(worker);
  await until(() => isTold, 'it is told');
  expect(isTold).toBe(true);
  await worker.close();
  disconnect(queue);
});
