// A Postgres that somebody has set up for something else: nothing that Weir writes or reads is another thing there.

import { migrate } from '@weir/db/migrate';
import { beforeAll, expect, inject, test } from 'vitest';
import { expectBalance, makeTenant, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { createDatabase } from '../support/setup/database.ts';
import { queryOnce, withDatabase } from '../support/setup/query.ts';
import { ownWeir } from '../support/use-weir.ts';

/** What a role or a database may have set, and what would change or refuse what is written. */
const SETTINGS = [
  'array_nulls = off',
  "default_transaction_isolation = 'repeatable read'",
  'standard_conforming_strings = off',
  'transform_null_equals = on',
  "datestyle = 'SQL, DMY'",
  "intervalstyle = 'sql_standard'",
  "timezone = 'Asia/Tokyo'",
  "bytea_output = 'escape'",
  'extra_float_digits = -15',
  'quote_all_identifiers = on',
  "plan_cache_mode = 'force_custom_plan'",
  "client_encoding = 'LATIN1'",
];

/** So that both are written in the same way. */
const AS_IT_IS =
  'SET quote_all_identifiers = off; SET timezone = UTC; SET datestyle = ISO; SET intervalstyle = postgres; SET standard_conforming_strings = on;';

const setAll = async (databaseUrl: string) => {
  const name = new URL(databaseUrl).pathname.slice(1);
  for (const setting of SETTINGS) await queryOnce(databaseUrl, `ALTER DATABASE ${name} SET ${setting}`);
};

const weir = ownWeir({ withWorker: false });
let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant(weir);
  await setAll(weir.databaseUrl);
  // Those who connect from now on find it so.
  await weir.startWorker();
});

test('events with and without key and metadata are recorded, read and reconciled as ever', async () => {
  const api = await weir.startApi();
  const track = (event: object) =>
    weir.request('POST', '/api/v1/sdk/track', {
      baseUrl: api.url,
      apiKey: tenant.apiKey,
      body: { meter_token: tenant.sum.token, customer_external_id: 'NULL', quantity: 1.5, ...event },
    });
  const metadata = { note: 'C:\\temp "ü" \u20ac', nothing: null };
  const ids: string[] = [];
  for (const event of [
    {},
    { idempotency_key: 'a\\b', metadata, timestamp: '2026-03-04T05:06:07.000008+09:00' },
    { idempotency_key: 'NULL' },
    { metadata: { user_id: 'u' }, meter_token: tenant.users.token },
  ]) {
    const { status, body } = await track(event);
    expect(status).toBe(201);
    ids.push(body.id);
  }
  await weir.drained();
  const read = (path: string) => weir.request('GET', `/api/v1${path}`, { baseUrl: api.url, apiKey: tenant.apiKey });
  const receipts = await Promise.all(ids.map(async (id) => (await read(`/events/${id}`)).body));
  expect(receipts.map(({ status }) => status)).toEqual(ids.map(() => 'recorded'));
  expect(receipts[0]).toMatchObject({ idempotency_key: null, metadata: null, customer_external_id: 'NULL' });
  const timestamp = '2026-03-03T20:06:07.000008Z';
  expect(receipts[1]).toMatchObject({ idempotency_key: 'a\\b', metadata, timestamp });
  expect(receipts[2]).toMatchObject({ idempotency_key: 'NULL', metadata: null });
  const usage = await read(`/meters/${tenant.sum.id}/usage?start_date=2026-03-03&end_date=2026-03-03`);
  expect(usage.body).toMatchObject({ total_usage: '1.5', event_count: 1 });

  // And one more time after Redis has lost the claim.
  await weir.redis.unlink(await weir.claim(tenant.id, 'NULL'));
  const again = await track({ idempotency_key: 'NULL' });
  await weir.drained();
  expect((await read(`/events/${again.body.id}`)).body).toMatchObject({ status: 'duplicate', duplicate_of: ids[2] });
  await expectRollupsToEqualEvents(weir.pool);
  const database = openTestDatabase(weir);
  try {
    await expectBalance(weir, database, tenant.id, { accepted: 5, recorded: 4, duplicate: 1, rejected: 0, queued: 0 });
  } finally {
    await database.close();
  }
});

test('an empty database is migrated to the same schema', async () => {
  const { url, drop } = await createDatabase();
  try {
    await setAll(url);
    await migrate(url);
    const schema = `SELECT c.relname, a.attname, pg_get_expr(d.adbin, d.adrelid) AS value, pg_get_expr(c.relpartbound, c.oid) AS bound
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON (d.adrelid, d.adnum) = (c.oid, a.attnum)
      WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 ORDER BY 1, 2`;
    const functions = `SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2`;
    for (const question of [schema, functions]) {
      const read = async (of: string) => (await queryOnce(of, `${AS_IT_IS} ${question}`)) as unknown;
      expect(rowsOf(await read(url))).toEqual(rowsOf(await read(withDatabase(url, inject('templateDatabase')))));
    }
  } finally {
    await drop();
  }
});

/** Of the last of several statements. */
function rowsOf(results: unknown): unknown[] {
  const last = Array.isArray(results) ? (results.at(-1) as unknown) : results;
  return (last as { rows: unknown[] }).rows;
}
