// Who changes what is recorded by makes those that wait begin again. However often that happens, they have their turn.

import { recordDirectly } from '@weir/db/record-directly';
import { makeRecordersLookAgain } from '@weir/db/known-for-recording';
import { openTestDatabase } from '../support/test-database.ts';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '@weir/db/database';
import { signUp, until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;

beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

/** More than pass while something is recorded. */
const ROUNDS_MAX = 300;

test.each(['in a batch', 'directly'])('an event is recorded %s while corrections follow each other', async (way) => {
  const admin = await signUp(weir);
  const { id: meter } = await admin.createMeter('UNIQUE_COUNT');
  let [rounds, isRecorded] = [0, false];
  // Two at a time: one always waits behind the other, and each has whoever waits to record look again.
  const goOn = async () => {
    for (; !isRecorded && rounds < ROUNDS_MAX; rounds += 1)
      await database.kysely.transaction().execute((transaction) => makeRecordersLookAgain(transaction, admin.id));
  };
  const both = Promise.all([goOn(), goOn()]);
  await until(async () => rounds > 2, 'they follow each other');
  const event = {
    id: newId(),
    organization_id: admin.id,
    meter_id: meter,
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: '2025-07-01T12:00:00Z',
    metadata: '{"user_id":"ada"}',
  };
  const sent = { event: { ...event, aggregation: 'UNIQUE_COUNT' as const }, apiKeyId: null, fingerprint: '' };
  await (way === 'directly'
    ? recordDirectly(database, [sent], { isPerhapsStaged: false, claimsKeys: false })
    : recordEvents(database.pool, [{ event, countsUniqueValues: true }]));
  isRecorded = true;
  await both;
  expect(rounds).toBeLessThan(ROUNDS_MAX);
  const { rows } = await weir.pool.query('SELECT id FROM events WHERE organization_id = $1', [admin.id]);
  expect(rows).toEqual([{ id: event.id }]);
});
