// Usage of a customer where a month of events was taken out of the database: what is read of single events of it cannot be told.

import { expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { detachMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });

const NEEDS_JANUARY = {
  status: 409,
  body: { code: 'month_taken_out', detail: expect.stringMatching(/attach events_2025_01/) },
};

test('usage of a customer is refused where events of hours that its zone cuts are taken out', async () => {
  await makeMonthsSince(weir, '2025-01-01');
  const admin = await signUp(weir);
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-12-31' WHERE id = $1`, [admin.id]);
  const meter = { id: (await admin.createMeter('SUM', undefined, ['model'])).id, aggregation: 'SUM' } as const;
  const customer = await admin.ask('POST', '/customers', { external_id: 'acme', name: 'Acme' });
  await recordUsed(weir, admin.id, [{ meter, customer: 'acme', at: '2025-01-15T18:45:00.000Z', quantity: 600 }]);
  await detachMonth(weir, '2025-01');

  const chart = (query: string, of = 'acme') =>
    admin.ask(
      'GET',
      `/meters/${meter.id}/usage?customer_external_id=${of}&start_date=2025-01-01&end_date=2025-01-31&${query}`,
    );
  for (const grouping of ['group_by=hour', 'group_by=day', 'group_by=day&group_by_metadata=model']) {
    expect(await chart(`timezone=Asia/Kolkata&${grouping}`)).toMatchObject(NEEDS_JANUARY);
    const whole = await chart(`timezone=Europe/Berlin&${grouping}`);
    expect(whole).toMatchObject({ status: 200, body: { total_usage: '600' } });
  }
  // It cuts no hour in which there was usage.
  expect(await chart('timezone=Asia/Kolkata&group_by=month')).toMatchObject({ body: { total_usage: '600' } });
  expect(await chart('timezone=Asia/Kolkata&group_by=hour', 'nobody')).toMatchObject({ body: { total_usage: '0' } });

  const onMeters = (start: string, end: string) =>
    admin.ask('GET', `/customers/${customer.body.id}/usage?start_date=${start}&end_date=${end}`);
  expect(await onMeters('2025-01-15T18:30:00Z', '2025-01-31')).toMatchObject(NEEDS_JANUARY);
  const whole = { status: 200, body: { data: [{ total_usage: '600' }] } };
  expect(await onMeters('2025-01-15T18:00:00Z', '2025-01-31')).toMatchObject(whole);
  expect(await onMeters('2025-01-15', '2025-01-15T18:50:00Z')).toMatchObject(whole);
  expect(await onMeters('2025-01-15', '2025-01-15T18:40:00Z')).toMatchObject(NEEDS_JANUARY);

  const apiKey = await admin.createKey();
  const of = { apiKey, body: { customer_external_id: 'acme' } };
  const { token } = (await weir.request('POST', '/api/v1/widget/token', of)).body;
  const days = 'start_date=2025-01-01&end_date=2025-01-31&timezone=Asia/Kolkata&group_by=day';
  for (const path of [
    `meters/${meter.id}/usage?${days}`,
    'usage?start_date=2025-01-15T18:30:00Z&end_date=2025-01-31',
  ]) {
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    const { status, body } = await weir.request('GET', `/api/v1/widget/${path}`, bearer);
    expect([status, body.code]).toEqual([409, 'month_taken_out']);
    expect(JSON.stringify(body), 'it is a customer that reads it').not.toMatch(/attach|database|events_/);
  }
});
