// What corrections would do is said before they are made, by doing them and taking them back: it is what then happens, and nothing is
// left of it.

import { previewCorrections } from '@weir/db/corrections/preview-corrections';
import { whileInTheWay } from '@weir/db/corrections/correct-events';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, countsValues, type AggregationType } from '@weir/shared/meter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const ZONE = 'America/St_Johns';

const weir = ownWeir();
let billing: Invoicing;

beforeAll(async () => {
  billing = await startInvoicing(weir);
  await billing.request('PATCH', '/billing/settings', { time_zone: ZONE });
});
afterAll(() => billing.close());

const preview = (corrections: object[]) => billing.post('/corrections/preview', { corrections });
const voids = (event_id: string) => ({ type: 'void', event_id, reason: 'a test' });

/** What a preview may not touch, as one value for each table. */
async function tables(): Promise<unknown> {
  const names = await weir.pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
       AND relname ~ '^(events|.*_events|corrections|accepted_.*|meter_.*|customer_.*|metadata_.*|billing_.*|dues|invoices|invoice_.*|closings)$'
     ORDER BY 1`,
  );
  const hashed = names.rows.map(
    ({ name }) => `(SELECT md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM ${name} AS t) AS ${name}`,
  );
  expect(hashed.length).toBeGreaterThan(20);
  return (await weir.pool.query(`SELECT ${hashed.join(', ')}`)).rows[0];
}

interface Recorded {
  id: string;
  meter: string;
  customer: string;
}

/** Records an event of a meter, without a queue. */
async function record(meter: { id: string; aggregation: AggregationType }, fields: Record<string, string>) {
  const { customer = 'acme', at = '', quantity = '1', user = 'ada' } = fields;
  const event = {
    id: newId(),
    organization_id: billing.admin.id,
    meter_id: meter.id,
    customer_external_id: customer,
    quantity,
    timestamp: at,
    metadata: `{"user_id": "${user}"}`,
  };
  await recordEvents(weir.pool, [{ event, countsUniqueValues: countsValues(meter.aggregation) }]);
  return { id: event.id, meter: meter.id, customer };
}

test('a preview is what then happens, of every aggregation, closed or not, and nothing is left of it', async () => {
  const meters: { id: string; aggregation: AggregationType }[] = [];
  for (const aggregation of AGGREGATION_TYPES) meters.push({ id: (await billing.meter(aggregation)).id, aggregation });
  const { id: plan } = await billing.plan(
    meters.map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '0.5' })),
  );
  await billing.moveTo('2026-01-01T12:00:00Z');
  const { id, external_id: customer } = await billing.customer();
  const { id: subscription } = await billing.subscribe(plan, id, { start_date: '2026-01-01T03:30:00Z' });
  const each = async (fields: Record<string, string>): Promise<Recorded[]> =>
    await Promise.all(meters.map((meter) => record(meter, { customer, ...fields })));

  await each({ at: '2026-01-02T12:00:00Z', quantity: '4' });
  const january = await each({ at: '2026-01-03T12:00:00Z', quantity: '100', user: 'bo' });
  // Of February by UTC, and of January in the zone.
  await each({ at: '2026-02-01T03:29:59Z', quantity: '7', user: 'cy' });
  await billing.moveTo('2026-02-01T12:00:00Z', subscription);
  const [first] = await billing.finalizeAll(subscription);
  const late = await each({ at: '2026-01-04T12:00:00Z', quantity: '9', user: 'di' });
  const february = await each({ at: '2026-02-10T12:00:00Z', quantity: '50', user: 'ed' });
  await each({ at: '2026-02-11T12:00:00Z', quantity: '5', user: 'ed' });
  await billing.moveTo('2026-03-01T12:00:00Z', subscription);
  const march = await each({ at: '2026-03-01T12:00:00Z', quantity: '2' });
  const [draft] = await billing.drafts(subscription);

  const asked = [
    ...[...january, ...late, ...march].map((event) => voids(event.id)),
    ...february.map((event) => ({
      ...voids(event.id),
      type: 'amend',
      quantity: '200.5',
      timestamp: '2026-01-31T23:00:00-03:30',
    })),
  ];
  const before = await tables();
  const found = await preview(asked);
  expect(await tables()).toEqual(before);

  const months = ['2026-01', '2026-02', '2026-03'];
  const usageNow = async () => {
    const reads = months.map(async (month) => {
      const window = new URLSearchParams({
        start_date: `${month}-01`,
        end_date: `${month}-${month === '2026-02' ? 28 : 31}`,
        timezone: ZONE,
        customer_external_id: customer,
      });
      return await Promise.all(
        meters.map(async (meter) => {
          const { total_usage: usage } = await billing.get(`/meters/${meter.id}/usage?${window.toString()}`);
          return [`${month} ${meter.id}`, usage] as const;
        }),
      );
    });
    return Object.fromEntries((await Promise.all(reads)).flat());
  };
  const said = (which: 'before' | 'after') =>
    Object.fromEntries(
      found.usage.map((row: Record<string, string>) => [`${row['month']} ${row['meter_id']}`, row[which]]),
    );
  expect(said('before')).toEqual(await usageNow());
  expect([found.time_zone, found.usage_total]).toEqual([ZONE, 3 * meters.length]);
  expect(found.usage[0]).toMatchObject({ customer_external_id: customer, month: '2026-01', events: 2, new_events: 1 });
  // Months are of the organization, and a period is of its subscription, which stays in its zone.
  await billing.request('PATCH', '/billing/settings', { time_zone: 'UTC' });
  const ofUtc = await preview(asked);
  await billing.request('PATCH', '/billing/settings', { time_zone: ZONE });
  expect([ofUtc.time_zone, ofUtc.invoices[0].time_zone]).toEqual(['UTC', ZONE]);
  const ofAll = meters.length;
  expect(found).toMatchObject({
    invoices_total: 3,
    invoices: [
      {
        effect: 'LATE_USAGE',
        invoice_id: first.id,
        invoice_number: first.invoice_number,
        status: 'OPEN',
        subscription_id: subscription,
        customer_external_id: customer,
        period_start: first.period_start,
        period_end: first.period_end,
        events: ofAll,
        new_events: ofAll,
      },
      // What came late is in no line yet: it is the draft's.
      { effect: 'AT_ONCE', invoice_id: draft?.id, status: 'DRAFT', events: 2 * ofAll, new_events: 0 },
      { effect: 'AT_ONCE', invoice_id: null, status: null, events: ofAll, new_events: 0, invoice_number: null },
    ],
  });

  await billing.post('/corrections', { corrections: asked }, 201);
  expect(said('after')).toEqual(await usageNow());
  const again = await billing.get(`/invoices/${first.id}`);
  expect(again.total).toBe(first.total);
  const lines = (await billing.get(`/invoices/${draft?.id}`)).lines.map(({ kind }: { kind: string }) => kind);
  expect(lines.filter((kind: string) => kind === 'LATE_USAGE')).toHaveLength(ofAll);
  await expectRollupsToEqualEvents(weir.pool);
}, 60_000);

test('what would be refused is refused with the same words, and who may not correct may not ask', async () => {
  const sum = { id: (await billing.meter('SUM')).id, aggregation: 'SUM' as const };
  const users = { id: (await billing.meter('UNIQUE_COUNT')).id, aggregation: 'UNIQUE_COUNT' as const };
  const at = '2026-05-01T12:00:00Z';
  const [one, two, user] = [await record(sum, { at }), await record(sum, { at }), await record(users, { at })];
  await billing.post(`/events/${one.id}/void`, { reason: 'before' }, 201);
  const amend = (id: string, what: object) => ({ ...voids(id), type: 'amend', ...what });
  for (const corrections of [
    [],
    [voids(two.id), voids(two.id)],
    [voids(one.id)],
    [voids(two.id), voids(one.id)],
    [voids('0198c0de-0000-7000-8000-000000000000')],
    [amend(two.id, {})],
    [amend(two.id, { timestamp: '1999-12-31T23:59:59Z' })],
    [amend(two.id, { quantity: 1 }), amend(user.id, { metadata: { model: 'a' } })],
  ]) {
    const [asked, done] = [
      await billing.request('POST', '/corrections/preview', { corrections }),
      await billing.request('POST', '/corrections', { corrections }),
    ];
    const said = ({ status, body }: typeof asked) => [status, { ...body, request_id: '' }];
    expect(said(asked)[0]).toBeGreaterThanOrEqual(400);
    expect(said(asked)).toEqual(said(done));
  }
  const other = await signUp(weir);
  const body = { corrections: [voids(two.id)] };
  const ofOther = await weir.request('POST', '/api/v1/corrections/preview', { session: other.session, body });
  expectProblem(ofOther, 404, 'not_found');
});

test('of more rows than it shows it says how many there are', async () => {
  const meter = { id: (await billing.meter('SUM')).id, aggregation: 'SUM' as const };
  const at = '2026-06-01T12:00:00Z';
  const events: Recorded[] = [];
  for (let index = 0; index < 101; index += 1) events.push(await record(meter, { at, customer: `many ${index}` }));
  const found = await preview(events.map(({ id }) => voids(id)));
  expect([found.usage.length, found.usage_total, found.invoices, found.invoices_total]).toEqual([100, 101, [], 0]);
  expect(new Set(found.usage.map(({ before, after }: Record<string, string>) => `${before} ${after}`))).toEqual(
    new Set(['1 0']),
  );
});

test('before and after are of one instant, whatever is recorded meanwhile', async () => {
  const meters = [];
  for (const aggregation of ['SUM', 'UNIQUE_COUNT'] as const)
    meters.push({ id: (await billing.meter(aggregation)).id, aggregation });
  const at = '2026-07-01T12:00:00Z';
  const wrong = await Promise.all(meters.map((meter) => record(meter, { at, quantity: '1000', user: 'nobody' })));
  let isOver = false;
  const recording = (async () => {
    for (let user = 0; !isOver; user += 1)
      for (const meter of meters) await record(meter, { at, user: `user ${user}` });
  })();
  const seen = new Set<string>();
  for (let turn = 0; turn < 20; turn += 1) {
    // By itself each is asked of rows that are written to without a pause.
    const asked = [{ eventId: wrong[turn % wrong.length]?.id ?? '', reason: 'a test' }];
    const found = await whileInTheWay(() => previewCorrections(billing.database, billing.admin.id, 'user:test', asked));
    if (found.outcome !== 'previewed') throw new Error(found.outcome);
    for (const { before, after, aggregation_type: type } of found.preview.usage) {
      expect(Number(before) - Number(after)).toBe(type === 'SUM' ? 1000 : 1);
      seen.add(`${type} ${before}`);
    }
  }
  isOver = true;
  await recording;
  expect(seen.size).toBeGreaterThan(4);
});

test('what is in the way at every try is tried some hundred times at most, and then told', async () => {
  const said = await billing.database.pool
    .query(`DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = '40001'; END $$`)
    .catch((error: unknown) => error);
  let tries = 0;
  const collide = () => {
    tries += 1;
    return Promise.reject(said);
  };
  await expect(whileInTheWay(collide)).rejects.toThrow('in the way');
  expect(tries).toBeGreaterThan(1);
  expect(tries).toBeLessThanOrEqual(301);
});
