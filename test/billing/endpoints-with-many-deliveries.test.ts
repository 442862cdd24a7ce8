// A replay of a long feed makes very many deliveries: their endpoint is deleted at once all the same.

import type { Database } from '@weir/db/database';
import { deleteEndpoint, deleteGoneEndpoints } from '@weir/db/webhooks/webhook-endpoints';
import { findEndpointsWithWork, readWebhookState } from '@weir/db/webhooks/turns';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const DELIVERIES = 20_000;

const weir = ownWeir({ withWorker: false, unobserved: true });
let organization: Organization;
let database: Database;

beforeAll(async () => {
  organization = await signUp(weir);
  database = openTestDatabase(weir, 1);
});
afterAll(() => database.close());

/** An endpoint with many deliveries that wait. */
async function createEndpoint(deliveries = DELIVERIES): Promise<string> {
  const { status, body } = await organization.ask('POST', '/webhook-endpoints', {
    url: 'https://example.com/webhooks',
  });
  expect(status).toBe(201);
  await weir.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence, next_attempt_at)
     SELECT $1, gen_random_uuid(), $2, n, now() FROM generate_series(1, $3::int) AS n`,
    [organization.id, body.id, deliveries],
  );
  return body.id;
}

const countDeliveries = async (): Promise<number> =>
  (await weir.pool.query('SELECT count(*)::int AS count FROM webhook_deliveries')).rows[0].count;

test('from the 204 on nobody finds the endpoint or a delivery of it, and a worker deletes the rest', async () => {
  const id = await createEndpoint();
  expect((await organization.ask('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
  expect(await countDeliveries()).toBeGreaterThan(DELIVERIES / 2);
  const { rows } = await weir.pool.query<{ id: string }>('SELECT id FROM webhook_deliveries LIMIT 1');
  const asked: [method: string, path: string, body?: object][] = [
    ['GET', `/webhook-endpoints/${id}`],
    ['PATCH', `/webhook-endpoints/${id}`, { status: 'ACTIVE' }],
    ['DELETE', `/webhook-endpoints/${id}`],
    ['POST', `/webhook-endpoints/${id}/rotate`],
    ['POST', `/webhook-endpoints/${id}/replay`, { from: 1 }],
    ['POST', `/webhook-endpoints/${id}/test`],
    ['GET', `/webhook-endpoints/${id}/deliveries`],
    ['POST', `/deliveries/${rows[0]?.id}/retry`],
  ];
  for (const each of asked) expectProblem(await organization.ask(...each), 404, 'not_found');
  expect((await organization.ask('GET', '/webhook-endpoints')).body.data).toEqual([]);
  expect(await findEndpointsWithWork(database.kysely)).toEqual([]);
  expect(await readWebhookState(database.kysely)).toMatchObject({ disabled: 0, failing: 0, oldestSeconds: 0 });

  const left = await countDeliveries();
  for (let deleted = 0; deleted < left;) deleted += await deleteGoneEndpoints(database.kysely);
  expect(await countDeliveries()).toBe(0);
  expect((await weir.pool.query('SELECT FROM webhook_endpoints')).rowCount).toBe(0);
});

test('what deleting does in the request does not grow with the deliveries', async () => {
  const id = await createEndpoint();
  const read = await rowsReadBy(weir, ({ kysely }) =>
    kysely.transaction().execute((transaction) => deleteEndpoint(transaction, organization.id, id)),
  );
  expect(read).toBeLessThan(DELIVERIES / 4);
  // One that is marked takes no place of another.
  const { rows } = await weir.pool.query('SELECT FROM webhook_endpoints WHERE deleted_at IS NOT NULL');
  expect(rows).toHaveLength(1);
});

test('an endpoint with few deliveries is gone with them at once', async () => {
  await weir.pool.query('DELETE FROM webhook_endpoints');
  const id = await createEndpoint(999);
  expect((await organization.ask('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
  expect(await countDeliveries()).toBe(0);
  expect((await weir.pool.query('SELECT FROM webhook_endpoints')).rowCount).toBe(0);
});

test.each([1_001, 1])('no test of an endpoint is told that is deleted meanwhile: %i deliveries', async (deliveries) => {
  const id = await createEndpoint(deliveries);
  const { asked } = await database.kysely.transaction().execute(async (transaction) => {
    await deleteEndpoint(transaction, organization.id, id);
    const asked = organization.ask('POST', `/webhook-endpoints/${id}/test`);
    await until(
      async () =>
        (
          await weir.pool.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        ).rowCount === 1,
      'the test waits for the endpoint',
    );
    return { asked };
  });
  expectProblem(await asked, 404, 'not_found');
});
