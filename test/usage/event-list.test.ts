// The list of events answers the same whether what it asks for is rare, and looked up, or frequent, and found on the way.

import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

interface Listed {
  id: string;
  meter: string;
  customer: string;
  timestamp: string;
}

const weir = sharedWeir();
let admin: Organization;
let one: string;
let other: string;
const recorded: Listed[] = [];

beforeAll(async () => {
  admin = await signUp(weir);
  one = (await admin.createMeter('SUM')).id;
  other = (await admin.createMeter('SUM')).id;
  const stranger = await signUp(weir);
  const theirs = (await stranger.createMeter('SUM')).id;
  const record = (organizationId: string, listed: Listed[]) =>
    recordEvents(
      weir.pool,
      listed.map(({ id, meter, customer, timestamp }) => ({
        event: {
          id,
          organization_id: organizationId,
          meter_id: meter,
          customer_external_id: customer,
          quantity: '1',
          timestamp,
        },
        countsUniqueValues: false,
      })),
    );
  const batchOf = (size: number, who: (index: number) => [meter: string, customer: string]): Listed[] =>
    Array.from({ length: size }, (_, index) => {
      const [meter, customer] = who(index);
      // They come in late, and each on another day than those around it.
      const time = Date.UTC(2025, 10, 1 + (index % 9), index % 24, 59, 59, index % 1000);
      return { id: newId(), meter, customer, timestamp: new Date(time).toISOString() };
    });
  for (let batch = 0; batch < 11; batch += 1) {
    const listed = batchOf(512, (index) => {
      if (index === 100) return [one, 'rare'];
      return index === 200 ? [other, 'rare'] : [one, 'frequent'];
    });
    await record(admin.id, listed);
    recorded.push(...listed);
  }
  await record(
    stranger.id,
    batchOf(5, () => [theirs, 'rare']),
  );
});

/** The ids of at most so many pages, each of which is asked for with the cursor of the one before. */
async function list(filter: Record<string, string>, limit: number, pagesMax: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = new URLSearchParams({ ...filter, limit: String(limit), ...(cursor !== null && { cursor }) });
    const answer = await weir.request('GET', `/api/v1/events?${query.toString()}`, { session: admin.session });
    expect(answer.status).toBe(200);
    ids.push(...answer.body.data.map(({ id }: { id: string }) => id));
    cursor = answer.body.meta.next_cursor;
    if (cursor === null) break;
  }
  return ids;
}

const filters: [string, () => Record<string, string>][] = [
  ['a rare customer', () => ({ customer_external_id: 'rare' })],
  ['a frequent customer', () => ({ customer_external_id: 'frequent' })],
  ['a customer that has no events', () => ({ customer_external_id: 'nobody' })],
  ['a rare meter', () => ({ meter_id: other })],
  ['a frequent meter', () => ({ meter_id: one })],
  ['a rare customer of a frequent meter', () => ({ meter_id: one, customer_external_id: 'rare' })],
  ['a frequent customer of a frequent meter', () => ({ meter_id: one, customer_external_id: 'frequent' })],
  ['a frequent customer of another meter', () => ({ meter_id: other, customer_external_id: 'frequent' })],
  ['anybody', () => ({})],
  ['one day', () => ({ start_date: '2025-11-03', end_date: '2025-11-03' })],
  ['the days before a time', () => ({ end_date: '2025-11-09T12:59:59.500Z' })],
  ['the days from a time on', () => ({ start_date: '2025-11-02T05:59:59.003+00:00' })],
  ['a few hours that cut days', () => ({ start_date: '2025-11-04T21:30:00Z', end_date: '2025-11-05T02:59:59.026Z' })],
  ['all of their time', () => ({ start_date: '2025-10-31', end_date: '2025-11-10' })],
  ['a time without events', () => ({ start_date: '2025-11-20' })],
  ['a frequent customer on some days', () => ({ customer_external_id: 'frequent', end_date: '2025-11-02' })],
  ['a rare meter from a time on', () => ({ meter_id: other, start_date: '2025-11-03T12:00:00Z' })],
];

/** A date is an end together with its day. */
const endOf = (text: string) => Date.parse(text) + (text.length === 10 ? 86_400_000 : 0);

test.each(filters)('the events of %s come newest first, page by page', async (_, filterOf) => {
  const filter = filterOf();
  const expected = recorded
    .filter(
      ({ meter, customer, timestamp }) =>
        meter === (filter['meter_id'] ?? meter) &&
        customer === (filter['customer_external_id'] ?? customer) &&
        (filter['start_date'] === undefined || Date.parse(timestamp) >= Date.parse(filter['start_date'])) &&
        (filter['end_date'] === undefined || Date.parse(timestamp) < endOf(filter['end_date'])),
    )
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  expect(await list(filter, 4, 5)).toEqual(expected.slice(0, 20));
  expect(await list({ ...filter, status: 'recorded' }, 100, 1)).toEqual(expected.slice(0, 100));
});

test('what is read of a window that lies far back does not depend on the way it is found', async () => {
  // So many are newer than the window that it is looked up, however frequent it is.
  const newer = Array.from({ length: 6_000 }, () => newId());
  await recordEvents(
    weir.pool,
    newer.map((id) => ({
      event: {
        id,
        organization_id: admin.id,
        meter_id: one,
        customer_external_id: 'frequent',
        quantity: '1',
        timestamp: '2026-01-01T00:00:00.000Z',
      },
      countsUniqueValues: false,
    })),
  );
  const expected = recorded
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  expect(await list({ end_date: '2025-11-30' }, 100, 2)).toEqual(expected.slice(0, 200));
  expect(await list({ start_date: '2025-12-01' }, 100, 1)).toEqual(newer.toSorted().toReversed().slice(0, 100));
});
