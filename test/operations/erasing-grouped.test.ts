// What usage is grouped by, and an erasure: what names the customer there is not kept, whenever it has come there.

import { performMoves } from '@weir/db/moves/perform-moves';
import { readMovesOldestSeconds } from '@weir/db/moves/usage-moves';
import { createLog } from '@weir/shared/log';
import { deletingTasks } from '@weir/worker/deleting';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { untilGrouped } from '../support/until-grouped.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const EMAIL = 'ada@lovelace.example';

const weir = ownWeir();
let billing: Invoicing;
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string };
beforeAll(async () => {
  billing = await startInvoicing(weir);
});
afterAll(() => billing.close());
beforeEach(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  meter = await admin.createMeter('SUM');
});

async function track(customer_external_id: string, mail: string, hour = '10'): Promise<string> {
  const timestamp = `2025-01-05T${hour}:00:00Z`;
  const body = { meter_token: meter.token, customer_external_id, quantity: 1, timestamp, metadata: { mail } };
  const { status, body: answer } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  expect(status).toBe(201);
  await weir.drained();
  return answer.id;
}

async function groupBy(...metadata_keys: string[]): Promise<void> {
  expect((await admin.ask('PATCH', `/meters/${meter.id}`, { metadata_keys })).status).toBe(200);
}

async function erase(customer: string): Promise<string> {
  const { status, body } = await admin.ask('POST', '/erasures', { customer_id: customer });
  expect(status).toBe(202);
  return body.id;
}

const look = (isRecorded = true) => performMoves(billing.database, 60_000, () => Promise.resolve(isRecorded), throwIt);

/** It goes on to its end once the meter has lost the key, and then nothing has the name. */
async function expectToWaitForKey(erasure: string): Promise<void> {
  expect(await look()).toEqual([]);
  const { body } = await admin.ask('GET', `/erasures/${erasure}`);
  expect(body).toMatchObject({ status: 'RUNNING', grouped_meter_id: meter.id });
  await groupBy();
  await untilGrouped(weir);
  await performAllMoves(billing.database);
  const done = (await admin.ask('GET', `/erasures/${erasure}`)).body;
  expect(done).toMatchObject({ status: 'DONE', grouped_meter_id: null });
  expect((await findInTables(weir, EMAIL)).filter((row) => row.includes(admin.id))).toEqual([]);
  await expectRollupsToEqualEvents(weir.pool);
}

test('of a day with more groups than are kept, what has none of its own names the customer no more', async () => {
  await weir.pool.query(`CREATE OR REPLACE FUNCTION metadata_groups_max() RETURNS integer LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN 1`);
  await groupBy('mail');
  await track('eve', 'eve@example.com');
  await track('ada', EMAIL);
  const voided = await track('ada', EMAIL, '12');
  expect((await admin.ask('POST', `/events/${voided}/void`, { reason: 'twice' })).status).toBe(201);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  await expectToWaitForKey(await erase(id));
  await weir.pool.query(`CREATE OR REPLACE FUNCTION metadata_groups_max() RETURNS integer LANGUAGE sql IMMUTABLE
    PARALLEL SAFE RETURN 1000`);
});

test('of void events, which are in no group, nothing is kept that names the customer', async () => {
  await groupBy('mail');
  for (const hour of ['10', '12']) {
    const voided = await track('ada', 'ada@elsewhere.example', hour);
    expect((await admin.ask('POST', `/events/${voided}/void`, { reason: 'twice' })).status).toBe(201);
  }
  // Beside one that counts, and alone in its hour.
  await track('ada', 'office@elsewhere.example');
  // No group has it, as of a day with more than are kept.
  await weir.pool.query(`DELETE FROM metadata_groups WHERE 'ada@elsewhere.example' = ANY (group_values)`);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: 'ada@elsewhere.example' })).body;
  await erase(id);
  await performAllMoves(billing.database);
  expect((await findInTables(weir, 'ada@elsewhere')).filter((row) => row.includes(admin.id))).toEqual([]);
});

test.each([
  ['no key', []],
  ['another key', ['plan']],
])('a meter whose events are all void, and that has %s by now, keeps no name of the customer', async (_, keys) => {
  await groupBy('mail');
  const voided = await track('ada', EMAIL);
  expect((await admin.ask('POST', `/events/${voided}/void`, { reason: 'wrong data' })).status).toBe(201);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  expectProblem(await admin.ask('POST', '/erasures', { customer_id: id }), 409, 'grouped_by_customer');
  await groupBy(...keys);
  await untilGrouped(weir);
  await erase(id);
  await performAllMoves(billing.database);
  expect((await findInTables(weir, EMAIL)).filter((row) => row.includes(admin.id))).toEqual([]);
});

test('a key that a meter gets meanwhile keeps no name of the customer', async () => {
  await track('ada', EMAIL);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  const erasure = await erase(id);
  await groupBy('mail');
  await untilGrouped(weir);
  await expectToWaitForKey(erasure);
});

test('an event that was accepted before, and is recorded meanwhile, keeps no name of the customer', async () => {
  await groupBy('mail');
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  const erasure = await erase(id);
  expect(await look(false)).toEqual([]);
  await track('ada', EMAIL);
  await expectToWaitForKey(erasure);
});

test('a long name is looked for as groups have it', async () => {
  await groupBy('mail');
  const name = `Ada ${'of Lovelace '.repeat(20)}`;
  await track('eve', name);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', name })).body;
  expectProblem(await admin.ask('POST', '/erasures', { customer_id: id }), 409, 'grouped_by_customer');
});

test('a name that the customer got just before it is held is looked for among groups', async () => {
  await groupBy('mail');
  await track('eve', EMAIL);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'adele' })).body;
  const holder = await weir.pool.connect();
  await holder.query('BEGIN');
  await holder.query('UPDATE customers SET email = $2 WHERE id = $1', [id, EMAIL]);
  const erasing = admin.ask('POST', '/erasures', { customer_id: id });
  await untilWaiting(weir);
  await holder.query('COMMIT');
  holder.release();
  expectProblem(await erasing, 409, 'grouped_by_customer');
});

test('while usage is grouped without the key that was taken out, an erasure asks for no key any more', async () => {
  await track('ada', EMAIL);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  const erasure = await erase(id);
  await groupBy('mail');
  await untilGrouped(weir);
  await weir.pool.query(`UPDATE usage_moves SET created_at = created_at - interval '2 days' WHERE id = $1`, [erasure]);
  const waitedSeconds = () => readMovesOldestSeconds(billing.database.kysely);
  expect(await waitedSeconds()).toBeGreaterThan(86_400);
  expect(await look()).toEqual([]);
  expect(await waitedSeconds()).toBe(0);
  const waitsFor = async () => (await admin.ask('GET', `/erasures/${erasure}`)).body.grouped_meter_id;
  expect(await waitsFor()).toBe(meter.id);
  const holder = await weir.pool.connect();
  try {
    // It is not made while somebody else has it in hand. The worker may have been sooner.
    await until(async () => {
      await holder.query(
        'INSERT INTO metadata_backfills (organization_id, meter_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
        [admin.id, meter.id],
      );
      await holder.query('BEGIN');
      const { rowCount } = await holder.query('SELECT FROM metadata_backfills FOR UPDATE');
      if (rowCount === 0) await holder.query('ROLLBACK');
      return rowCount === 1;
    }, 'it is in hand');
    expect(await look()).toEqual([]);
    expect(await waitsFor()).toBeNull();
    expect(await waitedSeconds()).toBeGreaterThan(86_400);
  } finally {
    holder.release(true);
  }
  await untilGrouped(weir);
  // Another key was taken out: this one is there yet.
  await expectToWaitForKey(erasure);
});

test('an erasure that a worker of 1.0.0 has ended waits for no key, and its names are forgotten', async () => {
  await track('ada', EMAIL);
  const { id } = (await admin.ask('POST', '/customers', { external_id: 'ada', email: EMAIL })).body;
  const erasure = await erase(id);
  await weir.pool.query(
    'UPDATE usage_moves SET finished_at = now(), from_external_id = NULL, grouped_meter_id = $2 WHERE id = $1',
    [erasure, meter.id],
  );
  const { body } = await admin.ask('GET', `/erasures/${erasure}`);
  expect(body).toMatchObject({ status: 'DONE', grouped_meter_id: null });
  const log = createLog('worker', 'silent');
  await deletingTasks({ database: billing.database, auditLogDays: 0, log }).endedErasures?.perform(() => true);
  const { rows } = await weir.pool.query('SELECT name_hashes, grouped_meter_id FROM usage_moves WHERE id = $1', [
    erasure,
  ]);
  expect(rows).toEqual([{ name_hashes: null, grouped_meter_id: null }]);
});
