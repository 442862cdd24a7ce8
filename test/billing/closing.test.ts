// What a closing sees stays what it is, whoever records at that moment.

import type { DueUsage } from '@weir/billing/due';
import { closeUntil } from '@weir/db/billing/usage/closing';
import type { DueUsageQuestion } from '@weir/db/billing/usage/due-question';
import { readDueUsage } from '@weir/db/billing/usage/due-usage';
import { isUnavailable, openDatabase, type Database } from '@weir/db/database';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { signUp, until } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { untilAvailable } from '../support/until-available.ts';
import { ownWeir } from '../support/use-weir.ts';

const DAY_MS = 86_400_000;
/** A closing that no earlier one can stand for. */
const ANEW = '9999-12-31T00:00:00Z';

const weir = ownWeir();
let database: Database;
beforeAll(async () => {
  database = openDatabase(weir.databaseUrl, {
    connectionsMax: 10,
    statementTimeoutMs: 0,
    onConnectionError: (error) => expect.unreachable(String(error)),
  });
});
afterAll(() => database.close());

const iso = (epochMs: number): string => new Date(epochMs).toISOString();

interface Drawn {
  organizationId: string;
  meterId: string;
  at: number;
  quantity?: number;
  key?: string;
  /** Whether its meter counts distinct values. */
  isUnique?: boolean;
}

function eventOf({ organizationId, meterId, at, quantity = 1, key, isUnique = false }: Drawn): RecordableEvent {
  return {
    event: {
      id: newId(),
      organization_id: organizationId,
      meter_id: meterId,
      customer_external_id: 'acme',
      quantity: String(quantity),
      timestamp: iso(at),
      ...(key !== undefined && { idempotency_key: key }),
      metadata: `{"user_id": ${quantity}}`,
    },
    countsUniqueValues: isUnique,
  };
}

async function lateEvents(organizationId: string): Promise<{ id: string; closing: number }[]> {
  const { rows } = await weir.pool.query<{ id: string; closing: number }>(
    'SELECT event_id AS id, closing::int FROM late_events WHERE organization_id = $1 ORDER BY closing, event_id',
    [organizationId],
  );
  return rows;
}

/** How many statements wait for a lock of a kind. */
async function waiting(kind: string): Promise<number> {
  const { rowCount } = await weir.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = $1`,
    [kind],
  );
  return rowCount ?? 0;
}

test('usage at each of 60 closings stays, by every aggregation, while four writers record late events', async () => {
  const organization = await signUp(weir);
  const end = Date.now() - DAY_MS;
  const dues: DueUsageQuestion[] = [];
  for (const aggregation of AGGREGATION_TYPES) {
    dues.push({
      organizationId: organization.id,
      meterId: (await organization.createMeter(aggregation)).id,
      customerExternalId: 'acme',
      aggregation,
      // Cut within hours.
      start: (end - 20 * DAY_MS) * 1000 - 1,
      end: end * 1000,
      closing: null,
    });
  }

  // Each batch has all meters, and times before the end and after it. Quantities grow, so that what is largest and last changes.
  let isOver = false;
  let recorded = 0;
  const write = async (writer: number): Promise<void> => {
    for (let batch = 0; !isOver; batch += 1) {
      const events = Array.from({ length: 14 }, (_, index) =>
        eventOf({
          organizationId: organization.id,
          meterId: dues[index % dues.length]?.meterId ?? '',
          at: end - Math.round(((index * 7919 + batch * 104_729) % 1000) * 0.022 * DAY_MS) + 2 * DAY_MS,
          quantity: batch + 1 + index / 100,
          isUnique: dues[index % dues.length]?.aggregation === 'UNIQUE_COUNT',
          ...(index % 2 === 0 && { key: `${writer} ${batch} ${index}` }),
        }),
      );
      // Every third batch comes twice at the same moment.
      const deliveries = batch % 3 === 0 ? [events, events] : [events];
      await Promise.all(deliveries.map((each) => recordEvents(database.pool, each)));
      recorded += events.length;
    }
  };
  const writers = Array.from({ length: 4 }, (_, writer) => write(writer));

  const seen: { closing: number; usage: DueUsage[] }[] = [];
  try {
    while (seen.length < 60) {
      const before = recorded;
      const closing = await untilAvailable(() =>
        closeUntil(database, organization.id, { until: iso(end), notBefore: ANEW }),
      );
      const usage = await readDueUsage(
        database.kysely,
        dues.map((due) => ({ ...due, closing })),
      );
      seen.push({ closing, usage });
      await until(() => recorded > before, 'something is recorded between two closings');
    }
  } finally {
    isOver = true;
    await Promise.all(writers);
  }

  expect(seen.map(({ closing }) => closing)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  const again = seen.flatMap(({ closing }) => dues.map((due) => ({ ...due, closing })));
  for (const from of ['rollups', 'events'] as const) {
    const usage = await readDueUsage(database.kysely, again, from);
    const changed = seen.filter(
      (then, index) =>
        JSON.stringify(then.usage) !== JSON.stringify(usage.slice(index * dues.length, (index + 1) * dues.length)),
    );
    expect(`${changed.length} of ${seen.length} closings changed, from ${from}`).toBe(
      `0 of ${seen.length} closings changed, from ${from}`,
    );
  }

  // It was worth looking: usage went on between them, and all of it is there in the end.
  const counts = seen.map(({ usage }) => usage[0]?.eventCount ?? 0);
  expect(counts.filter((count, index) => count > (counts[index - 1] ?? -1)).length).toBeGreaterThan(30);
  const [all] = await readDueUsage(database.kysely, dues.slice(0, 1));
  const { rows } = await weir.pool.query(
    'SELECT count(*)::int AS events FROM events WHERE meter_id = $1 AND "timestamp" < $2',
    [dues[0]?.meterId, iso(end)],
  );
  expect(all?.eventCount).toBe(rows[0]?.events);
  const late = await lateEvents(organization.id);
  expect(new Set(late.map(({ id }) => id)).size).toBe(late.length);
  await expectRollupsToEqualEvents(weir.pool);
}, 240_000);

/** A connection with an open transaction, which ends with the test at the latest. */
async function beginHolding(): Promise<pg.PoolClient> {
  const holder = await weir.pool.connect();
  onTestFinished(() => holder.release(true));
  await holder.query('BEGIN');
  return holder;
}

test('a closing waits for a statement that records, and what is recorded after it is late', async () => {
  const at = Date.now() - 5 * DAY_MS;
  const holder = await beginHolding();
  /** Undefined where the closing was given up: after seconds it waits for no statement any more. */
  const closeWhileRecording = async () => {
    const organization = await signUp(weir);
    const meter = await organization.createMeter('COUNT');
    const bystander = await otherSlot(organization.id);
    const of = (key?: string): RecordableEvent =>
      eventOf({ organizationId: organization.id, meterId: meter.id, at, ...(key !== undefined && { key }) });

    // Somebody who holds its key stops the first statement in the middle.
    await holder.query('INSERT INTO idempotency_keys VALUES (idempotency_key_hash($1, $2), $3)', [
      organization.id,
      'held',
      newId(),
    ]);
    const [first, second] = [of('held'), of()];
    const recordingFirst = recordEvents(database.pool, [first]);
    await until(async () => (await waiting('transactionid')) === 1, 'the first statement is under way');
    let isGivenUp = false;
    const closing = closeUntil(database, organization.id, { until: iso(Date.now()), notBefore: ANEW }).catch(
      (error: unknown) => {
        isGivenUp = isUnavailable(error);
        if (!isGivenUp) throw error;
      },
    );
    const isWaiting = async (count: number) => isGivenUp || (await waiting('advisory')) === count;
    await until(() => isWaiting(1), 'the closing waits for it');
    const recordingSecond = recordEvents(database.pool, [second]);
    await until(() => isWaiting(2), 'the next statement waits for the closing');
    // Nobody else does.
    const beside = await recordEvents(database.pool, [eventOf({ ...bystander, at })]);
    await holder.query('ROLLBACK AND CHAIN');

    const number = await closing;
    const due: DueUsageQuestion = {
      organizationId: organization.id,
      meterId: meter.id,
      customerExternalId: 'acme',
      aggregation: 'COUNT',
      start: at * 1000,
      end: at * 1000 + 1,
      closing: number ?? null,
    };
    const atOnce = await readDueUsage(database.kysely, [due]);
    await Promise.all([recordingFirst, recordingSecond]);
    const usage = { atOnce, afterwards: await readDueUsage(database.kysely, [due]) };
    const late = await lateEvents(organization.id);
    return number === undefined ? undefined : { number, beside, usage, second, late };
  };
  const seen = await bestOfThree(closeWhileRecording, (each) => each !== undefined);
  if (seen === undefined) throw new Error('three closings were given up');
  expect(seen.beside).toMatchObject({ recorded: 1 });
  const one = [{ quantity: '1', eventCount: 1 }];
  expect(seen.usage).toEqual({ atOnce: one, afterwards: one });
  expect(seen.late).toEqual([{ id: seen.second.event.id, closing: seen.number }]);
});

/** An organization whose closings have nothing to do with those of another, with a meter. */
async function otherSlot(organizationId: string): Promise<{ organizationId: string; meterId: string }> {
  for (;;) {
    const other = await signUp(weir);
    const { rows } = await weir.pool.query('SELECT closing_slot($1) <> closing_slot($2) AS differ', [
      organizationId,
      other.id,
    ]);
    if (rows[0]?.differ === true) return { organizationId: other.id, meterId: (await other.createMeter('COUNT')).id };
  }
}

test('a closing that a statement holds off is given up after some seconds, and nothing is closed', async () => {
  const organization = await signUp(weir);
  const meter = await organization.createMeter('COUNT');
  const holder = await beginHolding();
  await holder.query('SELECT FROM closings_of(ARRAY[$1]::uuid[])', [organization.id]);
  const closing = { until: iso(Date.now()), notBefore: iso(0) };
  const error: unknown = await closeUntil(database, organization.id, closing).catch((reason: unknown) => reason);
  expect(isUnavailable(error)).toBe(true);
  const event = eventOf({ organizationId: organization.id, meterId: meter.id, at: 0 });
  expect(await recordEvents(database.pool, [event])).toMatchObject({ recorded: 1 });
  await holder.query('ROLLBACK');
  expect(await lateEvents(organization.id)).toEqual([]);
  expect(await closeUntil(database, organization.id, closing)).toBe(1);
});

test('of many who close at once one does, and all get its number', async () => {
  const { id } = await signUp(weir);
  const first = { until: iso(Date.now()), notBefore: iso(Date.now() - DAY_MS) };
  const close = (closing: { until: string; notBefore: string }) =>
    Promise.all(Array.from({ length: 10 }, () => closeUntil(database, id, closing)));
  expect(await close(first)).toEqual(Array(10).fill(1));
  expect(await close(first)).toEqual(Array(10).fill(1));
  // An earlier end is closed already; a later one is not, nor is anything after its grace.
  expect(await closeUntil(database, id, { ...first, until: iso(0) })).toBe(1);
  const later = { ...first, until: iso(Date.now() + DAY_MS) };
  expect(await close(later)).toEqual(Array(10).fill(2));
  expect(await closeUntil(database, id, { until: iso(0), notBefore: ANEW })).toBe(3);
  const { rows } = await weir.pool.query('SELECT until FROM closings WHERE organization_id = $1', [id]);
  expect(rows).toEqual([{ until: new Date(later.until) }]);
});

test('an organization that closes nothing has no late events, whatever others close', async () => {
  const [calm, busy] = [await signUp(weir), await signUp(weir)];
  const meters = { calm: await calm.createMeter('SUM'), busy: await busy.createMeter('SUM') };
  const number = await closeUntil(database, busy.id, { until: iso(Date.now()), notBefore: ANEW });
  const at = Date.now() - DAY_MS;
  const late = eventOf({ organizationId: busy.id, meterId: meters.busy.id, at });
  const batch = [
    eventOf({ organizationId: calm.id, meterId: meters.calm.id, at }),
    late,
    eventOf({ organizationId: busy.id, meterId: meters.busy.id, at: Date.now() + DAY_MS }),
  ];
  expect(await recordEvents(database.pool, batch)).toMatchObject({ recorded: 3 });
  expect(await lateEvents(calm.id)).toEqual([]);
  expect(await lateEvents(busy.id)).toEqual([{ id: late.event.id, closing: number }]);
});

test('an event of the instant at which a period ends is not late for it, and one a microsecond before is', async () => {
  const organization = await signUp(weir);
  const meter = await organization.createMeter('SUM');
  const close = (): Promise<number> =>
    closeUntil(database, organization.id, { until: '2025-03-01T00:00:00.000001Z', notBefore: ANEW });
  await close();
  const at = (timestamp: string): RecordableEvent => {
    const { event, ...rest } = eventOf({ organizationId: organization.id, meterId: meter.id, at: 0 });
    return { event: { ...event, timestamp }, ...rest };
  };
  const [before, then] = [at('2025-03-01T00:00:00.000000Z'), at('2025-03-01T00:00:00.000001Z')];
  await recordEvents(database.pool, [before, then]);
  expect(await lateEvents(organization.id)).toEqual([{ id: before.event.id, closing: 1 }]);
});

test('what was recorded before a closing is not late when it is delivered again after it', async () => {
  const organization = await signUp(weir);
  const meter = await organization.createMeter('SUM');
  const at = Date.now() - DAY_MS;
  const of = (key?: string): RecordableEvent =>
    eventOf({ organizationId: organization.id, meterId: meter.id, at, ...(key !== undefined && { key }) });
  const [keyed, unkeyed, late] = [of('a'), of(), of('b')];
  await recordEvents(database.pool, [keyed, unkeyed]);
  const close = (): Promise<number> =>
    closeUntil(database, organization.id, { until: iso(Date.now()), notBefore: ANEW });
  await close();
  for (const batch of [[keyed, unkeyed, late], [late], [keyed, unkeyed, late]]) {
    await recordEvents(database.pool, batch);
    // Its key is taken by an event that was recorded before: a duplicate, which counts for nothing.
    await recordEvents(database.pool, [of('a')]);
    await close();
  }
  expect(await lateEvents(organization.id)).toEqual([{ id: late.event.id, closing: 1 }]);
});

test('an event that is tracked late, and one that is replayed late, are late once', async () => {
  const organization = await signUp(weir);
  const apiKey = await organization.createKey();
  const meter = await organization.createMeter('UNIQUE_COUNT');
  const body = {
    meter_token: meter.token,
    customer_external_id: 'acme',
    quantity: 1,
    timestamp: iso(Date.now() - DAY_MS),
  };
  const track = async (metadata: object): Promise<string> => {
    const answer = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: { ...body, metadata } });
    expect(answer.status).toBe(201);
    await weir.drained();
    return answer.body.id;
  };
  const close = (): Promise<number> =>
    closeUntil(database, organization.id, { until: iso(Date.now()), notBefore: ANEW });
  const replay = async (id: string): Promise<void> => {
    const { session } = organization;
    const metadata = { user_id: 2 };
    const answer = await weir.request('POST', `/api/v1/events/${id}/replay`, { session, body: { metadata } });
    expect([202, 409]).toContain(answer.status);
    await weir.drained();
  };

  const rejected = await track({});
  await close();
  const late = await track({ user_id: 1 });
  await close();
  await replay(rejected);
  await close();
  await replay(rejected);
  expect(await lateEvents(organization.id)).toEqual([
    { id: late, closing: 1 },
    { id: rejected, closing: 2 },
  ]);
});
