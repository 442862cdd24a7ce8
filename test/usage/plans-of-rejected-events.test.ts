// What it costs to find few among very many rejected events of an organization: one service sends for a night what its meter does not take.

import { listRejections, listStoredEvents } from '@weir/db/event-list';
import type { Database } from '@weir/db/database';
import { expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const MANY = 10_000;
const FEW = 300;

const weir = ownWeir({ withWorker: false, unobserved: true });

test('few rejected events are found among very many of the organization, and those are counted in part', async () => {
  const own = await signUp(weir);
  const meters = {
    busy: (await own.createMeter('UNIQUE_COUNT')).id,
    quiet: (await own.createMeter('UNIQUE_COUNT')).id,
  };
  const reject = (meterId: string, reason: string, customer: string, key: string, count: number) =>
    weir.pool.query(
      `INSERT INTO rejected_events SELECT $1, overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid, $2::uuid, $3, $4, $5::json
       FROM generate_series(1, $6::int)`,
      [
        own.id,
        meterId,
        customer,
        reason,
        JSON.stringify({ idempotency_key: key, metadata: '{"idempotency_key":"no"}' }),
        count,
      ],
    );
  await reject(meters.busy, 'no user', 'common', 'often', 2 * MANY);
  await reject(meters.busy, 'another', 'common', 'often', 2);
  await reject(meters.quiet, 'no user', 'rare', 'says "once" \\', 3);
  const filters: [filter: object, found: number][] = [
    [{ customerExternalId: 'rare' }, 3],
    [{ customerExternalId: 'nobody' }, 0],
    [{ idempotencyKey: 'says "once" \\' }, 3],
    [{ idempotencyKey: 'no' }, 0],
    [{ meterId: meters.quiet }, 3],
    [{ reason: 'another' }, 2],
    [{ reason: 'no user', meterId: meters.quiet }, 3],
    [{ reason: 'another', meterId: meters.quiet }, 0],
  ];
  const read = async () => {
    for (const [filter, found] of filters) {
      const list = async (database: Database) => {
        expect(await listStoredEvents(database, own.id, { status: 'rejected', ...filter, limit: 20 })).toHaveLength(
          found,
        );
      };
      const rows = await rowsReadBy(weir, list, { least: found });
      expect(rows, JSON.stringify(filter)).toBeLessThan(FEW);
    }
    const counted = await rowsReadBy(weir, async (database) => {
      const { rejections, has_more } = await listRejections(database, own.id, { limit: 10, countedMax: FEW });
      expect([rejections.reduce((sum, { count }) => sum + count, 0), has_more]).toEqual([FEW, true]);
    });
    expect(counted).toBeLessThan(2 * FEW);
  };
  await read();
  await weir.pool.query('ANALYZE rejected_events');
  await read();
});
