// What is too old is deleted beside whoever needs it again: what it has become by then stays.

import type { Database, Queries } from '@weir/db/database';
import { LeftAlone } from '@weir/db/left-alone';
import { deleteOldRequestKeys, findRequestKey, insertRequestKey } from '@weir/db/request-keys';
import { deleteOldDeliveries, retryDelivery } from '@weir/db/webhooks/deliveries';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

/** Begins to delete while a change is not committed yet, and so waits for the row that it has changed. */
async function deleteBeside(
  change: (transaction: Queries) => Promise<unknown>,
  deleteOld: (db: Queries) => Promise<number>,
): Promise<number> {
  const deleting = await database.kysely.transaction().execute(async (transaction) => {
    await change(transaction);
    const begun = { deleted: deleteOld(database.kysely) };
    await untilWaiting(weir);
    return begun;
  });
  return await deleting.deleted;
}

test('a delivery that is asked for again while old ones are deleted is there, and is sent', async () => {
  const { id: organization, session } = await signUp(weir);
  const body = { url: 'https://example.com/hook' };
  const endpoint = (await weir.request('POST', '/api/v1/webhook-endpoints', { session, body })).body.id;
  const { rows } = await weir.pool.query<{ id: string }>(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, status, next_attempt_at, created_at)
     SELECT $1, gen_random_uuid(), $2, 'DELIVERED', now(), now() - make_interval(days => 400) FROM generate_series(1, 3)
     RETURNING id`,
    [organization, endpoint],
  );
  const [asked] = rows.map(({ id }) => id);
  const deleted = await deleteBeside(
    (transaction) => retryDelivery(transaction, organization, String(asked)),
    (db) => deleteOldDeliveries(db, new LeftAlone()),
  );
  const left = await weir.pool.query('SELECT id, status FROM webhook_deliveries WHERE endpoint_id = $1', [endpoint]);
  expect({ deleted, left: left.rows }).toEqual({ deleted: 2, left: [{ id: asked, status: 'PENDING' }] });
});

test.each([
  ['too old', '31 days', undefined],
  ['too many', '2 days', 1],
])('an Idempotency-Key that is used anew while keys that are %s are deleted is kept', async (_, age, shareBytesMax) => {
  const { id: organizationId } = await signUp(weir);
  const key = { organizationId, keyHash: Buffer.from(`key of ${age}`), requestHash: Buffer.from('asked for') };
  await weir.pool.query(
    `INSERT INTO request_keys (organization_id, key_hash, request_hash, status, answer, withheld, created_at)
     SELECT $1, hash, '', 201, '{}', '{}', now() - $3::interval FROM unnest(ARRAY[$2::bytea, 'other', 'third']) AS hash`,
    [organizationId, key.keyHash, age],
  );
  const kept = { status: 200, answer: '{"id":"anew"}', withheld: [] };
  let writtenAt: string | undefined;
  const deleted = await deleteBeside(
    async (transaction) => {
      // As if its 30 days were over meanwhile.
      await transaction
        .updateTable('request_keys')
        .set({ created_at: '2020-01-01T00:00:00Z' })
        .where('organization_id', '=', organizationId)
        .where('key_hash', '=', key.keyHash)
        .execute();
      writtenAt = await insertRequestKey(transaction, key, kept);
    },
    (db) => deleteOldRequestKeys(db, new LeftAlone(), shareBytesMax),
  );
  expect(deleted).toBe(2);
  expect(await findRequestKey(database.kysely, key)).toEqual({ outcome: 'same', kept, writtenAt });
  expect(writtenAt).toBeDefined();
});
