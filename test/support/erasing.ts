// What tests of erasures and moves share: everything that is kept, as text, and who waits for a worker.

import { performMoves } from '@weir/db/moves/perform-moves';
import type { Database } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { loadSettings } from '@weir/shared/settings';
import { serveWorker } from '@weir/worker/serve';
import { workerSettings } from '@weir/worker/settings';
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { until, type Weir } from './harness.ts';
import type { Invoicing } from './invoicing.ts';

/** Where a text stands among all that Postgres keeps, as `table: row`. */
export async function findInTables({ pool }: Weir, ...texts: string[]): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT row_to_json(t)::text AS row FROM ${name} AS t WHERE EXISTS (
         SELECT FROM unnest($1::text[]) AS text WHERE strpos(row_to_json(t)::text, text) > 0)`,
      [texts],
    );
    found.push(...rows.map(({ row }) => `${name}: ${row}`));
  }
  return found;
}

/** The same among all that Redis keeps of this queue. */
export async function findInRedis({ redis, keys }: Weir, ...texts: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys(`${keys.prefix.replace(/[{}]/g, '\\$&')}*`)) {
    const text = `${key}: ${JSON.stringify(await contentOf(redis, key))}`;
    if (texts.some((each) => text.includes(each))) found.push(text);
  }
  return found;
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return await redis.get(key);
    case 'hash':
      return await redis.hgetall(key);
    case 'list':
      return await redis.lrange(key, 0, -1);
    case 'set':
      return await redis.smembers(key);
    case 'zset':
      return await redis.zrange(key, 0, '-1', 'WITHSCORES');
    case 'stream':
      return await redis.xrange(key, '-', '+');
    default:
      return null;
  }
}

/** Goes on with the moves of a database until none is left; everything that was accepted is recorded. */
export async function performAllMoves(database: Database): Promise<void> {
  for (let looks = 0; looks < 100; looks += 1) {
    await performMoves(database, 1_000, () => Promise.resolve(true), throwIt);
    const { rows } = await database.pool.query('SELECT FROM usage_moves WHERE finished_at IS NULL');
    if (rows.length === 0) return;
  }
  throw new Error('moves go on for ever');
}

export function throwIt(error: unknown): never {
  throw error;
}

/** An organization but for what processes bring along whenever they have time: what was accepted, and when keys were used last. */
export async function dumpOf(weir: Weir, organizationId: string): Promise<string[]> {
  const rows = await findInTables(weir, organizationId);
  return rows.filter((row) => !/^(accepted_events|api_keys):/.test(row)).toSorted();
}

interface Tracking {
  billing: Invoicing;
  track(events: Record<string, unknown>[]): Promise<{ id: string }[]>;
}

/** Corrects events of a customer in each way; all are alone in their hours, at the end of a period that is billed. */
export async function correctThree(
  { billing, track }: Tracking,
  { token, customer, says }: { token: string; customer: string; says: string },
): Promise<void> {
  const sent = await track(
    [11, 12, 13].map((hour) => ({
      meter_token: token,
      customer_external_id: customer,
      quantity: 1,
      timestamp: `2025-02-28T${hour}:59:00Z`,
      idempotency_key: `${says} ${hour}`,
      metadata: { user_id: 'ada-user 10', note: says },
    })),
  );
  const [voided = '', amended = '', inBulk = ''] = sent.map(({ id }) => id);
  const metadata = { user_id: 'ada-user 11', note: says };
  await billing.post(`/events/${voided}/void`, { reason: says }, 201);
  await billing.post(`/events/${amended}/amend`, { reason: says, metadata }, 201);
  await billing.post('/corrections', { corrections: [{ type: 'void', event_id: inBulk, reason: says }] }, 201);
}

/** By a worker: once for all that is alike, and by the age of the oldest for as long as it lasts. */
export async function expectToBeTold(weir: Weir, what: string): Promise<void> {
  const lines: { msg: string; alike?: number }[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]);
  const settings = loadSettings(workerSettings, { ...weir.env, MOVES_INTERVAL_MS: '100' });
  const worker = await serveWorker(settings, createLog('test', 'warn', [], { write }));
  const told = () => lines.filter(({ msg }) => msg.startsWith(what));
  await until(() => told().length > 1, 'it is told again');
  expect(
    told()
      .map(({ alike }) => alike)
      .slice(0, 2),
  ).toEqual([undefined, expect.any(Number)]);
  const { body } = await weir.request('GET', '/metrics', { baseUrl: worker.url });
  expect(Number(/^weir_moves_oldest_seconds (\S+)$/m.exec(body as string)?.[1])).toBeGreaterThan(0);
  await worker.close();
}
