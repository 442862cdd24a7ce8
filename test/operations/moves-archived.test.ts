// Usage of a month that was taken out is erased as any other: what was counted and billed of it stays as it was, without its events.

import type { Database } from '@weir/db/database';
import { makePartitions } from '@weir/db/partitions';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { countsValues, type AggregationType } from '@weir/shared/meter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { performAllMoves } from '../support/erasing.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let billing: Invoicing;

beforeAll(async () => {
  database = openTestDatabase(weir);
  billing = await startInvoicing(weir);
  const client = await weir.pool.connect();
  // Every month since has its partition, as where Weir has run since.
  for (let at = new Date('2024-03-01'); at.getTime() < Date.now(); at.setUTCMonth(at.getUTCMonth() + 3))
    await makePartitions(client, at);
  client.release();
});
afterAll(async () => {
  await billing.close();
  await database.close();
});

interface Meter {
  id: string;
  aggregation: AggregationType;
}

interface Sent {
  meter: Meter;
  customer: string;
  timestamp: string;
  quantity?: string;
  metadata?: object;
}

/** Records events that came in when they happened, and returns their ids. */
async function record(sent: Sent[]): Promise<string[]> {
  const events = sent.map(({ meter, customer, timestamp, quantity = '1', metadata = {} }) => ({
    event: {
      id: newId(Date.parse(timestamp)),
      organization_id: billing.admin.id,
      meter_id: meter.id,
      customer_external_id: customer,
      quantity,
      timestamp,
      metadata: JSON.stringify(metadata),
    },
    countsUniqueValues: countsValues(meter.aggregation),
  }));
  expect((await recordEvents(weir.pool, events)).recorded).toBe(events.length);
  return events.map(({ event }) => event.id);
}

async function meterOf(aggregation: AggregationType, keys: string[] = []): Promise<Meter> {
  return { id: (await billing.admin.createMeter(aggregation, undefined, keys)).id, aggregation };
}

/** A customer who is billed each unit of these meters from 1 March 2024 on. */
async function billedFor(customer: string, ...meters: Meter[]): Promise<string> {
  await billing.moveTo('2024-02-29T00:00:00Z');
  const { id: plan } = await billing.plan(
    meters.map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '2' })),
  );
  const { id } = await billing.customer({ external_id: customer });
  await billing.moveTo('2024-03-01T00:00:00Z');
  return (await billing.subscribe(plan, id, { start_date: '2024-03-01T00:00:00Z' })).id;
}

const detach = () => weir.pool.query('ALTER TABLE events DETACH PARTITION events_2024_03');

const read = (meter: Meter, customer: string, more = '') =>
  billing.get(
    `/meters/${meter.id}/usage?start_date=2024-03-01&end_date=2024-04-01&customer_external_id=${customer}${more}`,
  );

test('a customer with usage of a month that was taken out is erased, and its invoices stay as they were', async () => {
  const [users, calls] = [await meterOf('UNIQUE_COUNT', ['model']), await meterOf('SUM')];
  const subscription = await billedFor('leaving', users, calls);
  const at = (hour: string) => `2024-03-20T${hour}Z`;
  const by = (user: string, hour: string, model = 'm1') => ({
    meter: users,
    customer: 'leaving',
    timestamp: at(hour),
    metadata: { user_id: user, model },
  });
  await record([by('a', '10:10:00'), by('b', '10:40:00'), by('c', '11:05:00', 'm2'), by('a', '11:20:00')]);
  const [alone = ''] = await record([{ meter: calls, customer: 'leaving', timestamp: at('10:00:00'), quantity: '7' }]);
  await billing.moveTo('2024-04-01T00:10:00Z', subscription);
  const [march] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(march.total).toBe('20.00');
  // After it was billed. Nothing of its hour counts any more.
  await billing.post(`/events/${alone}/void`, { reason: 'a test' }, 201);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  const usage = async (customer: string) => [
    await read(users, customer),
    await read(users, customer, '&group_by=hour'),
    await read(users, customer, '&group_by_metadata=model'),
    await read(calls, customer),
  ];
  const before = await usage('leaving');
  expect(before[0].total_usage).toBe('3');
  const again = async () => await billing.post(`/invoices/${march.id}/recompute`, { from: 'rollups' });
  const recomputed = await again();
  expect(recomputed.identical).toBe(true);

  await detach();
  const asked = await billing.post('/erasures', { customer_external_id: 'leaving' }, 202);
  await performAllMoves(database);
  expect(await billing.get(`/erasures/${asked.id}`)).toMatchObject({ status: 'DONE', events: 0 });
  expect(await usage(asked.external_id)).toEqual(before);
  expect(await again()).toEqual(recomputed);
  // Of what was counted and billed.
  const { rows } = await weir.pool.query(`SELECT FROM late_events WHERE customer_external_id = 'leaving'`);
  expect(rows).toEqual([]);
});
