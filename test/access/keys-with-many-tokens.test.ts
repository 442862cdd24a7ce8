// A key that has leaked may have asked for millions of widget tokens: it is revoked at once all the same.

import { deleteRevokedKeys, revokeApiKey } from '@weir/db/api-keys';
import type { Database } from '@weir/db/database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const TOKENS = 20_000;

const weir = ownWeir({ withWorker: false, unobserved: true });
let organization: Organization;
let database: Database;

beforeAll(async () => {
  organization = await signUp(weir);
  database = openTestDatabase(weir, 1);
});
afterAll(() => database.close());

const secretOf = (number: number) => `wgt_${String(number).padStart(43, 'A')}`;

/** A key with many tokens, of which the n-th has the n-th secret. */
async function createKey(tokens = TOKENS): Promise<{ id: string; key: string }> {
  await weir.pool.query('DELETE FROM widget_tokens');
  const { session } = organization;
  const body = { name: 'Leaked', scopes: ['usage.write', 'usage.read'] };
  const { id, key } = (await weir.request('POST', '/api/v1/api-keys', { session, body })).body;
  await weir.pool.query(
    `INSERT INTO widget_tokens (token_hash, organization_id, api_key_id, customer_external_id, expires_at)
     SELECT sha256(convert_to('wgt_' || lpad(n::text, 43, 'A'), 'UTF8')), $1, $2, 'ada', now() + interval '1 hour'
     FROM generate_series(1, $3::int) AS n`,
    [organization.id, id, tokens],
  );
  return { id, key };
}

/** The secrets of the tokens that are left. */
async function secretsLeft(): Promise<string[]> {
  const { rows } = await weir.pool.query<{ n: number }>(
    `SELECT n FROM generate_series(1, $1::int) AS n WHERE sha256(convert_to('wgt_' || lpad(n::text, 43, 'A'), 'UTF8')) IN
       (SELECT token_hash FROM widget_tokens)`,
    [TOKENS],
  );
  return rows.map(({ n }) => secretOf(n));
}

const show = (secret: string) =>
  weir.request('GET', '/api/v1/widget/usage', { headers: { authorization: `Bearer ${secret}` } });
const revoke = (id: string) => weir.request('DELETE', `/api/v1/api-keys/${id}`, { session: organization.session });

test('from the 204 on neither the key nor a token of it opens anything, and a worker deletes the rest', async () => {
  const { session } = organization;
  const { id, key } = await createKey();
  expect((await show(secretOf(1))).status).toBe(200);
  expect((await show(secretOf(TOKENS))).status).toBe(200);
  expect((await revoke(id)).status).toBe(204);
  const left = await secretsLeft();
  expect(left.length).toBeGreaterThan(TOKENS / 2);
  for (const secret of [left[0], left.at(-1)]) expectProblem(await show(secret ?? ''), 401, 'unauthenticated');
  expectProblem(await weir.request('GET', '/api/v1/features', { apiKey: key }), 401, 'unauthenticated');
  const listed = (await weir.request('GET', '/api/v1/api-keys', { session })).body.data;
  expect(listed).toEqual([]);
  expectProblem(await revoke(id), 404, 'not_found');

  let deleted = 0;
  while (deleted < left.length) deleted += await deleteRevokedKeys(database.kysely);
  expect((await weir.pool.query('SELECT FROM widget_tokens')).rowCount).toBe(0);
  expect((await weir.pool.query('SELECT FROM api_keys')).rowCount).toBe(0);
});

test('what revoking does in the request does not grow with the tokens', async () => {
  const { id } = await createKey();
  const read = await rowsReadBy(weir, ({ kysely }) =>
    kysely.transaction().execute((transaction) => revokeApiKey(transaction, organization.id, id)),
  );
  expect(read).toBeLessThan(TOKENS / 4);
});

test('processes of the version before find no such key either, and record nothing that came with it', async () => {
  const { id, key } = await createKey();
  const found = () => weir.pool.query(`SELECT FROM api_keys WHERE key_hash = sha256(convert_to($1, 'UTF8'))`, [key]);
  const records = () => weir.pool.query(`SELECT FROM api_keys WHERE id = $1 AND 'usage.write' = ANY (scopes)`, [id]);
  expect([(await found()).rowCount, (await records()).rowCount]).toEqual([1, 1]);
  expect((await revoke(id)).status).toBe(204);
  expect([(await found()).rowCount, (await records()).rowCount]).toEqual([0, 0]);
});

test('where somebody else deletes the same tokens, the rest is left to a worker all the same', async () => {
  const { id } = await createKey();
  const other = await weir.pool.connect();
  await other.query('BEGIN');
  await other.query(
    `DELETE FROM widget_tokens WHERE token_hash = ANY (ARRAY(
       SELECT token_hash FROM widget_tokens WHERE organization_id = $1 AND api_key_id = $2 LIMIT 1000))`,
    [organization.id, id],
  );
  const revoked = revoke(id);
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  try {
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the request waits for the other one');
  } finally {
    await other.query('COMMIT');
    other.release();
  }
  expect((await revoked).status).toBe(204);
  expect((await secretsLeft()).length).toBeGreaterThan(TOKENS / 2);
  while ((await deleteRevokedKeys(database.kysely)) > 0);
  expect((await weir.pool.query('SELECT FROM api_keys WHERE id = $1', [id])).rowCount).toBe(0);
});

test('a key with few tokens is gone with them at once', async () => {
  const { id } = await createKey(999);
  expect((await revoke(id)).status).toBe(204);
  expect((await weir.pool.query('SELECT FROM widget_tokens')).rowCount).toBe(0);
  expect((await weir.pool.query('SELECT FROM api_keys WHERE id = $1', [id])).rowCount).toBe(0);
});
