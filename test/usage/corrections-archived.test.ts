// What is left of an hour cannot be told where a month was taken out that has events of it: nothing is corrected then. Where none was,
// nothing is refused for that, whatever is under way beside the correction.

import { previewCorrections } from '@weir/db/corrections/preview-corrections';
import { whileInTheWay } from '@weir/db/corrections/correct-events';
import { isUnavailable, type Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { recordEvents, rejectEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, countsValues, type AggregationType } from '@weir/shared/meter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correct } from '../support/correcting.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { attachMonth, detachMonth, makeMonthsSince } from '../support/months.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;

beforeAll(() => {
  database = openTestDatabase(weir, 8);
});
afterAll(() => database.close());

interface Sent {
  meter: { id: string; aggregation: AggregationType };
  customer?: string;
  timestamp: string;
  receivedAt?: number;
  quantity?: string;
  key?: string | undefined;
  metadata?: object;
}

const eventOf = (admin: Organization, sent: Sent) => ({
  id: newId(sent.receivedAt),
  organization_id: admin.id,
  meter_id: sent.meter.id,
  customer_external_id: sent.customer ?? 'acme',
  quantity: sent.quantity ?? '1',
  timestamp: sent.timestamp,
  metadata: JSON.stringify({ user_id: 'ada', ...sent.metadata }),
  ...(sent.key !== undefined && { idempotency_key: sent.key }),
});

const record = (events: readonly ReturnType<typeof eventOf>[], { aggregation }: Sent['meter']) =>
  recordEvents(
    weir.pool,
    events.map((event) => ({ event, countsUniqueValues: countsValues(aggregation) })),
  );

/** When they came in: in the month that is taken out, and in the one after it. */
const [MARCH, APRIL] = [Date.parse('2024-03-31T23:55:00Z'), Date.parse('2024-04-01T10:30:00Z')];

/** What came in since then is of an organization that was there. */
const wasThere = ({ id }: Organization, since: string) =>
  weir.pool.query('UPDATE organizations SET created_at = $2 WHERE id = $1', [id, since]);

test('an event stays in the count of an hour of which others are in a month that was taken out', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  await wasThere(admin, '2024-03-01');
  await makeMonthsSince(weir, '2024-03-01');
  const late: string[] = [];
  const whole: string[] = [];
  const meters: string[] = [];
  for (const aggregation of AGGREGATION_TYPES) {
    const meter = { id: (await admin.createMeter(aggregation)).id, aggregation };
    const made = (receivedAt: number, timestamp: string, customer: string, quantity: string) =>
      eventOf(admin, { meter, receivedAt, timestamp, customer, quantity });
    const [quarter, before] = ['2024-03-31T23:50:00.000Z', '2024-03-31T23:40:00.000Z'];
    const archived = [
      made(MARCH, quarter, 'acme', '5'),
      made(MARCH, quarter, 'other', '6'),
      // It came in before its time.
      made(MARCH, '2024-04-01T10:00:00.000Z', 'acme', '4'),
      // Of before there was the organization, as an import has it.
      made(MARCH, '2024-01-20T10:00:00.000Z', 'acme', '4'),
    ];
    const short = [
      made(APRIL, quarter, 'acme', '9'),
      // All of its own hour is there, and not all of everybody's quarter.
      made(APRIL, quarter, 'third', '7'),
      made(APRIL, '2024-04-01T10:05:00.000Z', 'acme', '8'),
      made(APRIL, '2024-01-20T10:05:00.000Z', 'acme', '8'),
    ];
    const complete = [made(APRIL, before, 'third', '7'), made(APRIL, '2024-04-01T10:20:00.000Z', 'third', '7')];
    await record([...archived, ...short, ...complete], meter);
    meters.push(meter.id);
    late.push(...short.map(({ id }) => id));
    whole.push(...complete.map(({ id }) => id));
  }
  const usage = async () => {
    const window = 'start_date=2024-03-01&end_date=2024-05-01&group_by=month';
    const paths = meters.flatMap((id) =>
      ['', '&customer_external_id=acme'].map((query) => `/api/v1/meters/${id}/usage?${window}${query}`),
    );
    return await Promise.all(paths.map(async (path) => (await weir.request('GET', path, { apiKey })).body.data));
  };
  const send = (path: string, body: object) => weir.request('POST', `/api/v1${path}`, { session: admin.session, body });
  const reason = 'came late';
  const correcting = (...ids: string[]) => ({ corrections: ids.map((id) => ({ type: 'void', event_id: id, reason })) });

  await detachMonth(weir, '2024-03');
  const counted = await usage();
  for (const id of late) {
    const voided = await send(`/events/${id}/void`, { reason });
    expectProblem(voided, 409, 'not_correctable');
    expect(voided.body.detail).toContain('attach events_2024_03 first');
    expectProblem(await send(`/events/${id}/amend`, { reason, quantity: '2' }), 409, 'not_correctable');
    expectProblem(await send('/corrections/preview', correcting(id)), 409, 'not_correctable');
  }
  const [first = '', second = ''] = whole;
  const many = await send('/corrections', correcting(first, late[0] ?? '', second));
  expectProblem(many, 409, 'not_correctable');
  expect(many.body.detail).toMatch(/^corrections\[1\]: .* Nothing was changed\.$/);
  expect(await usage()).toEqual(counted);
  for (const id of whole) {
    expect(await send('/corrections/preview', correcting(id))).toMatchObject({ status: 200 });
    expect(await send(`/events/${id}/void`, { reason })).toMatchObject({ status: 201 });
  }

  await attachMonth(weir, '2024-03');
  expect(await send('/corrections', correcting(...late))).toMatchObject({ status: 201 });
  await expectRollupsToEqualEvents(weir.pool);
});

test('of several months that were taken out the one is named in which the last event of the hour came in', async () => {
  const admin = await signUp(weir);
  await wasThere(admin, '2024-03-01');
  await makeMonthsSince(weir, '2024-03-01');
  const meter = { id: (await admin.createMeter('SUM')).id, aggregation: 'SUM' as const };
  const [first, last] = ['10', '20'].map((minute) => `2024-03-20T10:${minute}:00.000Z`) as [string, string];
  const there = eventOf(admin, { meter, receivedAt: MARCH, timestamp: first });
  const away = eventOf(admin, { meter, receivedAt: Date.parse('2024-05-10'), timestamp: last });
  await record([there, away], meter);
  const months = ['2024-04', '2024-05'];
  for (const month of months) await detachMonth(weir, month);
  const body = { reason: 'a test' };
  const refused = await weir.request('POST', `/api/v1/events/${there.id}/void`, { session: admin.session, body });
  for (const month of months) await attachMonth(weir, month);
  expectProblem(refused, 409, 'not_correctable');
  expect(refused.body.detail).toContain('attach events_2024_05 first');
});

/** Times of three quarters of two hours, of a month that never had a partition: what is there is counted for each correction. */
const TIMES = ['44:59.9', '45:00', '59:59.9'].map((time) => `2019-05-31T23:${time}Z`).concat('2019-06-01T00:00:00Z');

/** How many corrections, of one event each, follow each other. */
const ROUNDS = 6;

/** Does again what others were in the way of for long, as whoever is told to try again. */
async function untilFree<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await whileInTheWay(attempt);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
}

test('an event of an hour that is all there is corrected, whatever else happens to the hour', async () => {
  const admin = await signUp(weir);
  await wasThere(admin, '2019-05-01');
  const meterOf = async (aggregation: AggregationType, keys: string[] = []) => {
    return { id: (await admin.createMeter(aggregation, undefined, keys)).id, aggregation };
  };
  const [summed, ...others] = await Promise.all([
    meterOf('SUM', ['model']),
    meterOf('MAX'),
    meterOf('UNIQUE_COUNT', ['model']),
  ]);
  const meters = [summed, ...others];
  const batchOf = (meter: Sent['meter'], customers: readonly string[], key?: string) =>
    customers.flatMap((customer) =>
      TIMES.map((timestamp, n) => {
        const metadata = { model: `m${n % 2}`, user_id: `u${n}` };
        const ofKey = key === undefined ? undefined : `${key}-${customer}-${n}`;
        return eventOf(admin, { meter, customer, timestamp, metadata, quantity: String(n + 1), key: ofKey });
      }),
    );
  const correctedOnes = meters.map((meter) => {
    const events = [...Array(ROUNDS).keys()].flatMap((round) => batchOf(meter, ['acme'], `first-${meter.id}-${round}`));
    return { meter, events };
  });
  for (const { meter, events } of correctedOnes) await record([...events, ...batchOf(meter, ['mover'])], meter);
  const { body: move } = await weir.request('POST', '/api/v1/usage-moves', {
    session: admin.session,
    body: { from_external_id: 'mover', to_external_id: 'moved' },
  });
  expect(move.status).toBe('RUNNING');
  const wrong = batchOf(summed, ['acme'], 'rejected');
  await rejectEvents(
    weir.pool,
    wrong.map((event) => ({ event: { ...event, aggregation: 'SUM' as const }, reason: 'a test' })),
  );

  let isDone = false;
  /** The same batch comes twice, and the same keys with others. Each of the customers has the hour to itself, or not. */
  const goOnRecording = async (meter: Sent['meter'], customer: string) => {
    for (let n = 0; !isDone; n += 1) {
      const batch = batchOf(meter, [customer, 'acme'], `more-${meter.id}-${n % 2}`);
      await Promise.all([record(batch, meter), record(batch, meter)]);
      await record(batchOf(meter, [customer]), meter);
    }
  };
  const recording = meters.map((meter, n) => goOnRecording(meter, `other-${n}`));
  const correcting = async (events: readonly { id: string }[]) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const [amended, voided, previewed] = events.slice(round * TIMES.length);
      const preview = [{ eventId: previewed?.id ?? '', reason: 'a test' }];
      const found = await untilFree(() => previewCorrections(database, admin.id, 'user:test', preview));
      expect(found).toMatchObject({ outcome: 'previewed' });
      const asked = [
        { eventId: amended?.id ?? '', reason: 'a test', amendment: { quantity: '2' } },
        { eventId: voided?.id ?? '', reason: 'a test' },
      ];
      await untilFree(() => correct(database, admin.id, asked));
    }
  };
  const correctingAll = async () => {
    for (const { events } of correctedOnes) await correcting(events);
  };
  const replaying = recordEvents(
    weir.pool,
    wrong.map((event) => ({ event, countsUniqueValues: false })),
  );
  const moving = async () => {
    // Where it would have to wait it gives way, as corrections do.
    for (let isMoved = false; !isMoved;) {
      await performMoves(
        database,
        1_000,
        () => Promise.resolve(true),
        () => {},
      );
      const { rows } = await weir.pool.query('SELECT FROM usage_moves WHERE finished_at IS NULL');
      isMoved = rows.length === 0;
    }
  };
  try {
    await Promise.all([correctingAll(), replaying, moving()]);
  } finally {
    isDone = true;
    await Promise.all(recording);
  }
  await expectRollupsToEqualEvents(weir.pool);
});
