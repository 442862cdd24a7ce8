// Events that are void are in no rollup, so they are not found by the hours that are moved.

import { performMoves } from '@weir/db/moves/perform-moves';
import type { Database } from '@weir/db/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const OTHERS = 20_000;

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
let admin: Organization;

/** Three events of each, in hours of their own. The last one of some is void. */
const CUSTOMERS = ['moved', 'erased', 'moved with a void one', 'erased with a void one'];

beforeAll(async () => {
  database = openTestDatabase(weir);
  admin = await signUp(weir);
  await recordAll();
  const { rows } = await weir.pool.query<{ id: string; customer: string }>(
    `SELECT id, customer_external_id AS customer FROM events WHERE quantity = 3 AND customer_external_id LIKE '% with a void one'`,
  );
  for (const { id, customer } of rows) await post(`/events/${id}/void`, { reason: `a mistake of ${customer}` }, 201);
  // Of events of others, in a month that was taken out.
  await weir.pool.query(
    `INSERT INTO corrections (organization_id, event_id, id, reason, closing, actor)
     SELECT $1, gen_random_uuid(), gen_random_uuid(), 'a wrong import', 0, 'weir' FROM generate_series(1, $2::int)`,
    [admin.id, OTHERS],
  );
});
afterAll(() => database.close());

async function recordAll(): Promise<void> {
  const { token } = await admin.createMeter('SUM');
  const events = CUSTOMERS.flatMap((customer_external_id) =>
    [1, 2, 3].map((day) => {
      return { meter_token: token, customer_external_id, quantity: day, timestamp: `2025-01-0${day}T12:00:00Z` };
    }),
  );
  const worker = await weir.startWorker();
  const apiKey = await admin.createKey();
  const { status } = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
  expect(status).toBe(201);
  await weir.drained();
  await worker.close();
}

const post = (path: string, body: object, status = 202) => admin.call('POST', path, body, status);

const move = (from_external_id: string) => post('/usage-moves', { from_external_id, to_external_id: 'other' });
const erase = (customer_external_id: string) => post('/erasures', { customer_external_id });

const rowsOfAll = () => rowsReadBy(weir, performAllMoves);

test('a move of what has no void event reads its own, however many corrections others have', async () => {
  await move('moved');
  const rows = await rowsReadBy(weir, async (measured) => {
    expect(await performMoves(measured, 10_000, () => Promise.resolve(true), throwIt)).toHaveLength(1);
  });
  expect(rows).toBeLessThan(1_000);
  const { rowCount } = await weir.pool.query(`SELECT FROM events WHERE customer_external_id = 'moved'`);
  expect(rowCount).toBe(0);
});

test('so does an erasure', async () => {
  await erase('erased');
  expect(await rowsOfAll()).toBeLessThan(2_000);
  expect(await findInTables(weir, '"erased"')).toEqual([]);
});

test('what is void goes with the rest, and nothing that was said about it names an erased customer', async () => {
  await move('moved with a void one');
  await erase('erased with a void one');
  await performAllMoves(database);
  const { rows } = await weir.pool.query(
    `SELECT customer_external_id LIKE 'erased-%' AS is_erased, reason FROM events JOIN corrections ON event_id = events.id ORDER BY 1`,
  );
  expect(rows).toEqual([
    { is_erased: false, reason: 'a mistake of moved with a void one' },
    { is_erased: true, reason: '[erased]' },
  ]);
  expect(await findInTables(weir, 'erased with a void one')).toEqual([]);
});
