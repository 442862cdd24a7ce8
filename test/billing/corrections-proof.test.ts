// Many corrections in waves, while events are recorded and months are closed: what is read, what was billed and what can be computed
// again is held against a count of the events that are left, one by one. With all tests it is small; CONTRIBUTING.md has more.

import { countAccepted } from '@weir/db/accepted';
import { recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import { recordEvents } from '@weir/db/record';
import { divide, multiply, parseExact, type Exact } from '@weir/rating/exact';
import { formatAmount, round } from '@weir/rating/money';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, countsValues, type AggregationType } from '@weir/shared/meter';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRun } from '../support/billing-run.ts';
import { correct } from '../support/correcting.ts';
import { startInvoicing } from '../support/invoicing.ts';
import { proofSize } from '../support/proof-size.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { untilAvailable } from '../support/until-available.ts';
import { isoOf, periodsOf, usageOf, type ModelEvent } from '../support/usage-model.ts';
import { ownWeir } from '../support/use-weir.ts';

const { size, seed } = proofSize('CORRECTIONS');
const EVENTS = 4_000 * size;
const CORRECTIONS = Math.max(400, EVENTS / 100);

const ZONES = ['UTC', 'America/St_Johns', 'Asia/Kathmandu'];
const CUSTOMERS = Math.max(6, Math.round(EVENTS / 5_000));
const MONTHS = ['2026-01', '2026-02', '2026-03'];
const WAVES = MONTHS.length + 1;
const BATCH = 250;
const PRICE = '0.0173';

/** Invoices that are computed again at once. */
const RECOMPUTED = 20;

const weir = ownWeir({ withWorker: false });
const startOf = (month: number): bigint => BigInt(Date.UTC(2026, month, 1)) * 1000n;
const END = startOf(MONTHS.length);

/** The same numbers for the same seed, from 0 up to what is asked for. */
function numbers(): (below: number) => number {
  const draw = fc.sample(fc.nat(), { numRuns: 1, seed })[0] ?? 1;
  let state = (draw % 2_147_483_646) + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

interface Counted extends ModelEvent {
  aggregation: AggregationType;
}

test('thousands of corrections while months are closed: reads, bills and checks are those of what is left', async () => {
  const billing = await startInvoicing(weir);
  const { admin, database } = billing;
  const run = openRun(weir, database);
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2026-01-01T00:00:00Z');
  const meters = new Map<AggregationType, string>();
  for (const type of AGGREGATION_TYPES) meters.set(type, (await billing.meter(type)).id);
  const { id: plan } = await billing.plan(
    [...meters.values()].map((id) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: PRICE })),
  );
  const subscriptions = new Map<string, string>();
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const { id, external_id: name } = await billing.customer({ external_id: `customer ${index}` });
    subscriptions.set((await billing.subscribe(plan, id, { start_date: '2026-01-01T00:00:00Z' })).id, name);
  }

  const below = numbers();
  const counted = new Map<string, Counted>();
  const randomTime = (until: bigint): bigint => {
    const micros = until - startOf(0);
    return startOf(0) + ((BigInt(below(1_000_000_000)) * 1_000_000_007n + BigInt(below(1_000_000_000))) % micros);
  };
  const draw = (until: bigint): Counted => {
    const aggregation = AGGREGATION_TYPES[below(AGGREGATION_TYPES.length)] ?? 'SUM';
    return {
      id: newId(),
      meterId: meters.get(aggregation) ?? '',
      aggregation,
      customer: `customer ${below(CUSTOMERS)}`,
      quantity: below(9) === 0 ? `${1 + below(9_999)}.${1 + below(8)}` : String(1 + below(500)),
      at: randomTime(until),
      user: `user ${below(200)}`,
    };
  };
  const eventOf = ({ id, meterId, aggregation, customer, quantity, at, user }: Counted) => ({
    event: {
      id,
      organization_id: admin.id,
      meter_id: meterId,
      customer_external_id: customer,
      quantity,
      timestamp: isoOf(at),
      metadata: `{"user_id": "${user}"}`,
    },
    countsUniqueValues: countsValues(aggregation),
  });
  /** Some events of a wave, a part of which is late for months that are closed. */
  const record = async (count: number, until: bigint): Promise<void> => {
    for (let from = 0; from < count; from += BATCH) {
      const drawn = Array.from({ length: Math.min(BATCH, count - from) }, () => draw(until));
      const batch = drawn.map(eventOf);
      await recordEvents(weir.pool, batch);
      await countAccepted(
        weir.pool,
        batch.map(({ event }) => event),
      );
      // Some are delivered again later.
      if (from % (3 * BATCH) === 0) await recordEvents(weir.pool, batch);
      for (const event of drawn) counted.set(event.id, event);
    }
  };
  const correctSome = async (count: number, until: bigint): Promise<void> => {
    const ids = [...counted.keys()];
    const chosen = new Set<string>();
    while (chosen.size < Math.min(count, ids.length / 2)) chosen.add(ids[below(ids.length)] ?? '');
    const waiting = [...chosen].map((id) => {
      const event = counted.get(id) ?? draw(until);
      const at = below(2) === 0 ? event.at : randomTime(until);
      const made = { ...event, quantity: String(1 + below(700)), at, user: `user ${below(200)}` };
      const amendment = { quantity: made.quantity, timestamp: isoOf(at), metadata: `{"user_id": "${made.user}"}` };
      return { made, eventId: id, reason: 'a proof', amendment: below(2) === 0 ? amendment : undefined };
    });
    while (waiting.length > 0) {
      const part = waiting.splice(0, 1 + below(40));
      const corrections = await correct(database, admin.id, part);
      for (const [index, { eventId, made }] of part.entries()) {
        counted.delete(eventId);
        const id = corrections[index]?.amended_by;
        if (id != null) counted.set(id, { ...made, id });
      }
    }
  };

  const ofWave = Math.floor(EVENTS / MONTHS.length);
  await record(ofWave, startOf(1));
  for (const [index] of MONTHS.entries()) {
    const [next, wave] = [index + 1, Math.ceil(CORRECTIONS / WAVES)];
    await billing.moveTo(new Date(Number(startOf(next) / 1000n)).toISOString(), ...subscriptions.keys());
    const until = startOf(Math.min(next + 1, MONTHS.length));
    await Promise.all([
      next < MONTHS.length ? record(ofWave, until) : undefined,
      correctSome(wave, until),
      untilAvailable(run.untilDone),
    ]);
  }
  await correctSome(Math.ceil(CORRECTIONS / WAVES), END);
  await billing.moveTo('2026-05-01T00:00:00Z', ...subscriptions.keys());
  await untilAvailable(run.untilDone);

  const { rows: made } = await weir.pool.query(
    'SELECT count(*)::int AS made FROM corrections WHERE organization_id = $1',
    [admin.id],
  );
  expect(made[0].made).toBeGreaterThanOrEqual(CORRECTIONS);
  const left = new Map([...meters.values()].map((id): [string, Counted[]] => [id, []]));
  for (const event of counted.values()) left.get(event.meterId)?.push(event);

  for (const [aggregation, meter] of meters)
    for (const timezone of ZONES) {
      const query = new URLSearchParams({ start_date: isoOf(startOf(0)), end_date: isoOf(END), timezone }).toString();
      const read = await billing.get(`/meters/${meter}/usage?${query}`);
      const events = left.get(meter) ?? [];
      const days = periodsOf(startOf(0), END, timezone, 'day');
      const byDay = days.map((): Counted[] => []);
      for (const event of events) byDay[days.findLastIndex(({ start }) => start <= event.at)]?.push(event);
      expect([timezone, read.total_usage, read.event_count]).toEqual([
        timezone,
        usageOf(aggregation, events),
        events.length,
      ]);
      expect(read.grouped_data.map((day: { period: string; usage: string | null }) => [day.period, day.usage])).toEqual(
        days.map(({ period }, index) => [period, usageOf(aggregation, byDay[index] ?? [])]),
      );
    }

  const { rows: dues } = await weir.pool.query<{
    subscription: string;
    meter: string;
    month: Date;
    quantity: string;
    billed: string;
  }>(
    `SELECT d.subscription_id AS subscription, d.meter_id AS meter, d.period_start AS month, d.billed::text AS billed, (
       SELECT l.quantity::text FROM invoice_lines l WHERE (l.organization_id, l.subscription_id, l.cycle, l.charge_id)
         = (d.organization_id, d.subscription_id, d.cycle, d.charge_id) ORDER BY closing DESC LIMIT 1) AS quantity
     FROM dues d WHERE d.organization_id = $1 AND d.period_end <= '2026-04-01'`,
    [admin.id],
  );
  expect(dues).toHaveLength(CUSTOMERS * MONTHS.length * AGGREGATION_TYPES.length);
  const ofDue = (name: string | undefined, meter: string, from: bigint): string => `${name} ${meter} ${from}`;
  const byDue = new Map<string, Counted[]>();
  for (const event of counted.values()) {
    const month = [2, 1, 0].map(startOf).find((start) => start <= event.at) ?? 0n;
    const name = ofDue(event.customer, event.meterId, month);
    byDue.set(name, [...(byDue.get(name) ?? []), event]);
  }
  const rounded = (exact: Exact): string => formatAmount(round(exact, 2), 2);
  const wrong = dues.flatMap(({ subscription, meter, month, quantity, billed }) => {
    const [aggregation = 'SUM'] = [...meters].find(([, id]) => id === meter) ?? [];
    const start = BigInt(new Date(month).getTime()) * 1000n;
    const events = byDue.get(ofDue(subscriptions.get(subscription), meter, start)) ?? [];
    const usage = usageOf(aggregation, events) ?? '0';
    // An average is billed before it is rounded.
    const exact =
      aggregation === 'AVG' && events.length > 0
        ? divide(parseExact(usageOf('SUM', events) ?? '0'), parseExact(String(events.length)))
        : parseExact(usage);
    const amount = rounded(multiply(exact, parseExact(PRICE)));
    const isRight = quantity === usage && rounded(parseExact(billed)) === amount;
    return isRight ? [] : [{ aggregation, quantity, usage, billed, amount }];
  });
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });

  const { rows } = await weir.pool.query(`SELECT id FROM invoices WHERE organization_id = $1 AND status <> 'DRAFT'`, [
    admin.id,
  ]);
  for (const source of ['rollups', 'events'] as const)
    for (let from = 0; from < rows.length; from += RECOMPUTED) {
      const ids = rows.slice(from, from + RECOMPUTED).map(({ id }) => id);
      const all = await recomputeInvoices(database, admin.id, ids, source);
      expect(all).toHaveLength(ids.length);
      expect(all.filter(({ identical }) => !identical)).toEqual([]);
    }
  const found = await reconcileHere(weir, database, { organizationId: admin.id, invoices: true });
  expect({ seed, found }).toMatchObject({ seed, found: { isEqual: true } });
  if (size > 1)
    console.log({ events: counted.size, corrections: made[0].made, dues: dues.length, invoices: rows.length });
  await billing.close();
}, 3_600_000);
