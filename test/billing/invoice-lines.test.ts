// What is behind a line: the buckets and the events that were counted, as they were when it was closed.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const GROUPINGS = ['hour', 'day', 'week', 'month'] as const;
const AGGREGATIONS = ['SUM', 'COUNT', 'MAX', 'LAST', 'UNIQUE_COUNT'] as const;

interface Line {
  id: string;
  kind: string;
  description: string;
  quantity: string;
  event_count: number;
  closing: number;
  period_start: string;
  period_end: string;
}

const weir = ownWeir();
let billing: Invoicing;
let meters: Record<(typeof AGGREGATIONS)[number], PricedMeter>;
let customer: { id: string; external_id: string };
let subscription: string;
/** Of January: finalized, then February with what came late, then the draft of March. */
let january: { id: string; lines: Line[] };
let february: { id: string; lines: Line[] };
let march: { id: string; lines: Line[] };

const ON_TIME = [
  '2025-01-01T05:00:00Z',
  '2025-01-15T12:00:00.000001Z',
  '2025-01-15T12:00:00Z',
  '2025-02-01T04:59:59.999999Z',
];
const LATE = ['2025-01-20T00:00:00Z', '2025-01-15T12:30:00Z'];
const IN_FEBRUARY = ['2025-02-10T00:00:00Z'];
const LATER = ['2025-01-30T00:00:00Z', '2025-03-02T00:00:00Z'];

/** One event of each meter at each of these times, another user each time. */
async function use(times: string[]): Promise<void> {
  await billing.track(
    times.flatMap((at) =>
      Object.values(meters).map((meter) => ({
        meter,
        customer: customer.external_id,
        quantity: 1.25,
        at,
        metadata: { user_id: at },
      })),
    ),
  );
}

beforeAll(async () => {
  billing = await startInvoicing(weir);
  const made = await Promise.all(AGGREGATIONS.map((aggregation) => billing.meter(aggregation)));
  meters = Object.fromEntries(AGGREGATIONS.map((name, at) => [name, made[at]])) as typeof meters;
  await billing.moveTo('2025-01-01T05:00:00Z');
  const plan = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: 10 },
    ...AGGREGATIONS.map((name) => ({
      type: 'USAGE',
      display_name: name,
      meter_id: meters[name].id,
      unit_price: '0.5',
    })),
  ]);
  // Midnight of New York, five hours after that of UTC.
  customer = await billing.customer({ time_zone: 'America/New_York' });
  subscription = (await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' })).id;
  await use(ON_TIME);
  await billing.moveTo('2025-02-01T05:10:00Z', subscription);
  const billed = await billing.finalizeAll(subscription);
  january = billed.at(-1);
  await use([...LATE, ...IN_FEBRUARY]);
  await billing.moveTo('2025-03-01T05:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  await billing.post(`/invoices/${draft?.id}/lines`, { description: 'Sorry', amount: -1 }, 201);
  [february] = (await billing.finalizeAll(subscription)) as [typeof february];
  await use(LATER);
  await billing.moveTo('2025-04-01T04:10:00Z', subscription);
  const [next] = await billing.drafts(subscription);
  march = await billing.get(`/invoices/${next?.id}`);
});
afterAll(() => billing.close());

function lineOf({ lines }: { lines: Line[] }, description: string, kind = 'USAGE'): Line {
  const line = lines.find((each) => each.description === description && each.kind === kind);
  if (line === undefined) throw new Error(`there is no ${kind} line ${description}`);
  return line;
}

const usageOf = (invoice: { id: string }, line: Line, query = '') =>
  billing.get(`/invoices/${invoice.id}/lines/${line.id}/usage${query}`);
const eventsOf = (invoice: { id: string }, line: Line, query = '') =>
  billing.get(`/invoices/${invoice.id}/lines/${line.id}/events${query}`);
const timesOf = ({ data }: { data: { timestamp: string }[] }) => data.map(({ timestamp }) => timestamp);
const asAnswered = (times: string[]) =>
  times.map((at) => (at.includes('.') ? at : at.replace('Z', '.000Z'))).toSorted(byTime);
const byTime = (one: string, other: string) => (one.replace('Z', '') < other.replace('Z', '') ? -1 : 1);

describe('the buckets of a line', () => {
  test.each(['SUM', 'COUNT'] as const)('add up to its quantity, exactly: %s', async (name) => {
    const kinds: [{ id: string; lines: Line[] }, string][] = [
      [january, 'USAGE'],
      [february, 'USAGE'],
      [february, 'LATE_USAGE'],
      [march, 'USAGE'],
      [march, 'LATE_USAGE'],
    ];
    for (const [invoice, kind] of kinds) {
      const line = lineOf(invoice, name, kind);
      for (const grouping of GROUPINGS) {
        const usage = await usageOf(invoice, line, `?group_by=${grouping}`);
        const buckets: { usage: string; event_count: number }[] = usage.grouped_data;
        const sum = buckets.reduce((all, { usage }) => all + BigInt(Math.round(Number(usage) * 100)), 0n);
        expect(sum, `${kind} by ${grouping}`).toBe(BigInt(Number(line.quantity) * 100));
        expect(usage).toMatchObject({ total_usage: line.quantity, event_count: line.event_count, unique_customers: 1 });
        expect(buckets.reduce((all, { event_count }) => all + event_count, 0)).toBe(line.event_count);
      }
    }
  });

  test.each(AGGREGATIONS)('have the quantity as their total, whatever the meter counts: %s', async (name) => {
    for (const invoice of [january, february]) {
      const line = lineOf(invoice, name);
      expect(await usageOf(invoice, line)).toMatchObject({
        meter_id: meters[name].id,
        aggregation_type: name,
        unit: null,
        total_usage: line.quantity,
        period_start: line.period_start,
        period_end: line.period_end,
      });
    }
  });

  test('are those of the calendar of the subscription', async () => {
    const { grouped_data } = await usageOf(january, lineOf(january, 'COUNT'));
    expect(grouped_data).toHaveLength(31);
    expect(grouped_data[0]).toEqual({
      period: '2025-01-01',
      period_start: '2025-01-01T05:00:00.000Z',
      usage: '1',
      event_count: 1,
    });
    // One second before midnight of New York is 31 January.
    expect(grouped_data[30]).toMatchObject({ period: '2025-01-31', usage: '1' });
    const byHour = await usageOf(january, lineOf(january, 'COUNT'), '?group_by=hour');
    expect(byHour.grouped_data).toHaveLength(31 * 24);
    expect(byHour.grouped_data[0].period).toBe('2025-01-01T00:00-05:00');
  });

  test('are as they were at the closing of the line: what came later is in the next one only', async () => {
    const day = async (invoice: typeof january, kind: string, date: string) => {
      const { grouped_data } = await usageOf(invoice, lineOf(invoice, 'COUNT', kind));
      return grouped_data.find(({ period }: { period: string }) => period === date).usage;
    };
    expect(await day(january, 'USAGE', '2025-01-19')).toBe('0');
    expect(await day(february, 'LATE_USAGE', '2025-01-19')).toBe('1');
    expect(await day(february, 'LATE_USAGE', '2025-01-29')).toBe('0');
    // A draft's are as they are now.
    expect(await day(march, 'LATE_USAGE', '2025-01-29')).toBe('1');
  });

  test('of a line without usage are none', async () => {
    for (const line of [lineOf(february, 'Base', 'FIXED'), lineOf(february, 'Sorry', 'ADJUSTMENT')]) {
      expect(await usageOf(february, line)).toEqual({
        meter_id: null,
        aggregation_type: null,
        unit: null,
        total_usage: null,
        event_count: 0,
        unique_customers: 0,
        period_start: line.period_start,
        period_end: line.period_end,
        grouped_data: [],
      });
      expect(await eventsOf(february, line)).toEqual({ data: [], meta: { next_cursor: null } });
    }
  });
});

describe('the events of a line', () => {
  test('are those that were counted, in the order of their time', async () => {
    for (const name of AGGREGATIONS) {
      expect(timesOf(await eventsOf(january, lineOf(january, name)))).toEqual(asAnswered(ON_TIME));
      const late = await eventsOf(february, lineOf(february, name, 'LATE_USAGE'));
      expect(timesOf(late)).toEqual(asAnswered([...ON_TIME, ...LATE]));
      expect(timesOf(await eventsOf(february, lineOf(february, name)))).toEqual(asAnswered(IN_FEBRUARY));
    }
    const { data } = await eventsOf(january, lineOf(january, 'SUM'));
    expect(data[0]).toMatchObject({
      status: 'recorded',
      meter_id: meters.SUM.id,
      customer_external_id: customer.external_id,
      quantity: '1.25',
      metadata: { user_id: '2025-01-01T05:00:00Z' },
    });
    expect(await billing.get(`/events/${data[0].id}`)).toEqual(data[0]);
  });

  test('come page by page, each once', async () => {
    const line = lineOf(february, 'SUM', 'LATE_USAGE');
    const found: { timestamp: string }[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null; pages += 1) {
      expect(pages).toBeLessThan(4);
      const page: { data: { timestamp: string }[]; meta: { next_cursor: string | null } } = await eventsOf(
        february,
        line,
        `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      found.push(...page.data);
      cursor = page.meta.next_cursor;
    }
    expect(timesOf({ data: found })).toEqual(asAnswered([...ON_TIME, ...LATE]));
  });

  test('with changes=true are those that came in since the line before', async () => {
    const changes = async (invoice: typeof january, kind: string) =>
      timesOf(await eventsOf(invoice, lineOf(invoice, 'SUM', kind), '?changes=true'));
    expect(await changes(february, 'LATE_USAGE')).toEqual(asAnswered(LATE));
    expect(await changes(march, 'LATE_USAGE')).toEqual(asAnswered(LATER.slice(0, 1)));
    // Of a first line everything came in since.
    expect(await changes(january, 'USAGE')).toEqual(asAnswered(ON_TIME));
  });

  test('of a draft are as they are now', async () => {
    expect(timesOf(await eventsOf(march, lineOf(march, 'SUM')))).toEqual(asAnswered(LATER.slice(1)));
    const all = [...ON_TIME, ...LATE, ...LATER.slice(0, 1)];
    expect(timesOf(await eventsOf(march, lineOf(march, 'SUM', 'LATE_USAGE')))).toEqual(asAnswered(all));
  });
});

test('a line is found under its own invoice only', async () => {
  const { id } = lineOf(february, 'SUM');
  for (const what of ['usage', 'events'])
    expectProblem(await billing.request('GET', `/invoices/${january.id}/lines/${id}/${what}`), 404, 'not_found');
});

test.each(['?group_by=year', '?group_by=', '?timezone=UTC'])('the usage of a line does not take %s', async (query) => {
  const { id } = lineOf(february, 'SUM');
  const answer = await billing.request('GET', `/invoices/${february.id}/lines/${id}/usage${query}`);
  expectProblem(answer, 422, 'invalid_request');
});
