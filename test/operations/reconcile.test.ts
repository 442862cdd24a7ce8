// accepted = recorded + rejected + duplicate + queued: `npm run reconcile` proves it, and tells apart what broke it.

import { DRAIN_LOCK } from '@weir/db/advisory-locks';
import { ROLLUPS } from '@weir/db/rollups';
import type { Database } from '@weir/db/database';
import type { ChainableCommander } from 'ioredis';
import { disconnect, openCommand } from '@weir/queue/connection';
import { explainFailure } from '@weir/reconcile/connect';
import { balanceEvents } from '@weir/reconcile/events';
import { newId } from '@weir/shared/ids';
import { drainAcceptedCounts } from '@weir/worker/drain-accepted-counts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWeir, until } from '../support/harness.ts';
import { expectBalance, makeTenant, reconcileHere, runReconcile, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { ownWeir } from '../support/use-weir.ts';

const ones = (count: number) => Array.from({ length: count }, () => ({}));

describe('the events', () => {
  const weir = ownWeir({ withWorker: false });
  let database: Database;
  beforeAll(async () => {
    database = openTestDatabase(weir);
  });
  afterAll(() => database.close());

  const withWorker = async (use: () => Promise<unknown>): Promise<void> => {
    const worker = await weir.startWorker();
    await use();
    await weir.drained();
    await worker.close();
  };
  /** What the people of an organization are told of the last reconciliation. */
  const lastWord = async ({ session }: Tenant) =>
    (await weir.request('GET', '/api/v1/system', { session })).body.reconcile;
  const replay = async (tenant: Tenant, id: string, body?: unknown) => {
    const answer = await weir.request('POST', `/api/v1/events/${id}/replay`, { session: tenant.session, body });
    expect(answer.status).toBe(202);
  };

  test('are equal after traffic of every kind, each counted once wherever it is', async () => {
    const tenant = await makeTenant(weir);
    const other = await makeTenant(weir);
    let rejected: string[] = [];
    await withWorker(async () => {
      await tenant.track(...ones(50), { idempotency_key: 'held' }, { idempotency_key: 'lost' });
      // Refused at the door, and so not accepted: a retry, a payload that is another, a meter that is none.
      const refused = await tenant.track(
        { idempotency_key: 'held' },
        { idempotency_key: 'held', quantity: 2 },
        { meter_token: 'none' },
      );
      expect(refused.map(({ status }) => status)).toEqual([409, 422, 404]);
      // The door has forgotten the key, Postgres has not.
      await weir.redis.unlink(await weir.claim(tenant.id, 'lost'));
      await tenant.track({ idempotency_key: 'lost' });
      const users = { meter_token: tenant.users.token };
      await tenant.track({ ...users, metadata: { user_id: 'u1' } });
      rejected = (await tenant.track(users, users, users, users)).map(({ id }) => id);
      await other.track(...ones(7));
    });
    await expectBalance(weir, database, tenant.id, {
      accepted: 58,
      recorded: 53,
      duplicate: 1,
      rejected: 4,
      queued: 0,
    });

    const [corrected = '', again = '', queued = ''] = rejected;
    await withWorker(async () => {
      await replay(tenant, corrected, { metadata: { user_id: 'u2' } });
      await replay(tenant, again);
    });
    await replay(tenant, queued, { metadata: { user_id: 'u3' } });
    await replay(tenant, queued, { metadata: { user_id: 'u3' } });
    await tenant.track(...ones(20));
    await expectBalance(weir, database, tenant.id, {
      accepted: 78,
      recorded: 54,
      duplicate: 1,
      rejected: 3,
      queued: 20,
    });
    await expectBalance(weir, database, other.id, { accepted: 7, recorded: 7, duplicate: 0, rejected: 0, queued: 0 });

    // The same when the counts have moved to Postgres, and when the queue has.
    await drainAcceptedCounts(weir.queue, database);
    expect(await weir.redis.exists(weir.keys.accepted, weir.keys.draining)).toBe(0);
    await expectBalance(weir, database, tenant.id, {
      accepted: 78,
      recorded: 54,
      duplicate: 1,
      rejected: 3,
      queued: 20,
    });
    await withWorker(async () => {});
    await expectBalance(weir, database, tenant.id, {
      accepted: 78,
      recorded: 75,
      duplicate: 1,
      rejected: 2,
      queued: 0,
    });

    const { code, out } = await runReconcile(weir);
    expect(out).toContain('85 = 82 + 2 + 1 + 0  (2 organizations, equal)');
    expect(out).toMatch(/All is equal\.\n$/);
    expect(code).toBe(0);
    for (const each of [tenant, other]) expect(await lastWord(each)).toMatchObject({ is_equal: true, problems: 0 });
  });

  test('an event that is in Postgres and still staged, because its worker died in between, is counted once', async () => {
    const tenant = await makeTenant(weir);
    await tenant.track(...ones(5));
    const batches = await weir.redis.zrange(weir.keys.staged, '0', '-1');
    const copies = await Promise.all(
      batches.map(async (batch) => ({ batch, flushes: await weir.redis.lrange(weir.keys.batch(batch), 0, -1) })),
    );
    await withWorker(async () => {});
    for (const { batch, flushes } of copies) {
      await weir.redis.rpush(weir.keys.batch(batch), ...flushes);
      await weir.redis.zadd(weir.keys.staged, Date.now(), batch);
    }
    // Nor was there time to take a replayed one off the rejected ones.
    await weir.pool.query(
      `INSERT INTO rejected_events SELECT organization_id, id, meter_id, 'acme', 'replayed', '{}' FROM events
       WHERE organization_id = $1 LIMIT 1`,
      [tenant.id],
    );
    await expectBalance(weir, database, tenant.id, { accepted: 5, recorded: 5, duplicate: 0, rejected: 0, queued: 0 });
    await weir.pool.query('DELETE FROM rejected_events WHERE organization_id = $1', [tenant.id]);
    await withWorker(async () => {});
  });

  test('events that are recorded while the queue is read are found in Postgres instead', async () => {
    const tenant = await makeTenant(weir);
    await tenant.track(...ones(5));
    // The batches are listed, and taken off by a worker before they are read.
    const late = (pipeline: ChainableCommander) =>
      new Proxy(pipeline, {
        get: (real, name) =>
          name === 'exec'
            ? () => withWorker(async () => {}).then(() => real.exec())
            : Reflect.get(real, name).bind(real),
      });
    const redis = new Proxy(weir.redis, {
      get: (real, name) => (name === 'pipeline' ? () => late(real.pipeline()) : Reflect.get(real, name).bind(real)),
    });
    const expected = { accepted: 5, recorded: 5, duplicate: 0, rejected: 0, queued: 0 };
    await expectBalance({ ...weir, queue: { redis, keys: weir.keys } }, database, tenant.id, expected);
  });

  test('an event that is deleted from Postgres is found missing, and nothing is repaired over it', async () => {
    const tenant = await makeTenant(weir);
    await withWorker(() => tenant.track(...ones(3)));
    const { rows: deleted } = await weir.pool.query(
      `DELETE FROM events WHERE id = (SELECT id FROM events WHERE organization_id = $1 ORDER BY id LIMIT 1)
       RETURNING to_char(month_of_receipt(id), 'YYYY-MM-DD') AS month`,
      [tenant.id],
    );
    const found = await runReconcile(weir, '--organization', tenant.id);
    expect(found.out).toContain(`organization ${tenant.id}, ${new Date().toISOString().slice(0, 7)}: 1 event MISSING`);
    expect(found.code).toBe(1);
    const word = await lastWord(tenant);
    expect(word.is_equal).toBe(false);
    expect(word.problems).toBeGreaterThan(0);
    await runReconcile(weir, '--organization', tenant.id, '--month', '2020-01');
    expect(await lastWord(tenant)).toEqual(word);

    const repaired = await runReconcile(weir, '--organization', tenant.id, '--repair');
    expect(repaired.out).toContain('1 event MISSING');
    expect(repaired.out).toContain('Left alone: events are missing.');
    expect(repaired.code).toBe(1);
    const counted = async () => {
      const { rows } = await weir.pool.query(
        `SELECT (SELECT sum(event_count)::int FROM ${ROLLUPS.customerUsageHours.table} WHERE organization_id = $1) AS counted,
                (SELECT count(*)::int FROM accepted_corrections WHERE organization_id = $1) AS corrections`,
        [tenant.id],
      );
      return rows;
    };
    expect(await counted()).toEqual([{ counted: 3, corrections: 0 }]);

    // Nor once it was written off: what is counted and billed of it stays, though the last one of its hour is there.
    await weir.pool.query(
      `INSERT INTO accepted_corrections (organization_id, month, events, reason) VALUES ($1, $2, -1, 'lost with a disk')`,
      [tenant.id, deleted[0].month],
    );
    const again = await runReconcile(weir, '--organization', tenant.id, '--repair');
    expect(again.out).not.toContain('MISSING');
    expect(again.out).toContain('Left alone: it may be all that is left of events that are gone.');
    expect(again.code).toBe(1);
    expect(await counted()).toEqual([{ counted: 3, corrections: 1 }]);
  });

  test('a staged batch that is lost is found missing', async () => {
    const tenant = await makeTenant(weir);
    await tenant.track(...ones(4));
    for (const batch of await weir.redis.zrange(weir.keys.staged, '0', '-1')) {
      await weir.redis.multi().unlink(weir.keys.batch(batch)).zrem(weir.keys.staged, batch).exec();
    }
    const { code, out } = await runReconcile(weir, '--organization', tenant.id, '--json');
    expect(JSON.parse(out)).toMatchObject({ equal: false, events: [{ accepted: 4, queued: 0, difference: 4 }] });
    expect(code).toBe(1);
  });

  test('counts that Redis lost are told apart from lost events, and --repair writes them down once', async () => {
    const tenant = await makeTenant(weir);
    // No worker runs yet that could have drained them.
    await tenant.track(...ones(6));
    await weir.redis.unlink(weir.keys.accepted, weir.keys.draining);
    await withWorker(async () => {});
    const found = await runReconcile(weir, '--organization', tenant.id);
    expect(found.out).toContain('6 events more than the door has counted. None is missing');
    expect(found.code).toBe(1);

    const repaired = await runReconcile(weir, '--organization', tenant.id, '--repair');
    expect(repaired.out).toContain('Repaired: all is equal now.');
    expect(repaired.code).toBe(0);
    await expectBalance(weir, database, tenant.id, { accepted: 6, recorded: 6, duplicate: 0, rejected: 0, queued: 0 });
    expect((await reconcileHere(weir, database, { organizationId: tenant.id, repair: true })).isEqual).toBe(true);
    const { rows } = await weir.pool.query(
      'SELECT events::int, reason FROM accepted_corrections WHERE organization_id = $1',
      [tenant.id],
    );
    expect(rows).toEqual([{ events: 6, reason: expect.stringContaining('found by reconcile --repair') }]);
  });

  test('months are compared by receipt, each by itself, and archived ones are left out when that is said', async () => {
    const tenant = await makeTenant(weir);
    await withWorker(() => tenant.track({ timestamp: '2020-02-03T04:05:06Z' }, ...ones(2)));
    await weir.pool.query(`INSERT INTO accepted_events VALUES ($1, '2021-05-01', 10)`, [tenant.id]);
    const json = async (...args: string[]) => {
      const { out } = await runReconcile(weir, '--organization', tenant.id, '--json', ...args);
      const { equal, events } = JSON.parse(out) as { equal: boolean; events: { month: string; difference: number }[] };
      return { equal, events: events.map(({ month, difference }) => `${month} ${difference}`) };
    };
    const now = new Date().toISOString().slice(0, 7);
    expect(await json()).toEqual({ equal: false, events: ['2021-05 10', `${now} 0`] });
    expect(await json('--month', now)).toEqual({ equal: true, events: [`${now} 0`] });
    expect(await json('--archived-through', '2021-05')).toEqual({ equal: true, events: [`${now} 0`] });
  });

  test('a look that waits for another says so, and goes on when that has ended', async () => {
    const other = await weir.pool.connect();
    try {
      await other.query('SELECT pg_advisory_lock($1)', [DRAIN_LOCK]);
      const parts: string[] = [];
      const filter = { organizationId: newId(), month: undefined, archivedThrough: undefined };
      const look = balanceEvents({ database, queue: weir.queue }, filter, (name) => parts.push(name));
      await until(() => parts.some((part) => part.includes('it waits for another')), 'it says that it waits');
      await other.query('SELECT pg_advisory_unlock($1)', [DRAIN_LOCK]);
      expect(await look).toEqual([]);
      expect(parts).toContain('rejected_events');
    } finally {
      other.release(true);
    }
  });

  test.each([
    ['20 times while a try is quick', 10, 20],
    ['once where that takes long', 2_000, 1],
  ])('under traffic what is queued is copied %s', async (_title, tryMs, copies) => {
    const tenant = await makeTenant(weir);
    let [clock, copied] = [0, 0];
    let isCopy = false;
    const kysely = database.kysely.withPlugin({
      transformQuery({ node }) {
        isCopy = node.kind === 'RawNode' && node.sqlFragments[0]?.startsWith('TRUNCATE queued') === true;
        return node;
      },
      async transformResult({ result }) {
        if (isCopy) {
          copied += 1;
          clock += tryMs;
          await tenant.track(...ones(1));
        }
        return result;
      },
    });
    const filter = { organizationId: tenant.id, month: undefined, archivedThrough: undefined };
    const deps = { database: { ...database, kysely }, queue: weir.queue, now: () => clock };
    const [balance] = await balanceEvents(deps, filter, () => {});
    expect(copied).toBe(copies);
    expect(balance).toMatchObject({ accepted: copies - 1, acceptedAtMost: copies, difference: 0 });
  });

  test('a Redis that falls silent while it is asked is away, and not waited for without an end', async () => {
    const { REDIS_URL = '', QUEUE_PREFIX = '' } = weir.env;
    const queue = await openCommand({ url: REDIS_URL, prefix: QUEUE_PREFIX }, 2_000);
    try {
      const failure = queue.redis.blpop(queue.keys.batch('nothing'), 0).catch((error: unknown) => error);
      expect(explainFailure(await failure)).toMatch(/^Redis cannot be reached \(/);
    } finally {
      disconnect(queue);
    }
  });

  test('an organization of which there is nothing is not said to be equal, and one without usage is', async () => {
    const { id } = await makeTenant(weir);
    expect(await runReconcile(weir, '--organization', id)).toMatchObject({ code: 0 });
    const nobody = newId();
    const { code, out, err } = await runReconcile(weir, '--organization', nobody);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`reconcile: there is no organization ${nobody} in this database, and nothing of one\n`);
  });
});

test('under traffic, with workers that record and drain all the time, nothing is found that is not so', async () => {
  const weir = await startWeir();
  const database = openTestDatabase(weir);
  try {
    await weir.startWorker();
    const tenants = [await makeTenant(weir), await makeTenant(weir)];
    let isOver = false;
    let [accepted, goal] = [0, 400];
    const send = async (tenant: Tenant): Promise<void> => {
      while (!isOver) {
        // Some come in while a round looks, and no more: each round waits until what came is recorded.
        await until(() => isOver || accepted < goal, 'the next round begins');
        const users = { meter_token: tenant.users.token };
        const sent = await tenant.track(...ones(10), users, { ...users, metadata: { user_id: accepted } });
        accepted += sent.filter(({ status }) => status === 201).length;
      }
    };
    const drainOn = async (): Promise<void> => {
      while (!isOver) await drainAcceptedCounts(weir.queue, database);
    };
    const traffic = [...tenants, ...tenants].map(send);
    const draining = drainOn();
    await until(() => accepted > 100, 'events come in');
    for (let round = 0; round < 4; round += 1) {
      goal = accepted + 400;
      const found = await reconcileHere(weir, database);
      expect(found.events.map(({ difference }) => difference)).toEqual([0, 0]);
      expect(found.isEqual).toBe(true);
    }
    isOver = true;
    await Promise.all([...traffic, draining]);
    await weir.drained();
    const { events } = await reconcileHere(weir, database);
    expect(events.reduce((sum, row) => sum + row.accepted, 0)).toBe(accepted);
    expect(events.every((row) => row.accepted === row.acceptedAtMost && row.difference === 0)).toBe(true);
  } finally {
    await database.close();
    await weir.close();
  }
});

test('whoever no longer reads what it says does not change what it finds', async () => {
  const weir = await startWeir();
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const { DATABASE_URL = '', REDIS_URL = '', QUEUE_PREFIX = '' } = weir.env;
    const child = spawn(process.execPath, ['apps/reconcile/dist/main.js'], {
      env: { DATABASE_URL, REDIS_URL, QUEUE_PREFIX },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close');
    child.stderr.destroy();
    let out = '';
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    // From then on it says where it is.
    const waited = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND clock_timestamp() - query_start > interval '5 s'`;
    await until(async () => (await weir.pool.query(waited)).rowCount === 1, 'it has waited for long');
    await holder.query('COMMIT');
    expect([await closed, out]).toEqual([[0, null], expect.stringContaining('All is equal.')]);
  } finally {
    holder.release(true);
    await weir.close();
  }
});

test('what cannot be found out ends with status 2 and one line that says what to do', async () => {
  const homes = await mkdtemp(join(tmpdir(), 'weir-reconcile-'));
  const main = 'apps/reconcile/dist/main.js';
  const closed = { DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir', REDIS_URL: 'redis://127.0.0.1:1' };
  const services = { database_url: closed.DATABASE_URL, redis_url: closed.REDIS_URL };
  const half = { redis_url: closed.REDIS_URL, given: { DATABASE_URL: '127.0.0.1:2/weir' } };
  const DATABASE_URL = 'postgres://weir:secret@127.0.0.1:2/weir?sslmode=disable';
  interface Start {
    env?: Record<string, string>;
    args?: string[];
    /** What npm start brought up. */
    file?: object;
    program?: string;
  }
  const line = async ({ env = {}, args = [], file, program = main }: Start) => {
    const home = await mkdtemp(join(homes, 'home-'));
    if (file !== undefined) await writeFile(join(home, 'services.json'), JSON.stringify(file));
    const { code, out, err } = await runToEnd(program, { WEIR_HOME: home, ...env }, args);
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 });
    return err;
  };
  const ofMonth = "'--month <month>' argument '2026-13' is invalid. A month is written as 2026-11.";
  const noServices = /DATABASE_URL is not set.*REDIS_URL is not set/;
  const noRedisUrl = /REDIS_URL is not set/;
  const away = /Redis cannot be reached \(.*ECONNREFUSED.*127\.0\.0\.1:1\)/;
  const cases: [Start, says: string | RegExp][] = [
    [{ args: ['--month', '2026-13'] }, ofMonth],
    [{ args: ['--repair', '--month', '2026-11'] }, 'leave out --month'],
    [{}, noServices],
    [{ env: closed }, away],
    [{ file: services }, away],
    // Of another database it is not the queue.
    [{ file: services, env: { DATABASE_URL } }, noRedisUrl],
    [{ file: services, env: { DATABASE_URL }, program: 'apps/reconcile/dist/take-over-main.js' }, noRedisUrl],
    [{ file: half, env: { DATABASE_URL } }, away],
    [{ file: half, env: closed }, away],
    [{ file: half, env: { DATABASE_URL: closed.DATABASE_URL } }, noRedisUrl],
  ];
  try {
    // Those to which a closed port does not answer try it for two seconds.
    const lines = await Promise.all(cases.map(([start]) => line(start)));
    lines.forEach((said, index) => expect(said).toMatch(cases[index]?.[1] ?? ''));
  } finally {
    await rm(homes, { recursive: true });
  }
});
