// What reading usage costs where Postgres knows nothing of the tables, or what they were long ago: no more than with statistics.

import { listRejections, listStoredEvents, type EventFilter } from '@weir/db/event-list';
import { insertFeature } from '@weir/db/features';
import { insertMeter } from '@weir/db/meters';
import { openDatabase, type Database } from '@weir/db/database';
import { insertOrganization } from '@weir/db/organizations';
import { recordEvents } from '@weir/db/record';
import { readGroupedUsage } from '@weir/db/usage/read-groups';
import { countEvents, findTopCustomers, readUsageOfMeters } from '@weir/db/usage/read-overview';
import { readMeterUsage, readUsageByCustomer, readUsageOfCustomer } from '@weir/db/usage/read-usage';
import { newId } from '@weir/shared/ids';
import type { AggregationType } from '@weir/shared/meter';
import { toEnd } from '@weir/shared/to-end';
import { planningWindow, type Window, type WindowQuery } from '@weir/shared/window';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsReadBy } from '../support/reading-effort.ts';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';

const CUSTOMERS = 2_000;
const MODELS = 50;

/** A read that grows with the square of its customers reads thousands of rows for each. */
const ROWS_MAX = 40 * CUSTOMERS;

const METERS = {
  sum: { aggregation: 'SUM', keys: [] },
  unique: { aggregation: 'UNIQUE_COUNT', keys: [] },
  grouped: { aggregation: 'SUM', keys: ['model'] },
  groupedUnique: { aggregation: 'UNIQUE_COUNT', keys: ['model'] },
} satisfies Record<string, { aggregation: AggregationType; keys: string[] }>;
type MeterName = keyof typeof METERS;

interface Scene {
  databaseUrl: string;
  pool: pg.Pool;
  organizationId: string;
  meters: Record<MeterName, string>;
}

/** All customers are busy on this day, so that it is worth most to cut. */
const WINDOWS: Record<string, Partial<WindowQuery>> = {
  'half a year by the month': { start_date: '2024-01-01', end_date: '2024-06-30', group_by: 'month' },
  'half a year by the hour, of a zone between quarters': {
    start_date: '2024-01-01',
    end_date: '2024-06-30',
    group_by: 'hour',
    timezone: 'Asia/Kathmandu',
  },
  'a month that ends within the busy day': {
    start_date: '2024-06-01',
    end_date: '2024-06-15T11:20:30.5Z',
    group_by: 'day',
  },
  'two days that end within the busy day': {
    start_date: '2024-06-14',
    end_date: '2024-06-15T11:20:30.5Z',
    group_by: 'hour',
  },
  'hours that begin within the busy day': { start_date: '2024-06-15T10:20:30Z', end_date: '2024-06-15T12:00:00Z' },
};

function windowOf(query: Partial<WindowQuery>): Window {
  const window = toEnd(planningWindow({ timezone: 'UTC', ...query }, Date.parse('2024-07-01T00:00:00Z')));
  if ('problem' in window) throw new Error(window.problem.message);
  return window;
}

async function organizationOf(database: Database): Promise<Pick<Scene, 'organizationId' | 'meters'>> {
  const organization_id = newId();
  await insertOrganization(database.kysely, { id: organization_id, name: 'O' });
  const meters: Partial<Record<MeterName, string>> = {};
  for (const [name, { aggregation, keys }] of Object.entries(METERS)) {
    const [id, feature_id] = [newId(), newId()];
    const feature = { organization_id, id: feature_id, name, lookup_key: name, type: 'meter' } as const;
    await insertFeature(database.kysely, feature);
    const meter = { organization_id, id, feature_id, name, meter_token: newId(), unit: null };
    await insertMeter(database.kysely, { ...meter, aggregation_type: aggregation, metadata_keys: [...keys] });
    meters[name as MeterName] = id;
  }
  return { organizationId: organization_id, meters: meters as Scene['meters'] };
}

/** One event of each customer on each meter, on one day. */
async function record(
  database: Database,
  { organizationId, meters }: Pick<Scene, 'organizationId' | 'meters'>,
  from: number,
  to: number,
): Promise<void> {
  for (const [name, meter_id] of Object.entries(meters)) {
    for (let start = from; start < to; start += 1_000) {
      const events = Array.from({ length: Math.min(1_000, to - start) }, (_, index) => {
        const n = start + index;
        return {
          event: {
            id: newId(),
            organization_id: organizationId,
            meter_id,
            customer_external_id: `customer-${n}`,
            quantity: '1',
            timestamp: new Date(Date.UTC(2024, 5, 15, 10 + (n % 3), n % 60, n % 59)).toISOString(),
            metadata: JSON.stringify({ user_id: `user-${n}`, model: `m${n % MODELS}` }),
          },
          countsUniqueValues: name.toLowerCase().endsWith('unique'),
        };
      });
      await recordEvents(database.pool, events);
    }
  }
}

type Load = (database: Database, pool: pg.Pool) => Promise<Pick<Scene, 'organizationId' | 'meters'>>;

/** What Postgres knows when a customer base has come in within seconds. */
const KNOWLEDGE: Record<string, Load> = {
  'no statistics at all': async (database) => {
    const made = await organizationOf(database);
    await record(database, made, 0, CUSTOMERS);
    return made;
  },
  'statistics of a hundredth of it': async (database, pool) => {
    const made = await organizationOf(database);
    await record(database, made, 0, CUSTOMERS / 100);
    await pool.query('ANALYZE');
    await record(database, made, CUSTOMERS / 100, CUSTOMERS);
    return made;
  },
  'statistics of another organization': async (database, pool) => {
    await record(database, await organizationOf(database), 0, CUSTOMERS / 10);
    await pool.query('ANALYZE');
    const made = await organizationOf(database);
    await record(database, made, 0, CUSTOMERS);
    return made;
  },
};

describe.each(Object.entries(KNOWLEDGE))('with %s', (_knowledge, load) => {
  let scene: Scene;
  let own: TestDatabase;
  beforeAll(async () => {
    own = await createTestDatabase({ unobserved: true });
    const pool = new pg.Pool({ connectionString: own.url, max: 1 });
    const database = openDatabase(own.url, { connectionsMax: 1, statementTimeoutMs: 0, onConnectionError: () => {} });
    scene = { databaseUrl: own.url, pool, ...(await load(database, pool)) };
    await database.close();
  });
  afterAll(async () => {
    await scene.pool.end();
    await own.drop();
  });

  const questionOf = (name: MeterName, window: Window) => {
    const { aggregation, keys } = METERS[name];
    const { organizationId, meters } = scene;
    return { organizationId, meterId: meters[name], aggregation, keys, window };
  };
  const names = Object.keys(METERS) as MeterName[];

  const reads: Record<string, (database: Database, window: Window) => Promise<unknown>> = {
    'the usage of a meter': async ({ pool }, window) => {
      for (const name of names) {
        const { total } = await readMeterUsage(pool, questionOf(name, window));
        expect(total.event_count).toBeGreaterThan(CUSTOMERS / 4);
      }
    },
    'the customers of a meter': async ({ pool }, window) => {
      for (const name of names) {
        const read = await readUsageByCustomer(pool, questionOf(name, window), { page: 2, page_size: 100 });
        expect(read.counted?.total).toBeGreaterThan(CUSTOMERS / 4);
      }
    },
    'the usage of a meter by group': async ({ pool }, window) => {
      for (const name of ['grouped', 'groupedUnique'] as const) {
        const groupBy = { key: 'model', limit: 20 };
        const read = await readGroupedUsage(pool, { ...questionOf(name, window), filters: [], groupBy });
        expect(read?.groups?.length).toBe(21);
      }
    },
    'the usage of a meter with a filter': async ({ pool }, window) => {
      for (const name of ['grouped', 'groupedUnique'] as const) {
        const filters = [{ key: 'model', value: 'm4' }];
        const read = await readGroupedUsage(pool, { ...questionOf(name, window), filters });
        expect(read?.total.event_count).toBeGreaterThan(0);
      }
    },
    'the usage of one customer': async ({ pool }, window) => {
      const customerExternalId = 'customer-4';
      const { organizationId } = scene;
      const ofMeters = await readUsageOfCustomer(pool, { organizationId, customerExternalId, window });
      expect(ofMeters.map(({ event_count }) => event_count)).toEqual(names.map(() => 1));
      for (const name of names) {
        const { total } = await readMeterUsage(pool, { ...questionOf(name, window), customerExternalId });
        expect(total.event_count).toBe(1);
      }
    },
  };

  describe.each(Object.entries(reads))('%s', (_read, read) => {
    test.each(Object.entries(WINDOWS))('of %s', async (_window, query) => {
      const window = windowOf(query);
      const rows = await rowsReadBy(scene, (database) => read(database, window));
      expect(rows).toBeLessThan(ROWS_MAX);
    });
  });

  test('the overview', async () => {
    const rows = await rowsReadBy(scene, async ({ pool }) => {
      const stretchOf = (start_date: string, end_date: string) => windowOf({ start_date, end_date });
      const now = stretchOf('2024-06-01', '2024-06-15T11:30:00Z');
      const before = stretchOf('2024-05-17', '2024-05-31');
      const days = [before.start, now.start];
      const counted = await countEvents(pool, scene.organizationId, { now, before, days });
      expect(counted?.meters.length).toBe(names.length);
      await readUsageOfMeters(pool, scene.organizationId, counted?.meters ?? [], now);
      const customers = await findTopCustomers(pool, scene.organizationId, now, 10);
      expect(customers?.length).toBe(10);
    });
    expect(rows).toBeLessThan(ROWS_MAX);
  });

  /** How many each finds. Whether what nothing is found by finds what there is, plans-of-kept-events.test.ts says. */
  const lists: Record<string, [filter: Partial<EventFilter>, found: number]> = {
    'all of them': [{}, 100],
    'of a meter': [{ meterId: 'sum' }, 100],
    'of a customer': [{ customerExternalId: 'customer-4' }, names.length],
    'of a meter and a customer': [{ meterId: 'sum', customerExternalId: 'customer-4' }, 1],
    'of an hour of the busy day': [{ since: '2024-06-15T11:00:00Z', until: '2024-06-15T12:00:00Z' }, 100],
    'of a meter, of before the busy day': [{ meterId: 'sum', until: '2024-06-15T00:00:00Z' }, 0],
    'with a key': [{ idempotencyKey: 'none has it' }, 0],
    'that were rejected': [{ status: 'rejected' }, 0],
    'that were rejected for a reason': [{ reason: 'it has no user_id', meterId: 'sum' }, 0],
  };

  test('each list of events', async () => {
    for (const [title, [filter, found]] of Object.entries(lists)) {
      const list = async (database: Database) => {
        const meterId = filter.meterId === undefined ? {} : { meterId: scene.meters.sum };
        const page = { limit: 100 };
        const events = await listStoredEvents(database, scene.organizationId, { ...page, ...filter, ...meterId });
        expect(events, title).toHaveLength(found);
        const rejections = await listRejections(database, scene.organizationId, { limit: 100, countedMax: 100 });
        expect(rejections).toEqual({ rejections: [], has_more: false });
      };
      const rows = await rowsReadBy(scene, list, { least: found });
      expect({ title, rows: rows < ROWS_MAX ? 'few' : rows }).toEqual({ title, rows: 'few' });
    }
  });
});
