// Corrections beside others that record, close, and correct: each is made once, and nobody's usage is lost.

import { correctEvents } from '@weir/db/corrections/correct-events';
import { closeUntil } from '@weir/db/billing/usage/closing';
import { isUnavailable, type Database } from '@weir/db/database';
import { learnForRecording } from '@weir/db/known-for-recording';
import { recordEvents, recordOnce } from '@weir/db/record';
import { PARTS } from '@weir/db/rollups';
import { newId } from '@weir/shared/ids';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { seenByClosing } from '../support/closing-meanwhile.ts';
import { correct } from '../support/correcting.ts';
import { signUp } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;

beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

async function usageOf(meterId: string, apiKey: string): Promise<[usage: string | null, events: number]> {
  const window = 'start_date=2025-01-01&end_date=2099-01-01&group_by=month';
  const { body } = await weir.request('GET', `/api/v1/meters/${meterId}/usage?${window}`, { apiKey });
  return [body.total_usage, body.event_count];
}

/** An event that is recorded, of a quarter of its own. */
async function recordOne(organizationId: string, meterId: string, customer: string) {
  const event = {
    id: newId(),
    organization_id: organizationId,
    meter_id: meterId,
    customer_external_id: customer,
    quantity: '1',
    timestamp: '2025-01-10T10:00:00.000000Z',
  };
  await recordEvents(database.pool, [{ event, countsUniqueValues: false }]);
  return event;
}

/** Two connections, whose processes write to different parts of a quarter. */
async function connectionsToTwoParts(): Promise<[pg.Client, pg.Client]> {
  const connect = async (): Promise<[client: pg.Client, part: number]> => {
    const client = new pg.Client({ connectionString: weir.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ part: number }>(`SELECT pg_backend_pid() % ${PARTS} AS part`);
    return [client, rows[0]?.part ?? -1];
  };
  const [one, part] = await connect();
  for (;;) {
    const [other, another] = await connect();
    if (another !== part) return [one, other];
    await other.end();
  }
}

test('of two corrections of one event at the same time one is made, while it is recorded into and closed', async () => {
  const busy = await signUp(weir);
  const { id: meterId } = await busy.createMeter('SUM');
  const users = (await busy.createMeter('UNIQUE_COUNT')).id;
  const at = (index: number) => new Date(Date.UTC(2025, 5, 1, 0, 0, index % 600)).toISOString();
  const drawn = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const isUnique = index % 2 === 0;
      const event = {
        id: newId(),
        organization_id: busy.id,
        meter_id: isUnique ? users : meterId,
        customer_external_id: `busy ${index % 3}`,
        quantity: String(index + 1),
        timestamp: at(index),
        metadata: `{"user_id": ${index % 7}}`,
      };
      return { event, countsUniqueValues: isUnique };
    });
  const before = drawn(300);
  await recordEvents(database.pool, before);
  let outcomes = { made: 0, refused: 0 };
  const correctAll = async (order: number): Promise<void> => {
    for (let from = 0; from < before.length; from += 10) {
      const at = order === 0 ? from : before.length - 10 - from;
      const part = before.slice(at, at + 10).map(({ event }, index) => {
        const amendment = index % 2 === 0 ? { quantity: '0.5' } : undefined;
        return { eventId: event.id, reason: 'a race', amendment };
      });
      await correct(database, busy.id, part).then(
        () => (outcomes = { ...outcomes, made: outcomes.made + 1 }),
        () => (outcomes = { ...outcomes, refused: outcomes.refused + 1 }),
      );
    }
  };
  const record = async (): Promise<void> => {
    for (let batch = 0; batch < 30; batch += 1) await recordEvents(weir.pool, drawn(20));
  };
  const close = async (): Promise<void> => {
    for (let hour = 1; hour < 10; hour += 1) {
      const until = new Date(Date.UTC(2025, 5, 1, 0, hour)).toISOString();
      await closeUntil(database, busy.id, { until, notBefore: '9999-01-01T00:00:00Z' });
    }
  };
  await Promise.all([correctAll(0), correctAll(1), record(), record(), close()]);
  expect(outcomes).toEqual({ made: 30, refused: 30 });
  await expectRollupsToEqualEvents(weir.pool);
  const { rows } = await weir.pool.query(
    `SELECT count(*)::int AS corrections, count(DISTINCT event_id)::int AS events, count(DISTINCT amended_by)::int AS amended
     FROM corrections WHERE reason = 'a race'`,
  );
  expect(rows).toEqual([{ corrections: 300, events: 300, amended: 150 }]);
}, 60_000);

/** Makes a correction while a part of its quarter is begun, and grows as it is read. Returns what became of it. */
async function whilePartGrows<Made>(work: (organizationId: string, eventId: string) => Promise<Made>) {
  const own = await signUp(weir);
  const { id: meter } = await own.createMeter('MIN');
  const eventOf = (customer: string, quantity: string) => {
    const timestamp = '2025-08-01T12:00:00Z';
    const ids = { id: newId(), organization_id: own.id, meter_id: meter };
    return { event: { ...ids, customer_external_id: customer, quantity, timestamp }, countsUniqueValues: false };
  };
  const known = await learnForRecording(database.pool);
  const [one, other] = await connectionsToTwoParts();
  const blocker = await weir.pool.connect();
  try {
    const wrong = eventOf('acme', '5');
    await recordOnce(known, one, [wrong, eventOf('acme', '7')]);
    await blocker.query('BEGIN');
    await blocker.query(
      `INSERT INTO corrections (organization_id, event_id, id, reason, closing, actor) VALUES ($1, $2, gen_random_uuid(), 'held', 0, 'x')`,
      [own.id, wrong.event.id],
    );
    const made = work(own.id, wrong.event.id).then(
      () => undefined,
      (error: unknown) => error,
    );
    // It holds the rows that there are.
    await untilWaiting(weir);
    await recordOnce(known, other, [eventOf('globex', '3')]);
    await other.query('BEGIN');
    await recordOnce(known, other, [eventOf('globex', '2')]);
    await blocker.query('ROLLBACK');
    // It has read the part as it was before.
    await untilWaiting(weir);
    await other.query('COMMIT');
    const failure = await made;
    return { failure, usage: await usageOf(meter, await own.createKey()) };
  } finally {
    blocker.release(true);
    await Promise.all([one.end(), other.end()]);
  }
}

test('a part of a quarter that is begun while a correction is made loses nothing', async () => {
  const { failure, usage } = await whilePartGrows((organizationId, eventId) =>
    correct(database, organizationId, [{ eventId, reason: 'a test' }]),
  );
  expect([failure, usage]).toEqual([undefined, ['2', 3]]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('a correction that is overtaken for as long as it may be tried is one for later', async () => {
  const { failure, usage } = await whilePartGrows((organizationId, eventId) =>
    database.kysely
      .transaction()
      .execute((transaction) =>
        correctEvents(database, transaction, organizationId, 'user:test', [{ eventId, reason: 'a test' }]),
      ),
  );
  expect([isUnavailable(failure), usage]).toEqual([true, ['2', 4]]);
  expect(String(failure)).toContain('recorded or moved again and again');
  await expectRollupsToEqualEvents(weir.pool);
});

test('a closing waits for a correction that is under way: what is void then is not billed as used', async () => {
  const own = await signUp(weir);
  const { id: meterId } = await own.createMeter('SUM');
  const event = {
    id: newId(),
    organization_id: own.id,
    meter_id: meterId,
    customer_external_id: 'acme',
    quantity: '5',
    timestamp: '2025-01-05T12:00:00.000000Z',
  };
  await recordEvents(weir.pool, [{ event, countsUniqueValues: false }]);
  const apiKey = await own.createKey();
  const seen = await seenByClosing(weir, database, own.id, {
    change: 'INSERT ON corrections',
    work: () => correct(database, own.id, [{ eventId: event.id, reason: 'a test' }]),
    look: () => usageOf(meterId, apiKey),
  });
  expect(seen[1]).toBe(0);
});

test('a user that goes while the same one is recorded is there in the end', async () => {
  // What is recorded by itself was accepted by no API.
  const own = await signUp(weir);
  const { id: meter } = await own.createMeter('UNIQUE_COUNT');
  const eventOfUser = (user: string) => {
    const event = {
      id: newId(),
      organization_id: own.id,
      meter_id: meter,
      customer_external_id: 'acme',
      quantity: '1',
      timestamp: '2025-07-01T12:00:00Z',
      metadata: `{"user_id": "${user}"}`,
    };
    return { event, countsUniqueValues: true };
  };
  const [gone, again] = [eventOfUser('ada'), eventOfUser('ada')];
  await recordEvents(weir.pool, [gone, eventOfUser('bo')]);
  let recorded: Promise<unknown> | undefined;
  await database.kysely.transaction().execute(async (transaction) => {
    const asked = [{ eventId: gone.event.id, reason: 'a test' }];
    await correctEvents(database, transaction, own.id, 'user:test', asked);
    recorded = recordEvents(weir.pool, [again]);
    // It has looked which users are there, and waits.
    await untilWaiting(weir);
  });
  await recorded;
  expect(await usageOf(meter, await own.createKey())).toEqual(['2', 2]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('a correction that waited for rows for longer than it may hold others off is made', async () => {
  const own = await signUp(weir);
  const meter = await own.createMeter('SUM');
  const event = await recordOne(own.id, meter.id, 'acme');
  const now = performance.now.bind(performance);
  let passed = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
  const holder = await database.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM meter_usage_quarters WHERE meter_id = $1 FOR UPDATE', [meter.id]);
    const made = correct(database, own.id, [{ eventId: event.id, reason: 'a test' }]);
    await untilWaiting(weir);
    passed = 2_500;
    await holder.query('COMMIT');
    expect(await made).toHaveLength(1);
  } finally {
    holder.release();
    clock.mockRestore();
  }
  await expectRollupsToEqualEvents(weir.pool);
});

test('an event that goes to another customer while it is corrected is not amended under its former name', async () => {
  const own = await signUp(weir);
  const meter = await own.createMeter('SUM');
  const event = await recordOne(own.id, meter.id, 'former');
  const holder = await database.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT pg_advisory_xact_lock(20002, closing_slot($1))', [own.id]);
    for (const table of ['events', 'customer_usage_hours', 'customer_usage_days'])
      await holder.query(`UPDATE ${table} SET customer_external_id = 'new' WHERE organization_id = $1`, [own.id]);
    const asked = [{ eventId: event.id, reason: 'a test', amendment: { quantity: '2' } }];
    const corrected = database.kysely
      .transaction()
      .execute((transaction) => correctEvents(database, transaction, own.id, 'user:test', asked))
      .catch(String);
    // It has found the event as it was.
    await untilWaiting(weir);
    await holder.query('COMMIT');
    expect(await corrected).toContain('recorded or moved again and again');
  } finally {
    holder.release();
  }
});
