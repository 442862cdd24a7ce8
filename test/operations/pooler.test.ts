// A pooler between Weir and Postgres: one that keeps sessions serves, one that shares them is refused by its name.

import { migrate } from '@weir/db/migrate';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { openPgbouncer, type Pgbouncer } from '../support/pgbouncer.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { queryOnce } from '../support/setup/query.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
beforeAll(async () => {
  // What comes with the start of a connection, a pooler drops or refuses: each connection has to set it all the same.
  const name = new URL(weir.databaseUrl).pathname.slice(1);
  for (const setting of ["timezone = 'Asia/Tokyo'", "datestyle = 'SQL, DMY'"])
    await queryOnce(weir.databaseUrl, `ALTER DATABASE ${name} SET ${setting}`);
});

test('a PgBouncer that keeps sessions is as good as Postgres itself', async () => {
  const pgbouncer = await openPgbouncer(weir.databaseUrl, 'session');
  try {
    await expect(migrate(pgbouncer.url)).resolves.toEqual({ applied: [] });
    const api = await weir.startApi({ DATABASE_URL: pgbouncer.url });
    const worker = await weir.startWorker({ DATABASE_URL: pgbouncer.url });
    const admin = await signUp(weir);
    const apiKey = await admin.createKey();
    const meter = await admin.createMeter('SUM');
    const send = (timestamp: string) =>
      weir.request('POST', '/api/v1/sdk/track', {
        baseUrl: api.url,
        apiKey,
        body: { meter_token: meter.token, customer_external_id: 'acme', quantity: 2, timestamp },
      });
    for (const timestamp of ['2026-03-03T23:30:00Z', '2026-03-04T00:30:00Z', '2026-03-04T16:00:00Z'])
      expect((await send(timestamp)).status).toBe(201);
    await weir.drained();
    const path = `/api/v1/meters/${meter.id}/usage?start_date=2026-03-03&end_date=2026-03-04&group_by=day`;
    const usage = await weir.request('GET', path, { baseUrl: api.url, apiKey });
    expect(usage).toMatchObject({
      status: 200,
      body: {
        grouped_data: [
          { period: '2026-03-03', usage: '2' },
          { period: '2026-03-04', usage: '4' },
        ],
      },
    });
    await api.close();
    await worker.close();
  } finally {
    await pgbouncer.close();
  }
});

describe.each(['transaction', 'statement'] as const)('a PgBouncer in %s mode is refused in one line', (mode) => {
  let pgbouncer: Pgbouncer;
  beforeAll(async () => {
    pgbouncer = await openPgbouncer(weir.databaseUrl, mode);
  });
  afterAll(() => pgbouncer.close());
  const line = /A pooler in front of Postgres \(PgBouncer\?\) .*pool_mode = session/;

  test('at the start of an API and of a worker', async () => {
    await expect(weir.startApi({ DATABASE_URL: pgbouncer.url })).rejects.toThrow(line);
    await expect(weir.startWorker({ DATABASE_URL: pgbouncer.url })).rejects.toThrow(line);
  });

  test('by the migration', async () => {
    const { code, out, err } = await runToEnd('packages/db/dist/migrate-main.js', { DATABASE_URL: pgbouncer.url });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(line);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test.each([
    ['apps/reconcile/dist/main.js', []],
    ['apps/admin/dist/main.js', ['list-users']],
  ])('by %s', async (program, args) => {
    const { REDIS_URL = '', QUEUE_PREFIX = '' } = weir.env;
    const env = { DATABASE_URL: pgbouncer.url, REDIS_URL, QUEUE_PREFIX };
    const { code, out, err } = await runToEnd(program, env, args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(line);
    expect(err.trimEnd()).not.toContain('\n');
  });
});
