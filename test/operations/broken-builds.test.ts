// Builds that break a promise (docs/chaos.md) still break it: a run of one that does nothing would find nothing, and prove nothing. Those
// that chaos.test.ts runs are left out. What they replace is put back: other files go on in this process.

import { countAccepted } from '@weir/db/accepted';
import { insertPerhapsStaged } from '@weir/db/perhaps-staged';
import { BARRIER } from '@weir/db/standby';
import { admit, type Candidate } from '@weir/queue/admit';
import { disconnect, openProducer, untilReady } from '@weir/queue/connection';
import { digest } from '@weir/shared/hash';
import { newId } from '@weir/shared/ids';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach, expect, inject, onTestFinished, test } from 'vitest';
import { runToEnd } from '../support/run-to-end.ts';
import { createTestDatabase } from '../support/setup/database.ts';

const before = ['eval', 'evalsha', 'call', 'wait'].map((name) => [name, Reflect.get(Redis.prototype, name)] as const);
const query = pg.Client.prototype.query;
afterEach(() => {
  for (const [name, command] of before) Reflect.set(Redis.prototype, name, command);
  pg.Client.prototype.query = query;
});

test('held-unwritten and no-wait take for copied what no replica has', async () => {
  const address = { url: inject('redisUrl'), prefix: `{weir-broken-${randomBytes(6).toString('hex')}}` };
  const [alone, copied] = [address, { ...address, copies: 2 }].map((each) => openProducer(each, 6_000, () => {}));
  if (alone === undefined || copied === undefined) throw new Error('there are two');
  onTestFinished(async () => {
    await alone.redis.unlink(...(await alone.redis.keys(`${address.prefix}*`)));
    for (const queue of [alone, copied]) disconnect(queue);
  });
  for (const queue of [alone, copied]) await untilReady(queue, 30_000);
  const give = (key: string, queue = copied) => {
    const claim = { key: alone.keys.claim('', '', key), fingerprint: digest(key) };
    const candidate: Candidate = { id: newId(), event: '{}', sender: null, claim };
    return admit(queue, newId(), [candidate], 60);
  };
  expect(await give('held', alone)).toEqual([{ outcome: 'staged' }]);
  await import('../../chaos/broken/held-unwritten-main.ts');
  expect(await give('held')).toMatchObject([{ outcome: 'held' }]);
  // What writes something asks a replica still.
  await expect(give('new')).rejects.toMatchObject({ fields: { outcome: 'unknown' } });
  await import('../../chaos/broken/no-wait-main.ts');
  expect(await give('newer')).toEqual([{ outcome: 'staged' }]);
});

test('no-barrier waits for no standby, and direct-uncounted counts nothing', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  // A connection each: another text by the name of one that it knows would be refused.
  const connect = async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  const event = {
    id: newId(),
    organization_id: newId(),
    meter_id: newId(),
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: '2026-01-01T00:00:00Z',
    aggregation: 'SUM' as const,
  };
  const counted = async () => {
    const client = await connect();
    await client.query('BEGIN');
    await countAccepted(client, [event]);
    await insertPerhapsStaged(client, [event]);
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM accepted_events) AS accepted,
         (SELECT count(*)::int FROM perhaps_staged_events) AS perhaps`,
    );
    await client.query('ROLLBACK');
    return rows;
  };
  expect(await counted()).toEqual([{ accepted: 1, perhaps: 1 }]);
  await import('../../chaos/broken/no-barrier-main.ts');
  const client = await connect();
  expect((await client.query(BARRIER)).rows).toEqual([{ '?column?': 1 }]);
  await import('../../chaos/broken/direct-uncounted-main.ts');
  expect(await counted()).toEqual([{ accepted: 0, perhaps: 0 }]);
});

test.each(['direct-new-ids', 'claim-first'])('%s takes the place of what it breaks', async (build) => {
  // It ends with an error where it does not.
  const { code, err } = await runToEnd(`chaos/dist/broken/${build}-main.js`, {});
  expect(code, err).toBe(0);
});
