// The list of events answers the same whether what it asks for is rare, and looked up, or frequent, and found on the way.

import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Organization, type Weir } from '../support/harness.ts';

interface Listed {
  id: string;
  meter: string;
  customer: string;
}

let weir: Weir;
let admin: Organization;
let one: string;
let other: string;
const recorded: Listed[] = [];

beforeAll(async () => {
  weir = await startWeir({ withWorker: false });
  admin = await signUp(weir);
  one = (await admin.createMeter('SUM')).id;
  other = (await admin.createMeter('SUM')).id;
  const stranger = await signUp(weir);
  const theirs = (await stranger.createMeter('SUM')).id;
  const record = (organizationId: string, listed: Listed[]) =>
    recordEvents(
      weir.pool,
      listed.map(({ id, meter, customer }, index) => ({
        event: {
          id,
          organization_id: organizationId,
          meter_id: meter,
          customer_external_id: customer,
          quantity: '1',
          // Some come in late, on other days than the events around them.
          timestamp: new Date(Date.UTC(2025, 10, 1 + (index % 9), index % 24, 59, 59, index % 1000)).toISOString(),
        },
        countsUniqueValues: false,
      })),
    );
  const batchOf = (size: number, who: (index: number) => [meter: string, customer: string]): Listed[] =>
    Array.from({ length: size }, (_, index) => {
      const [meter, customer] = who(index);
      return { id: newId(), meter, customer };
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
afterAll(() => weir.close());

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

const filters: [string, () => { meter_id?: string; customer_external_id?: string }][] = [
  ['a rare customer', () => ({ customer_external_id: 'rare' })],
  ['a frequent customer', () => ({ customer_external_id: 'frequent' })],
  ['a customer that has no events', () => ({ customer_external_id: 'nobody' })],
  ['a rare meter', () => ({ meter_id: other })],
  ['a frequent meter', () => ({ meter_id: one })],
  ['a rare customer of a frequent meter', () => ({ meter_id: one, customer_external_id: 'rare' })],
  ['a frequent customer of a frequent meter', () => ({ meter_id: one, customer_external_id: 'frequent' })],
  ['a frequent customer of another meter', () => ({ meter_id: other, customer_external_id: 'frequent' })],
  ['anybody', () => ({})],
];

test.each(filters)('the events of %s come newest first, page by page', async (_, filterOf) => {
  const filter = filterOf();
  const expected = recorded
    .filter(
      ({ meter, customer }) =>
        meter === (filter.meter_id ?? meter) && customer === (filter.customer_external_id ?? customer),
    )
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  expect(await list(filter, 4, 5)).toEqual(expected.slice(0, 20));
  expect(await list({ ...filter, status: 'recorded' }, 100, 1)).toEqual(expected.slice(0, 100));
});
