// The feed of what happened in billing: numbers without a gap, in the order of the commits, and a reader that misses nothing.

import { appendFeed } from '@weir/db/billing/feed';
import type { Database } from '@weir/db/database';
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;

beforeAll(async () => {
  database = openTestDatabase(weir, 16);
});
afterAll(() => database.close());

interface FeedAnswer {
  sequence: number;
  type: string;
  created_at: string;
  actor: string;
  data: Record<string, unknown>;
}

const read = (admin: Organization, query = ''): Promise<Answer> =>
  weir.request('GET', `/api/v1/billing-events${query}`, { session: admin.session });

const sequencesOf = ({ body }: Answer): number[] => (body.data as FeedAnswer[]).map(({ sequence }) => sequence);

const event = (data: Record<string, unknown>) => ({ type: 'invoice.created' as const, actor: 'weir', data });

/** Appends each as a transaction of its own. */
async function append({ id }: Organization, ...all: Record<string, unknown>[]): Promise<void> {
  for (const data of all) {
    await database.kysely.transaction().execute((transaction) => appendFeed(transaction, id, [event(data)]));
  }
}

class RolledBack extends Error {}

test('the feed of a new organization is empty, and next_after is what was asked with', async () => {
  const admin = await signUp(weir);
  expect((await read(admin)).body).toEqual({ data: [], meta: { next_after: 0, next_cursor: null } });
  expect((await read(admin, '?after=7')).body).toEqual({ data: [], meta: { next_after: 7, next_cursor: null } });
});

test('events have their type, actor, data and time, ascend from 1, and are read on from next_after', async () => {
  const admin = await signUp(weir);
  await append(admin, { n: 1 }, { n: 2, 'a "b"': ['é\\', null] }, { n: 3 });
  const first = await read(admin, '?limit=2');
  expect(first.body.data).toEqual([
    { sequence: 1, type: 'invoice.created', actor: 'weir', data: { n: 1 }, created_at: expect.stringMatching(/Z$/) },
    {
      sequence: 2,
      type: 'invoice.created',
      actor: 'weir',
      data: { n: 2, 'a "b"': ['é\\', null] },
      created_at: expect.any(String),
    },
  ]);
  expect(first.body.meta).toEqual({ next_after: 2, next_cursor: '2' });
  const rest = await read(admin, '?after=2&limit=2');
  expect([sequencesOf(rest), rest.body.meta.next_after]).toEqual([[3], 3]);
  expect((await read(admin, '?after=3')).body.data).toEqual([]);
});

test('100 events come by default, and at most 1,000', async () => {
  const admin = await signUp(weir);
  await database.kysely.transaction().execute((transaction) =>
    appendFeed(
      transaction,
      admin.id,
      Array.from({ length: 1_100 }, (_, n) => event({ n })),
    ),
  );
  expect(sequencesOf(await read(admin))).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  expect(sequencesOf(await read(admin, '?after=50&limit=1000'))).toEqual(
    Array.from({ length: 1_000 }, (_, index) => index + 51),
  );
});

test.each([
  ['after', '-1'],
  ['after', '1.5'],
  ['after', 'x'],
  ['after', ''],
  ['after', '9007199254740992'],
  ['limit', '0'],
  ['limit', '1001'],
  ['type', 'invoice.created'],
])('%s=%s is refused', async (name, value) => {
  const admin = await signUp(weir);
  const { status, body } = await read(admin, `?${name}=${value}`);
  expect([status, body.code, body.errors[0].path]).toEqual([422, 'invalid_request', name]);
});

test('the events of one transaction are appended in their order, also over several calls', async () => {
  const admin = await signUp(weir);
  await database.kysely.transaction().execute(async (transaction) => {
    await appendFeed(transaction, admin.id, [event({ n: 1 }), event({ n: 2 })]);
    await appendFeed(transaction, admin.id, []);
    await appendFeed(transaction, admin.id, [event({ n: 3 })]);
  });
  const { body } = await read(admin);
  expect(body.data.map(({ sequence, data }: FeedAnswer) => [sequence, data['n']])).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
});

test('a transaction that is rolled back takes its numbers back with it', async () => {
  const admin = await signUp(weir);
  await append(admin, { n: 1 });
  const rolledBack = database.kysely.transaction().execute(async (transaction) => {
    await appendFeed(transaction, admin.id, [event({ n: 'never' }), event({ n: 'never' })]);
    throw new RolledBack();
  });
  await expect(rolledBack).rejects.toThrow(RolledBack);
  await append(admin, { n: 2 });
  const { body } = await read(admin);
  expect(body.data.map(({ sequence, data }: FeedAnswer) => [sequence, data['n']])).toEqual([
    [1, 1],
    [2, 2],
  ]);
});

test('a later number is not given, and so cannot be read, before the one before is committed', async () => {
  const admin = await signUp(weir);
  let commit = (): void => {};
  const committing = new Promise<void>((resolve) => (commit = resolve));
  let isAppended = (): void => {};
  const appended = new Promise<void>((resolve) => (isAppended = resolve));
  const first = database.kysely.transaction().execute(async (transaction) => {
    await appendFeed(transaction, admin.id, [event({ n: 'first' })]);
    isAppended();
    await committing;
  });
  await appended;
  const second = append(admin, { n: 'second' });
  await until(async () => {
    const { rows } = await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
         AND query LIKE '%billing_feeds%'`,
    );
    return rows.length === 1;
  }, 'the second transaction waits for the first');
  expect(sequencesOf(await read(admin))).toEqual([]);
  commit();
  await Promise.all([first, second]);
  const { body } = await read(admin);
  expect(body.data.map(({ data }: FeedAnswer) => data['n'])).toEqual(['first', 'second']);
});

test('with many transactions at once, some rolled back, numbers have no gap and a reader misses nothing', async () => {
  const [admin, other] = [await signUp(weir), await signUp(weir)];
  const WRITERS = 12;
  const EACH = 40;
  const kept: string[] = [];
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < EACH; n += 1) {
      const fails = randomInt(3) === 0;
      const names = Array.from({ length: 1 + randomInt(3) }, (_, index) => `${writer} ${n} ${index}`);
      const { id } = randomInt(5) === 0 ? other : admin;
      await database.kysely
        .transaction()
        .execute(async (transaction) => {
          await appendFeed(
            transaction,
            id,
            names.map((name) => event({ name })),
          );
          // The lock is held for a while, so that others queue up behind it.
          if (randomInt(4) === 0) await database.pool.query('SELECT pg_sleep(0.002)');
          if (fails) throw new RolledBack();
        })
        .then(
          () => id === admin.id && kept.push(...names),
          (error: unknown) => {
            if (!(error instanceof RolledBack)) throw error;
          },
        );
    }
  };
  const seen: FeedAnswer[] = [];
  const poll = async (): Promise<void> => {
    for (let after = 0; ;) {
      const wasOver = isOver;
      const { body } = await read(admin, `?after=${after}&limit=7`);
      seen.push(...body.data);
      if (wasOver && body.data.length === 0) return;
      after = body.meta.next_after;
    }
  };
  const polling = poll();
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  isOver = true;
  await polling;
  expect(kept.length).toBeGreaterThan(100);
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => index + 1));
  expect(seen.map(({ data }) => String(data['name'])).toSorted()).toEqual(kept.toSorted());
  const times = seen.map(({ created_at }) => created_at.slice(0, -1).padEnd(26, '0'));
  expect(times).toEqual(times.toSorted());
});
