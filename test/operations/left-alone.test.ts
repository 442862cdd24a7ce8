// What deleting reads again and again of what is kept, and that one whose look fails does not hold up the others.

import { deleteOfEach, LeftAlone } from '@weir/db/left-alone';
import { deleteOldRequestKeys } from '@weir/db/request-keys';
import { deleteOldDeliveries } from '@weir/db/webhooks/deliveries';
import { newId } from '@weir/shared/ids';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false, unobserved: true });

test('an endpoint without too many deliveries is not counted again, and what is too old goes all the same', async () => {
  const { id: organization, session } = await signUp(weir);
  const body = { url: 'https://example.com/hook' };
  const endpoint = (await weir.request('POST', '/api/v1/webhook-endpoints', { session, body })).body.id;
  const insert = (count: number, days: number) =>
    weir.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, status, created_at)
       SELECT $1, gen_random_uuid(), $2, 'DELIVERED', now() - make_interval(days => $4) FROM generate_series(1, $3::int)`,
      [organization, endpoint, count, days],
    );
  await insert(5_000, 1);
  const leftAlone = new LeftAlone();
  const look = () => rowsReadBy(weir, ({ kysely }) => deleteOldDeliveries(kysely, leftAlone, 5_000));
  expect(await look()).toBeGreaterThanOrEqual(5_000);
  await insert(3, 400);
  expect(await look()).toBeLessThan(200);
  const { rowCount } = await weir.pool.query('SELECT FROM webhook_deliveries WHERE endpoint_id = $1', [endpoint]);
  expect(rowCount).toBe(5_000);
});

/** Keys of two days ago, each a moment before the last one. */
const insertKeys = (organizationId: string, count: number) =>
  weir.pool.query(
    `INSERT INTO request_keys (organization_id, key_hash, request_hash, status, withheld, created_at)
     SELECT $1, sha256(convert_to(n::text, 'UTF8')), '', 201, '{}', now() - interval '2 days' - n * interval '1 second'
     FROM generate_series(1, $2::int) AS n`,
    [organizationId, count],
  );

test('an organization that keeps less than its share of keys is not added up again', async () => {
  const { id } = await signUp(weir);
  await insertKeys(id, 20_000);
  const leftAlone = new LeftAlone();
  const look = () => rowsReadBy(weir, ({ kysely }) => deleteOldRequestKeys(kysely, leftAlone));
  expect(await look()).toBeGreaterThanOrEqual(20_000);
  expect(await look()).toBeLessThan(200);
});

test('whether one of thousands of organizations keeps too many keys is asked by a few statements', async () => {
  await weir.pool.query(
    `INSERT INTO organizations (id, name) SELECT gen_random_uuid(), 'Organization ' || n FROM generate_series(1, 3000) AS n`,
  );
  const { id } = await signUp(weir);
  await insertKeys(id, 5_000);
  const database = openTestDatabase(weir);
  onTestFinished(() => database.close());
  let statements = 0;
  const counted = database.kysely.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  const leftAlone = new LeftAlone();
  expect(await deleteOldRequestKeys(counted, leftAlone, 1_000_000)).toBeGreaterThan(1_000);
  expect(statements).toBeLessThan(100);
  const { rows } = await weir.pool.query('SELECT count(*)::int AS keys FROM request_keys WHERE organization_id = $1', [
    id,
  ]);
  expect(rows[0].keys).toBe(Math.floor(1_000_000 / 300));
});

test('one of which the look takes too long does not keep the others from their turn', async () => {
  const late = new pg.DatabaseError(newId(), 0, 'error');
  late.code = '57014';
  const done: number[] = [];
  const all = deleteOfEach([1, 2, 3], async (item) => {
    if (item === 1) throw late;
    return done.push(item);
  });
  await expect(all).rejects.toBe(late);
  expect(done).toEqual([2, 3]);
});
