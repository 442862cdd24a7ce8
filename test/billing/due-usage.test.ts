// What a due is billed for, held against a count of the events one by one: recorded in any order, some of them late for closings, and
// some of them void, or with another in their place.

import type { DueUsage } from '@weir/billing/due';
import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { closeUntil } from '@weir/db/billing/usage/closing';
import { readDueBuckets } from '@weir/db/billing/usage/due-buckets';
import { listDueEvents } from '@weir/db/billing/usage/due-events';
import type { DueUsageQuestion } from '@weir/db/billing/usage/due-question';
import { readDueUsage } from '@weir/db/billing/usage/due-usage';
import { add, divide, formatExact, parseExact, whole, ZERO } from '@weir/rating/exact';
import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow } from '@weir/shared/window';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correct } from '../support/correcting.ts';
import { signUp } from '../support/harness.ts';
import { aroundNothing, draftsOf, MOMENTS, ZONES } from '../support/moments.ts';
import { GROUPINGS, isoOf, periodsOf, usageOf, type ModelEvent } from '../support/usage-model.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

// A failure prints the seed: write it here to see the same events and questions again.
const seed = Date.now() | 0;
const EVENTS = 3000;
const READS = 150;

const CUSTOMERS = ['acme', 'Émile & "fils", {1}'];
/** How often the organization closes while its events come in, each time up to a later moment. */
const CLOSINGS = 8;

interface ClosedEvent extends ModelEvent {
  /** The closing that it is late for, and for all before it. */
  lateFor: number | undefined;
  /** The last closing at which it counts, since a correction came after it; -1: it counts at none. */
  lastFor?: number | undefined;
  /** The event in whose place it counts. */
  amends?: string;
}

/** Few enough that several events of a day have the largest quantity. */
const quantity = fc.constantFrom('1', '2', '2.5', '3', '0.000000000001', '9007199254740991', '123456789.123456789012');

const drafts = draftsOf(CUSTOMERS, quantity);

const weir = ownWeir({ withWorker: false });
let database: Database;
let organizationId: string;
const meterIds = new Map<AggregationType, string>();
const events: ClosedEvent[] = [];

beforeAll(async () => {
  database = openDatabase(weir.databaseUrl, {
    connectionsMax: 4,
    statementTimeoutMs: 0,
    onConnectionError: (error) => expect.unreachable(String(error)),
  });
  const admin = await signUp(weir);
  organizationId = admin.id;
  for (const aggregation of AGGREGATION_TYPES) meterIds.set(aggregation, (await admin.createMeter(aggregation)).id);
  await recordAndClose();
});
afterAll(() => database.close());

/** Records the events in batches of any size, several at a time, closes in between, and delivers batches again after that. */
async function recordAndClose(): Promise<void> {
  const drawn = fc.sample(drafts, { numRuns: EVENTS, seed });
  const parts = Array.from({ length: CLOSINGS + 1 }, (_, part) =>
    drawn.filter((_each, index) => index % (CLOSINGS + 1) === part),
  );
  const before: RecordableEvent[][] = [];
  let closed: { number: number; until: bigint } | undefined;
  for (const [part, drafted] of parts.entries()) {
    const recordable = drafted.map(({ aggregation, customer, quantity, at, user }): RecordableEvent => {
      const [id, meterId] = [newId(), meterIds.get(aggregation) ?? ''];
      const isLate = closed !== undefined && at < closed.until;
      events.push({
        id,
        meterId,
        customer,
        quantity,
        at,
        user: user.name,
        lateFor: isLate ? closed?.number : undefined,
      });
      return {
        event: {
          id,
          organization_id: organizationId,
          meter_id: meterId,
          customer_external_id: customer,
          quantity,
          timestamp: isoOf(at),
          idempotency_key: `key of ${id}`,
          metadata: `{"user_id": ${user.json}}`,
        },
        countsUniqueValues: aggregation === 'UNIQUE_COUNT',
      };
    });
    const batches = Array.from({ length: 7 }, (_, batch) => recordable.filter((_each, index) => index % 7 === batch));
    const deliveries = [...batches, ...before.filter((_, index) => index % 5 === part % 5)];
    while (deliveries.length > 0) {
      await Promise.all(deliveries.splice(0, 4).map((batch) => recordEvents(database.pool, batch)));
    }
    await Promise.all([0, 1].map((half) => correctSome(part * 2 + half, closed)));
    before.push(...batches);
    if (part === CLOSINGS) break;
    const until = (MOMENTS[Math.floor(((part + 1) * (MOMENTS.length - 1)) / CLOSINGS)] ?? 0n) + 1n;
    const number = await closeUntil(database, organizationId, { until: isoOf(until), notBefore: isoOf(until) });
    expect(number).toBe(part + 1);
    closed = { number, until };
  }
}

/** Takes some events out of the count, and records others in the place of half of them. */
async function correctSome(turn: number, closed: { number: number; until: bigint } | undefined): Promise<void> {
  const chosen = events.filter(({ lastFor }, index) => lastFor === undefined && index % 17 === turn % 17);
  const moved = fc.sample(drafts, { numRuns: chosen.length, seed: seed + turn });
  const asked = chosen.map((event, index) => {
    const { at, quantity } = moved[index] ?? event;
    const amendment = index % 2 === 0 ? { quantity, ...(index % 4 === 0 && { timestamp: isoOf(at) }) } : undefined;
    return { eventId: event.id, reason: 'a test', amendment };
  });
  const corrections = await correct(database, organizationId, asked);
  for (const [index, event] of chosen.entries()) {
    event.lastFor = closed !== undefined && event.at < closed.until ? closed.number : -1;
    const { amendment } = asked[index] ?? {};
    const id = corrections[index]?.amended_by ?? undefined;
    if (amendment === undefined || id === undefined) continue;
    const at = amendment.timestamp === undefined ? event.at : (moved[index]?.at ?? event.at);
    const lateFor = closed !== undefined && at < closed.until ? closed.number : undefined;
    events.push({ ...event, id, at, quantity: amendment.quantity, lateFor, lastFor: undefined, amends: event.id });
  }
}

interface Asked {
  aggregation: AggregationType;
  customer: string;
  start: bigint;
  end: bigint;
  closing: number | null;
}

const point = fc.tuple(fc.constantFrom(...MOMENTS), aroundNothing).map(([moment, distance]) => moment + distance);

const asked: fc.Arbitrary<Asked> = fc
  .record({
    aggregation: fc.constantFrom(...AGGREGATION_TYPES),
    customer: fc.constantFrom(...CUSTOMERS),
    points: fc.oneof(
      fc.tuple(point, point),
      fc
        .tuple(fc.constantFrom(...MOMENTS), aroundNothing, aroundNothing)
        .map(([at, a, b]) => [at + a, at + b] as const),
    ),
    closing: fc.option(fc.integer({ min: 0, max: CLOSINGS + 1 })),
  })
  .map(({ points: [a, b], ...rest }) => ({ ...rest, start: a < b ? a : b, end: a < b ? b : a }));

function questionOf({ aggregation, customer, start, end, closing }: Asked): DueUsageQuestion {
  return {
    organizationId,
    meterId: meterIds.get(aggregation) ?? '',
    customerExternalId: customer,
    aggregation,
    start: Number(start),
    end: Number(end),
    closing,
  };
}

/** The events that count, by looking at each. */
function counted({ aggregation, customer, start, end, closing }: Asked, of = events): ClosedEvent[] {
  return of.filter(
    (event) =>
      event.meterId === meterIds.get(aggregation) &&
      event.customer === customer &&
      event.at >= start &&
      event.at < end &&
      !(closing !== null && event.lateFor !== undefined && event.lateFor >= closing) &&
      (event.lastFor === undefined || (closing !== null && event.lastFor >= closing)),
  );
}

function expected(question: Asked): DueUsage {
  const own = counted(question);
  const counts = { quantity: usageOf(question.aggregation, own) ?? '0', eventCount: own.length };
  if (question.aggregation !== 'AVG' || own.length === 0) return counts;
  const sum = own.reduce((all, { quantity }) => add(all, parseExact(quantity)), ZERO);
  return { ...counts, exact: formatExact(divide(sum, whole(BigInt(own.length)))) };
}

test('some events are late for closings with an end after their time, and some are void for later ones', async () => {
  const late = events.filter(({ lateFor }) => lateFor !== undefined);
  expect(late.length).toBeGreaterThan(EVENTS / 5);
  expect(late.length).toBeLessThan(EVENTS);
  expect(events.filter(({ lastFor }) => lastFor !== undefined && lastFor > 0).length).toBeGreaterThan(EVENTS / 20);
  await expectRollupsToEqualEvents(weir.pool);
});

test('an event is written down as late once, however often it is delivered', async () => {
  const { rows } = await weir.pool.query(
    'SELECT event_id AS id, closing::int FROM late_events WHERE organization_id = $1 AND voids IS NULL ORDER BY event_id',
    [organizationId],
  );
  const late = events.flatMap(({ id, lateFor }) => (lateFor === undefined ? [] : [{ id, closing: lateFor }]));
  expect(rows).toEqual(late.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
});

test('the usage of dues equals a count of their events one by one, from rollups and from events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { maxLength: 25 }), async (questions) => {
      const model = questions.map(expected);
      expect(await readDueUsage(database.kysely, questions.map(questionOf))).toEqual(model);
      expect(await readDueUsage(database.kysely, questions.map(questionOf), 'events')).toEqual(model);
    }),
    { seed, numRuns: READS },
  );
}, 120_000);

test('the buckets of a due are the usage of each calendar period in it, and of COUNT and SUM they add up', async () => {
  const calendars = fc.record({ timezone: fc.constantFrom(...ZONES), grouping: fc.constantFrom(...GROUPINGS) });
  await fc.assert(
    fc.asyncProperty(asked, calendars, async (drawn, { timezone, grouping }) => {
      fc.pre(drawn.start < drawn.end);
      // By the hour no longer than two months.
      const longest = grouping === 'hour' ? drawn.start + 60n * 86_400_000_000n : drawn.end;
      const question = { ...drawn, end: drawn.end < longest ? drawn.end : longest };
      const { start, end, aggregation } = question;
      const query = { start_date: isoOf(start), end_date: isoOf(end), timezone, group_by: grouping };
      const window = toEnd(planningWindow(query, Date.now()));
      if ('problem' in window) throw new Error(window.problem.message);
      const usage = await readDueBuckets(database.kysely, questionOf(question), window);
      const periods = periodsOf(start, end, timezone, grouping);
      const inAll = counted(question);
      expect(usage.total).toEqual({ usage: usageOf(aggregation, inAll), event_count: inAll.length });
      expect(usage.uniqueCustomers).toBe(inAll.length === 0 ? 0 : 1);
      expect(window.periods).toHaveLength(periods.length);
      expect(periods.map((_, index) => usage.ofBucket(index))).toEqual(
        periods.map((period) => {
          const own = inAll.filter(({ at }) => at >= period.start && at < period.end);
          return { usage: usageOf(aggregation, own), event_count: own.length };
        }),
      );
    }),
    { seed, numRuns: READS },
  );
}, 120_000);

test('pages of events of a due: those that it counts, each once, by their time, with what they amend', async () => {
  await fc.assert(
    fc.asyncProperty(asked, fc.integer({ min: 1, max: 40 }), async (question, limit) => {
      const listed: { id: string; amends: string | null }[] = [];
      for (;;) {
        const page = await listDueEvents(database.kysely, questionOf(question), { cursor: listed.at(-1)?.id, limit });
        expect(page.length).toBeLessThanOrEqual(limit);
        listed.push(...page.map(({ event, amends }) => ({ id: event.id, amends })));
        if (page.length < limit) break;
      }
      expect(listed).toEqual(
        counted(question)
          .toSorted(byTimeThenId)
          .map(({ id, amends = null }) => ({ id, amends })),
      );
    }),
    { seed, numRuns: READS },
  );
}, 120_000);

test('the changes between two closings are what came late or was voided from the first to the second', async () => {
  const spans = fc.tuple(fc.nat({ max: CLOSINGS }), fc.option(fc.nat({ max: CLOSINGS + 1 })));
  await fc.assert(
    fc.asyncProperty(asked, spans, fc.integer({ min: 1, max: 20 }), async (drawn, [from, before], limit) => {
      const question = { ...drawn, closing: before };
      const listed: string[] = [];
      const told = new Map<string, string | null>();
      for (;;) {
        const page = { cursor: listed.at(-1), limit };
        const found = await listDueEvents(database.kysely, questionOf(question), page, { from, before });
        listed.push(...found.map(({ event }) => event.id));
        for (const { event, change } of found) told.set(event.id, change);
        if (found.length < limit) break;
      }
      const isIn = (closing: number | undefined): boolean =>
        closing !== undefined && closing >= from && (before === null || closing < before);
      const isVoid = (event: ClosedEvent): boolean => event.lastFor !== undefined && event.lastFor >= 0;
      const changes = events
        .filter((event) => counted({ ...question, closing: null }, [{ ...event, lastFor: undefined }]).length > 0)
        .filter((event) => isIn(event.lateFor) !== (isVoid(event) && isIn(event.lastFor)));
      expect(listed).toEqual(changes.toSorted(byTimeThenId).map(idOf));
      for (const { id, lateFor } of changes) expect(told.get(id)).toBe(isIn(lateFor) ? 'added' : 'removed');
    }),
    { seed, numRuns: READS },
  );
}, 120_000);

test('an event of a due is listed as it was sent', async () => {
  const first = events.find(({ lastFor, amends }) => lastFor === undefined && amends === undefined);
  if (first === undefined) throw new Error('there are events');
  const aggregation = AGGREGATION_TYPES.find((each) => meterIds.get(each) === first.meterId) ?? 'COUNT';
  const question = { aggregation, customer: first.customer, start: first.at, end: first.at + 1n, closing: null };
  const listed = await listDueEvents(database.kysely, questionOf(question), { limit: 1000 });
  expect(listed.find(({ event }) => event.id === first.id)?.event).toEqual({
    id: first.id,
    organization_id: organizationId,
    meter_id: first.meterId,
    customer_external_id: first.customer,
    quantity: first.quantity,
    timestamp: expect.any(String),
    idempotency_key: `key of ${first.id}`,
    metadata: expect.stringContaining('user_id'),
  });
});

test('no question reads the usage of another organization, meter or customer', async () => {
  const other = await signUp(weir);
  const [start, end] = [0, Number(MOMENTS.at(-1)) * 2];
  const sum = {
    ...questionOf({ aggregation: 'SUM', customer: 'acme', start: 0n, end: 1n, closing: null }),
    start,
    end,
  };
  const foreign = [
    { ...sum, organizationId: other.id },
    { ...sum, meterId: newId() },
    { ...sum, customerExternalId: 'Acme' },
  ];
  for (const from of ['rollups', 'events'] as const) {
    const read = await readDueUsage(database.kysely, [...foreign, sum], from);
    expect(read.slice(0, 3)).toEqual(foreign.map(() => ({ quantity: '0', eventCount: 0 })));
    expect(read[3]?.eventCount).toBeGreaterThan(0);
  }
  for (const question of foreign) expect(await listDueEvents(database.kysely, question, { limit: 10 })).toEqual([]);
  expect(await readDueUsage(database.kysely, [])).toEqual([]);
});

function byTimeThenId(a: ModelEvent, b: ModelEvent): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

function idOf({ id }: ModelEvent): string {
  return id;
}
