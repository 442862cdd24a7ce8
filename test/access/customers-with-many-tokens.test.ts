// A key that has leaked may have asked for very many widget tokens of one customer: what ends them holds the customer no longer for that.

import { endWidgetTokens, deleteExpiredWidgetTokens } from '@weir/db/widget-tokens';
import type { Database } from '@weir/db/database';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findInTables, performAllMoves } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const TOKENS = 20_000;

const weir = ownWeir({ withWorker: false, unobserved: true });
let organization: Organization;
let database: Database;
let apiKey: string;

beforeAll(async () => {
  organization = await signUp(weir);
  database = openTestDatabase(weir);
  apiKey = await organization.createKey();
});
afterAll(() => database.close());
beforeEach(() => weir.pool.query('TRUNCATE widget_tokens, ended_widget_tokens'));

const secretOf = (number: number) => `wgt_${String(number).padStart(43, 'A')}`;

/** A customer with many tokens, of which the n-th has the n-th secret. */
async function createCustomer(externalId: string): Promise<string> {
  const { status, body } = await call('POST', '/customers', { external_id: externalId, name: externalId });
  expect(status).toBe(201);
  await weir.pool.query(
    `INSERT INTO widget_tokens (token_hash, organization_id, api_key_id, customer_external_id, expires_at)
     SELECT sha256(convert_to('wgt_' || lpad(n::text, 43, 'A'), 'UTF8')), $1, (SELECT id FROM api_keys WHERE organization_id = $1), $2,
       now() + interval '1 hour' FROM generate_series(1, $3::int) AS n`,
    [organization.id, externalId, TOKENS],
  );
  return body.id;
}

const call = (method: string, path: string, body?: object) =>
  weir.request(method, `/api/v1${path}`, { session: organization.session, ...(body !== undefined && { body }) });
const show = (secret: string) =>
  weir.request('GET', '/api/v1/widget/usage', { headers: { authorization: `Bearer ${secret}` } });

/** Of all tokens many are left, and none opens anything. */
async function expectEnded(): Promise<void> {
  const { rows } = await weir.pool.query<{ n: number }>(
    `SELECT n FROM generate_series(1, $1::int) AS n WHERE sha256(convert_to('wgt_' || lpad(n::text, 43, 'A'), 'UTF8')) IN
       (SELECT token_hash FROM widget_tokens)`,
    [TOKENS],
  );
  expect(rows.length).toBeGreaterThan(TOKENS / 2);
  for (const row of [rows[0], rows.at(-1)]) expectProblem(await show(secretOf(row?.n ?? 0)), 401, 'unauthenticated');
}

test.each([
  ['PATCH', (id: string) => call('PATCH', `/customers/${id}`, { external_id: 'another' })],
  ['DELETE', (id: string) => call('DELETE', `/customers/${id}`)],
  ['a move', () => call('POST', '/usage-moves', { from_external_id: 'ends a move', to_external_id: 'elsewhere' })],
])('%s ends all tokens of the customer, and one that is made later opens what it is for', async (name, end) => {
  const id = await createCustomer(`ends ${name}`);
  expect((await show(secretOf(1))).status).toBe(200);
  expect((await end(id)).status).toBeLessThan(300);
  await expectEnded();
  await performAllMoves(database);
  const body = { customer_external_id: `ends ${name}` };
  const made = await weir.request('POST', '/api/v1/widget/token', { apiKey, body });
  expect(made.status).toBe(201);
  expect((await show(made.body.token)).status).toBe(200);

  await weir.pool.query(`UPDATE widget_tokens SET expires_at = now() - interval '1 s'`);
  await weir.pool.query(`UPDATE ended_widget_tokens SET expires_until = now() - interval '1 s'`);
  while ((await deleteExpiredWidgetTokens(database.kysely)) > 0);
  for (const table of ['widget_tokens', 'ended_widget_tokens'])
    expect((await weir.pool.query(`SELECT FROM ${table}`)).rowCount).toBe(0);
});

test('an erasure ends them at once, and at its end nothing names the customer', async () => {
  const id = await createCustomer('ada to be erased');
  const asked = await call('POST', '/erasures', { customer_id: id });
  expect(asked.status).toBe(202);
  await expectEnded();
  await performAllMoves(database);
  expect(await findInTables(weir, 'ada to be erased')).toEqual([]);
});

test('what is done while the customer is held does not grow with the tokens', async () => {
  await createCustomer('many');
  const read = await rowsReadBy(weir, ({ kysely }) =>
    kysely
      .transaction()
      .execute((transaction) =>
        endWidgetTokens(transaction, { organization_id: organization.id, customer_external_id: 'many' }),
      ),
  );
  expect(read).toBeLessThan(TOKENS / 4);
});
