import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { correct } from '../support/correcting.ts';
import { signUp, type Answer } from '../support/harness.ts';
import { aroundNothing, draftsOf, MOMENTS, ZONES } from '../support/moments.ts';
import {
  dateOf,
  GROUPINGS,
  groupBy,
  instantOf,
  isoOf,
  periodOf,
  periodsOf,
  rankingOf,
  usageOf,
  type Grouping,
  type ModelEvent,
} from '../support/usage-model.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

// A failure prints the seed: write it here to see the same events and reads again.
const seed = Date.now() | 0;
const EVENTS = 1500;
const READS = 150;

const CUSTOMERS = ['acme', 'Globex', 'initech', 'Émile & fils'];
const WITH_RECORD = 'acme';

const quantity = fc
  .tuple(
    fc.oneof(fc.nat({ max: 3 }).map(BigInt), fc.bigInt({ min: 0n, max: 9007199254740990n })),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\d{0,11}[1-9]$/)),
  )
  .map(([whole, fraction]) => (fraction === '' ? `${whole + 1n}` : `${whole}.${fraction}`));

const drafts = draftsOf(CUSTOMERS, quantity);

const weir = ownWeir({ withWorker: false });
let session: string;
let customerId: string;
const meterIds = new Map<AggregationType, string>();
const events: ModelEvent[] = [];

beforeAll(async () => {
  const admin = await signUp(weir);
  session = admin.session;
  for (const aggregation of AGGREGATION_TYPES) meterIds.set(aggregation, (await admin.createMeter(aggregation)).id);
  const customer = await weir.request('POST', '/api/v1/customers', { session, body: { external_id: WITH_RECORD } });
  customerId = customer.body.id;
  await record(admin.id);
});

/** Records the events as on a bad day: in any order, in batches of any size, several at a time, and some of them twice. */
async function record(organizationId: string): Promise<void> {
  const recordable: RecordableEvent[] = fc.sample(drafts, { numRuns: EVENTS, seed }).map((drawn) => {
    const { aggregation, customer, quantity, at } = drawn;
    const meterId = meterIds.get(aggregation) ?? '';
    const id = newId();
    events.push({ id, meterId, customer, quantity, at, user: drawn.user.name });
    return {
      event: {
        id,
        organization_id: organizationId,
        meter_id: meterId,
        customer_external_id: customer,
        quantity,
        timestamp: isoOf(at),
        metadata: `{"user_id": ${drawn.user.json}}`,
      },
      countsUniqueValues: aggregation === 'UNIQUE_COUNT',
    };
  });
  const order = fc.shuffledSubarray(recordable, { minLength: EVENTS });
  const [shuffled = []] = fc.sample(order, { numRuns: 1, seed });
  const sizes = fc.sample(fc.integer({ min: 1, max: 60 }), { numRuns: EVENTS, seed });
  const batches: RecordableEvent[][] = [];
  for (let from = 0; from < EVENTS; from += batches.at(-1)?.length ?? EVENTS) {
    batches.push(shuffled.slice(from, from + (sizes[batches.length] ?? 1)));
  }
  const deliveries = batches.flatMap((batch, index) => (index % 3 === 0 ? [batch, batch] : [batch]));
  while (deliveries.length > 0) {
    await Promise.all(deliveries.splice(0, 4).map((batch) => recordEvents(weir.pool, batch)));
  }
  await correctSome(organizationId, batches);
}

/** Takes a third of the events out of the count, and gives half of these others in their place, while all are delivered once more. */
async function correctSome(organizationId: string, batches: RecordableEvent[][]): Promise<void> {
  const database = openTestDatabase(weir);
  const others = fc.sample(drafts, { numRuns: EVENTS, seed: seed + 1 });
  const isCorrected = (index: number): boolean => index % 3 === 0;
  const correctPart = async (part: number): Promise<ModelEvent[]> => {
    const chosen = [...events.entries()].filter(([index]) => isCorrected(index) && index % 4 === part);
    const asked = chosen.map(([index, event]) => {
      const { at, quantity, user } = others[index] ?? { ...event, user: { json: '1', name: '1' } };
      const amendment = { quantity, timestamp: isoOf(at), metadata: `{"user_id": ${user.json}}` };
      const made = { ...event, at, quantity, user: user.name };
      return { made, eventId: event.id, reason: 'a test', amendment: index % 2 === 0 ? amendment : undefined };
    });
    const corrections = await correct(database, organizationId, asked);
    return asked.flatMap(({ made }, index) => {
      const id = corrections[index]?.amended_by;
      return id == null ? [] : [{ ...made, id }];
    });
  };
  const [parts] = await Promise.all([
    Promise.all([0, 1, 2, 3].map(correctPart)),
    (async () => {
      for (const batch of batches) await recordEvents(database.pool, batch);
    })(),
  ]);
  const left = events.filter((_, index) => !isCorrected(index));
  events.splice(0, Infinity, ...left, ...parts.flat());
  await database.close();
  await expectRollupsToEqualEvents(weir.pool);
}

const point = fc.record({
  moment: fc.constantFrom(...MOMENTS),
  distance: aroundNothing,
  isDate: fc.nat({ max: 3 }).map((n) => n === 0),
});

interface Read {
  aggregation: AggregationType;
  timezone: string;
  grouping: Grouping;
  customer: string | undefined;
  start_date: string;
  end_date: string;
}

/** Windows begin and end near the moments: by the hour both near the same one, else also years apart. */
const reads: fc.Arbitrary<Read> = fc
  .record({
    aggregation: fc.constantFrom(...AGGREGATION_TYPES),
    timezone: fc.constantFrom(...ZONES),
    grouping: fc.constantFrom(...GROUPINGS),
    customer: fc.option(fc.constantFrom(...CUSTOMERS), { nil: undefined }),
    points: fc.tuple(point, point),
    isShort: fc.boolean(),
  })
  .map(({ points: [first, second], isShort, ...read }) => {
    const from = first.moment + first.distance;
    const to = (isShort || read.grouping === 'hour' ? first.moment : second.moment) + second.distance;
    const [start, end] = from < to ? [from, to] : [to, from];
    const textOf = (at: bigint, isDate: boolean) => (isDate ? dateOf(at, read.timezone) : isoOf(at));
    return { ...read, start_date: textOf(start, first.isDate), end_date: textOf(end, second.isDate) };
  });

function ask(path: string, query: Record<string, string | undefined>): Promise<Answer> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return weir.request('GET', `/api/v1/${path}?${new URLSearchParams(given).toString()}`, { session });
}

/** What Weir answers to a read, and what it should. */
async function compare({ aggregation, timezone, grouping, customer, start_date, end_date }: Read): Promise<void> {
  const start = instantOf(start_date, timezone, false);
  const end = instantOf(end_date, timezone, true);
  const meterId = meterIds.get(aggregation) ?? '';
  const window = { start_date, end_date, timezone };
  const query = { ...window, group_by: grouping, customer_external_id: customer };
  fc.pre(start < end);
  const ends = { period_start: isoOf(start), period_end: isoOf(end) };
  const inWindow = events.filter(({ at }) => at >= start && at < end);
  const ofMeter = inWindow.filter((event) => event.meterId === meterId);
  const counted = ofMeter.filter((event) => customer === undefined || event.customer === customer);
  const byPeriod = groupBy(counted, ({ at }) => periodOf(at, timezone, grouping).start);

  const usage = await ask(`meters/${meterId}/usage`, query);
  expect(usage.body).toEqual({
    meter_id: meterId,
    aggregation_type: aggregation,
    unit: null,
    total_usage: usageOf(aggregation, counted),
    event_count: counted.length,
    unique_customers: new Set(counted.map((event) => event.customer)).size,
    ...ends,
    grouped_data: periodsOf(start, end, timezone, grouping).map((period) => {
      const own = byPeriod.get(period.start) ?? [];
      return {
        period: period.period,
        period_start: isoOf(period.start),
        usage: usageOf(aggregation, own),
        event_count: own.length,
      };
    }),
  });

  const customers = await ask(`meters/${meterId}/customers`, window);
  expect(customers.body).toEqual({
    meter_id: meterId,
    ...ends,
    data: rankingOf(aggregation, ofMeter).map((ranked) => ({
      customer_id: ranked.customer === WITH_RECORD ? customerId : null,
      customer_external_id: ranked.customer,
      name: null,
      total_usage: usageOf(aggregation, ranked.events),
      event_count: ranked.events.length,
    })),
    meta: expect.objectContaining({ page: 1 }),
  });

  const ofCustomer = await ask(`customers/${customerId}/usage`, window);
  expect(ofCustomer.body).toMatchObject(ends);
  expect(ofCustomer.body.data).toHaveLength(AGGREGATION_TYPES.length);
  for (const meter of ofCustomer.body.data) {
    const own = inWindow.filter((event) => event.meterId === meter.meter_id && event.customer === WITH_RECORD);
    expect(meter.total_usage).toBe(usageOf(meter.aggregation_type, own));
    expect(meter.event_count).toBe(own.length);
  }
}

test('what is read equals a count of the events one by one, in any window, zone and grouping', async () => {
  await fc.assert(fc.asyncProperty(reads, compare), { seed, numRuns: READS });
}, 120_000);
