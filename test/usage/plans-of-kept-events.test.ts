// What it costs to find few among very many that are kept, where Postgres has not looked at the tables: duplicates of an import that was
// run again, groups of a meter, and what the feed told long ago.

import { listCorrections } from '@weir/db/corrections/corrections';
import { listRejections, listStoredEvents } from '@weir/db/event-list';
import { countRejected, findStoredEvent } from '@weir/db/events';
import type { Database } from '@weir/db/database';
import { settleHeld } from '@weir/db/held-keys';
import { requestErasure } from '@weir/db/moves/request-move';
import { recordEvents } from '@weir/db/record';
import { stageDeliveries, type HeldEndpoint } from '@weir/db/webhooks/turns';
import { startReplay } from '@weir/db/webhooks/webhook-endpoints';
import { newId } from '@weir/shared/ids';
import { beforeAll, expect, test } from 'vitest';
import { correct } from '../support/correcting.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { indexPagesReadBy, rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const MANY = 10_000;
const FEW = 300;

const weir = ownWeir({ withWorker: false, unobserved: true });
let admin: Organization;
let meter: string;
beforeAll(async () => {
  admin = await signUp(weir);
  meter = (await admin.createMeter('SUM')).id;
});

test('duplicates are found by customer, meter, idempotency key and time', async () => {
  const holder = newId();
  await weir.pool.query(`INSERT INTO idempotency_keys VALUES (idempotency_key_hash($1, 'once'), $2)`, [
    admin.id,
    holder,
  ]);
  await weir.pool.query(
    `INSERT INTO duplicate_events SELECT $1::uuid, lpad(to_hex(n), 32, '0')::uuid, CASE n WHEN 7 THEN $2::uuid ELSE $1 END, json_build_object(
       'id', n::text, 'meter_id', $3::text, 'customer_external_id', CASE n WHEN 5 THEN 'rare' ELSE 'common' END, 'quantity', '1',
       'timestamp', '2025-01-01T00:00:00.000000Z')::jsonb || jsonb_build_object('idempotency_key', CASE n WHEN 7 THEN 'once' ELSE 'often' END)
     FROM generate_series(1, ${MANY}) AS n`,
    [admin.id, holder, meter],
  );
  // As Postgres writes it where an event is recorded.
  await weir.pool.query(`UPDATE duplicate_events SET event = replace(event, '": ', '":') WHERE duplicate_of = $1`, [
    holder,
  ]);
  const page = { limit: 20 };
  for (const filter of [
    { customerExternalId: 'rare' },
    { customerExternalId: 'rare', meterId: meter },
    { idempotencyKey: 'once' },
    { idempotencyKey: 'once', meterId: meter },
  ]) {
    const rows = await rowsReadBy(weir, async (database) => {
      expect(await listStoredEvents(database, admin.id, { ...filter, ...page })).toHaveLength(1);
    });
    expect(rows, JSON.stringify(filter)).toBeLessThan(FEW);
  }
  // None of them was received so late that it could be of that time.
  for (const filter of [{ since: '2026-01-01T00:00:00Z' }, { meterId: (await admin.createMeter('SUM')).id }]) {
    const look = async (database: Database) => {
      expect(await listStoredEvents(database, admin.id, { ...filter, ...page })).toEqual([]);
    };
    const rows = await rowsReadBy(weir, look, { least: 0 });
    expect(rows, JSON.stringify(filter)).toBeLessThan(FEW);
  }
});

test('keys of another payload are told apart by one look at the moves that lead to their holders', async () => {
  const ids = Array.from({ length: FEW }, () => newId());
  const timestamp = '2025-01-01T00:00:00.000Z';
  await weir.pool.query(`INSERT INTO events SELECT id, $2, $3, $4, 'moved', 1 FROM unnest($1::uuid[]) AS id`, [
    ids,
    admin.id,
    meter,
    timestamp,
  ]);
  await weir.pool.query(
    `INSERT INTO usage_moves (organization_id, id, kind, from_external_id, to_external_id, finished_at)
     SELECT $1, gen_random_uuid(), 'MOVE', 'former-' || n, 'moved', now() FROM generate_series(1, ${MANY}) AS n`,
    [admin.id],
  );
  const of = { organization_id: admin.id, meter_id: meter, aggregation: 'SUM', quantity: '1', timestamp } as const;
  const held = ids.map((holder, n) => {
    const customer_external_id = n % 2 === 0 ? `former-${n + 1}` : `other-${n}`;
    return { holder, event: { ...of, id: newId(), customer_external_id } };
  });
  const rows = await rowsReadBy(weir, async ({ pool }) => {
    expect(await settleHeld(pool, held)).toMatchObject({ duplicates: FEW / 2, reused: { length: FEW / 2 } });
  });
  expect(rows).toBeLessThan(4 * MANY);
});

test('what is kept of an organization costs neither what is kept of others nor their events', async () => {
  const [own, other] = [await signUp(weir), await signUp(weir)];
  await weir.pool.query(
    `INSERT INTO events SELECT lpad(to_hex(n), 32, '0')::uuid, $1, $2, '2025-01-01', 'theirs', 1 FROM generate_series(1, $3::int) AS n`,
    [other.id, meter, 3 * MANY],
  );
  for (const [{ id }, count] of [
    [other, 10 * MANY],
    [own, FEW],
  ] as const) {
    const event = `json_build_object('meter_id', $2::uuid, 'customer_external_id', 'common', 'timestamp', '2025-01-01T00:00:00.000000Z')`;
    await weir.pool.query(
      `INSERT INTO rejected_events SELECT $1, gen_random_uuid(), $2::uuid, 'common', 'for a test', ${event} FROM generate_series(1, $3::int)`,
      [id, meter, count],
    );
    await weir.pool.query(
      `INSERT INTO duplicate_events SELECT $1, gen_random_uuid(), gen_random_uuid(), ${event} FROM generate_series(1, $3::int)`,
      [id, meter, count],
    );
  }
  const page = { limit: 20 };
  const read = async () => {
    for (const filter of [{}, { status: 'rejected' }, { status: 'duplicate' }, { reason: 'for a test' }] as const) {
      const rows = await rowsReadBy(weir, async (database) => {
        expect(await listStoredEvents(database, own.id, { ...filter, ...page })).toHaveLength(20);
      });
      expect(rows, JSON.stringify(filter)).toBeLessThan(FEW);
    }
    for (const filter of [{ customerExternalId: 'rare' }, { reason: 'another' }, { since: '2025-02-01T00:00:00Z' }]) {
      const look = async (database: Database) => {
        expect(await listStoredEvents(database, own.id, { status: 'rejected', ...filter, ...page })).toEqual([]);
      };
      const rows = await rowsReadBy(weir, look, { least: 0 });
      expect(rows, JSON.stringify(filter)).toBeLessThan(2 * FEW);
    }
    const counted = await rowsReadBy(weir, async (database) => {
      expect(await countRejected(database, own.id)).toBe(FEW);
      const { rejections } = await listRejections(database, own.id, { limit: 10, countedMax: FEW });
      expect(rejections).toMatchObject([{ count: FEW }]);
    });
    expect(counted).toBeLessThan(4 * FEW);
  };
  await read();
  await weir.pool.query('ANALYZE');
  await read();
});

/** Events of one instant, with the rollups that tell of them. */
async function use(
  meterId: string,
  customer: string,
  { at, count, of = admin }: { at: string; count: number; of?: Organization },
): Promise<void> {
  const values = [of.id, meterId, customer, at, count];
  await weir.pool.query(
    `INSERT INTO events SELECT overlay(gen_random_uuid()::text PLACING left(first_event_id($4::timestamptz)::text, 15) FROM 1)::uuid,
       $1, $2, $4, $3, 1 FROM generate_series(1, $5::int)`,
    values,
  );
  for (const [table, key] of [
    ['customer_usage_days', `$3, date_trunc('day', $4::timestamptz, 'UTC')`],
    ['meter_usage_quarters', `date_trunc('hour', $4::timestamptz), length($3)`],
  ])
    await weir.pool.query(
      `INSERT INTO ${table} SELECT $1, $2, ${key}, $5::int, $5::int, 1, 1, $4::timestamptz, '00000000-0000-7000-8000-000000000000'::uuid, 1`,
      values,
    );
}

test('events of a meter or a customer that is gone are found without a walk over all that came since', async () => {
  const retired = (await admin.createMeter('SUM')).id;
  await use(retired, 'gone', { at: '2025-03-01T10:00:00Z', count: 6_000 });
  await use(meter, 'here', { at: '2025-06-01T10:00:00Z', count: 3 * MANY });
  const page = { limit: 20 };
  for (const filter of [{ customerExternalId: 'gone' }, { meterId: retired }]) {
    const rows = await rowsReadBy(weir, async (database) => {
      expect(await listStoredEvents(database, admin.id, { ...filter, ...page })).toHaveLength(20);
    });
    expect(rows, JSON.stringify(filter)).toBeLessThan(2 * MANY);
  }
});

test('a page of a customer costs neither all of its events nor what others have voided', async () => {
  const busy = (await admin.createMeter('SUM')).id;
  await use(busy, 'wrong', { at: '2025-08-01T10:00:00Z', count: 2 * MANY });
  await weir.pool.query(
    `INSERT INTO corrections SELECT organization_id, id, gen_random_uuid(), 'wrong', NULL, 0, 'console', now(), meter_id, "timestamp"
     FROM events WHERE meter_id = $1 AND customer_external_id = 'wrong'`,
    [busy],
  );
  await use(busy, 'seldom', { at: '2025-08-01T10:00:00Z', count: 30 });
  await use(busy, 'often', { at: '2025-08-01T11:00:00Z', count: MANY });
  const page = { limit: 20 };
  const list = (filter: object) =>
    rowsReadBy(weir, async (database) => {
      expect(await listStoredEvents(database, admin.id, { ...filter, ...page })).toHaveLength(20);
    });
  const listAll = async () => {
    expect(await list({ customerExternalId: 'seldom' })).toBeLessThan(MANY);
    expect(await list({ customerExternalId: 'often' })).toBeLessThan(2 * FEW);
  };
  await listAll();
  // Now Postgres knows that no event comes before those of this organization.
  await weir.pool.query('ANALYZE events');
  await listAll();
  expect(await list({ status: 'voided' })).toBeLessThan(2 * FEW);
  expect(await list({ status: 'voided', meterId: busy })).toBeLessThan(2 * FEW);
});

test('a page of a meter or of days looks up what is void of these, and not what is void of others', async () => {
  const own = await signUp(weir);
  const [busy, quiet] = [(await own.createMeter('SUM')).id, (await own.createMeter('SUM')).id];
  await use(busy, 'wrong', { at: '2025-08-01T10:00:00Z', count: 2 * MANY, of: own });
  await use(quiet, 'wrong', { at: '2025-03-01T10:00:00Z', count: 2, of: own });
  await weir.pool.query('DELETE FROM customer_usage_days WHERE organization_id = $1', [own.id]);
  await weir.pool.query(
    `INSERT INTO corrections SELECT organization_id, id, gen_random_uuid(), 'wrong', NULL, 0, 'console', now(), meter_id, "timestamp"
     FROM events WHERE organization_id = $1`,
    [own.id],
  );
  await use(quiet, 'in order', { at: '2025-03-01T10:00:00Z', count: 10, of: own });
  const until = '2025-03-02T00:00:00Z';
  const read = async () => {
    for (const [filter, found, max] of [
      [{ meterId: quiet }, 12, FEW],
      [{ meterId: quiet, status: 'voided' }, 2, FEW],
      // Newer ones are passed, by the index alone.
      [{ until }, 12, 2 * MANY + FEW],
      [{ until, status: 'voided' }, 2, 2 * MANY + FEW],
      // Of a customer, the newest that are void of all, and then its own events.
      [{ customerExternalId: 'in order', status: 'voided' }, 0, 2 * MANY],
      [{ meterId: quiet, customerExternalId: 'wrong', status: 'voided' }, 2, 2 * MANY],
    ] as const) {
      const rows = await rowsReadBy(weir, async (database) => {
        expect(await listStoredEvents(database, own.id, { ...filter, limit: 20 })).toHaveLength(found);
      });
      expect(rows, JSON.stringify(filter)).toBeLessThan(max);
    }
  };
  await read();
  await weir.pool.query('ANALYZE');
  await read();
});

test('a correction says of which meter and time the event is that it makes void', async () => {
  const timestamp = '2025-01-10T10:05:00.123456Z';
  const of = { organization_id: admin.id, meter_id: meter, customer_external_id: 'corrected', quantity: '1' };
  const event = { ...of, id: newId(), timestamp };
  await recordEvents(weir.pool, [{ event, countsUniqueValues: false }]);
  await rowsReadBy(weir, (database) => correct(database, admin.id, [{ eventId: event.id, reason: 'a test' }]));
  const { rows } = await weir.pool.query(
    'SELECT event_meter_id, event_time = $2 AS is_of_time FROM corrections WHERE event_id = $1',
    [event.id, timestamp],
  );
  expect(rows).toEqual([{ event_meter_id: meter, is_of_time: true }]);
});

test('the corrections of an event are found by it, whatever Postgres believes of how many there are', async () => {
  const own = await signUp(weir);
  const ofOwn = (await own.createMeter('SUM')).id;
  await use(ofOwn, 'someone', { at: '2025-08-01T10:00:00Z', count: 20, of: own });
  const { rows: events } = await weir.pool.query<{ id: string }>('SELECT id FROM events WHERE meter_id = $1', [ofOwn]);
  const insert = (amended: string, source: string) =>
    weir.pool.query(
      `INSERT INTO corrections SELECT $1, gen_random_uuid(), gen_random_uuid(), 'wrong', ${amended}, 0, 'console' FROM ${source}`,
      [own.id],
    );
  const insertOthers = (count: number) => insert('gen_random_uuid()', `generate_series(1, ${count})`);
  const read = async () => {
    const page = await rowsReadBy(weir, async (database) => {
      const listed = await listStoredEvents(database, own.id, { customerExternalId: 'someone', limit: 20 });
      expect(listed.filter(({ amends }) => amends !== undefined)).toHaveLength(20);
    });
    expect(page).toBeLessThan(FEW);
    const receipt = await rowsReadBy(weir, async (database) => {
      expect(await findStoredEvent(database, own.id, events[0]?.id ?? '')).toHaveProperty('amends');
    });
    expect(receipt).toBeLessThan(FEW);
    const list = await rowsReadBy(weir, async ({ kysely }) => {
      expect((await listCorrections(kysely, own.id, { limit: 20 })).rows).toHaveLength(20);
    });
    expect(list).toBeLessThan(FEW);
  };
  await weir.pool.query('TRUNCATE corrections');
  await insertOthers(1);
  await weir.pool.query('ANALYZE corrections');
  await insert('id', `events WHERE meter_id = '${ofOwn}'`);
  await insertOthers(MANY);
  await read();
  await weir.pool.query('ANALYZE corrections');
  await read();
});

test('the events of a day without any are none, whoever has used the meter on other days', async () => {
  await weir.pool.query(
    `INSERT INTO customer_usage_days SELECT $1, $2, 'customer-' || n, '2025-01-01'::timestamptz + n % 9 * interval '2 days', 1, 1, 1, 1,
       '2025-01-01', $1, 1 FROM generate_series(1, ${MANY}) AS n`,
    [admin.id, meter],
  );
  const window = { since: '2025-01-06T00:00:00Z', until: '2025-01-07T00:00:00Z' };
  const list = async (database: Database) => {
    const page = { limit: 20 };
    expect(await listStoredEvents(database, admin.id, { meterId: meter, ...window, ...page })).toEqual([]);
  };
  expect(await indexPagesReadBy(weir, list, 'customer_usage_days')).toBeLessThan(50);
});

test('an erasure asks what names the customer among all groups, of others as well', async () => {
  const other = await signUp(weir);
  await weir.pool.query(`UPDATE meters SET metadata_keys = '{model,mail}' WHERE id = $1`, [meter]);
  for (const { id } of [admin, other])
    await weir.pool.query(
      `INSERT INTO metadata_groups SELECT $1, $2, '2025-01-01'::timestamptz + n / 1000 * interval '1 day', gen_random_uuid(),
         ARRAY['model ' || n % 50, CASE WHEN $3 OR n = 7 THEN 'named' END]
       FROM generate_series(1, ${MANY}) AS n`,
      [id, meter, id === other.id],
    );
  for (const [externalId, outcome] of [
    ['nobody', 'requested'],
    ['named', 'grouped'],
  ] as const) {
    const rows = await rowsReadBy(weir, ({ kysely }) =>
      kysely.transaction().execute(async (transaction) => {
        expect((await requestErasure(transaction, admin.id, { externalId }, null)).outcome).toBe(outcome);
      }),
    );
    expect(rows, externalId).toBeLessThan(FEW);
  }
});

test('an endpoint for a rare type goes on through a long feed part by part, and finds a time by halves', async () => {
  const feed = 120_000;
  await weir.pool.query(
    `INSERT INTO billing_events SELECT $1, n, 'invoice.paid', '2025-01-01'::timestamptz + n * interval '1 second', 'weir', '{}'
     FROM generate_series(1, ${feed}) AS n`,
    [admin.id],
  );
  await weir.pool.query('INSERT INTO billing_feeds VALUES ($1, $2)', [admin.id, feed]);
  const endpointId = newId();
  const held = { organizationId: admin.id, endpointId, heldBy: newId() } as HeldEndpoint;
  await weir.pool.query(
    `INSERT INTO webhook_endpoints (organization_id, id, url, event_types, secret, last_sequence, held_by, held_until)
     VALUES ($1, $2, 'https://example.com', '{plan.updated}', '', $3, $4, now() + interval '1 day')`,
    [admin.id, endpointId, feed, held.heldBy],
  );
  const from = '2025-01-01T00:00:11Z';
  const rows = await rowsReadBy(weir, ({ kysely }) =>
    kysely.transaction().execute(async (transaction) => {
      const replay = await startReplay(transaction, admin.id, endpointId, { from, to: undefined });
      expect(replay).toMatchObject({ replay: { next_sequence: 11, last_sequence: feed } });
    }),
  );
  expect(rows).toBeLessThan(FEW);
  const readReplay = async () =>
    (await weir.pool.query('SELECT replay_next FROM webhook_endpoints WHERE id = $1', [endpointId])).rows[0]
      .replay_next;
  const read = await rowsReadBy(weir, ({ kysely }) => stageDeliveries(kysely, held, 0));
  expect(read).toBeLessThan(110_000);
  expect(await readReplay()).toBe('100011');
  await rowsReadBy(weir, ({ kysely }) => stageDeliveries(kysely, held, 0));
  expect(await readReplay()).toBeNull();
});

test('what is left of a group is told without the events of those who have none of it', async () => {
  const own = await signUp(weir);
  const { id: meter_id } = await own.createMeter('MAX', undefined, ['plan']);
  const eventOf = (customer: number, index: number) => {
    const of = { organization_id: own.id, meter_id, timestamp: `2025-01-10T10:05:${10 + index}Z` };
    const event = { ...of, id: newId(), customer_external_id: `customer-${customer}`, quantity: String(index + 1) };
    return {
      event: { ...event, metadata: `{"plan":"${customer === 0 ? 'rare' : 'common'}"}` },
      countsUniqueValues: false,
    };
  };
  const events = Array.from({ length: MANY / 5 }, (_, n) => eventOf(n % 50, Math.floor(n / 50)));
  await recordEvents(weir.pool, events);
  // The last and the largest one of its group.
  const eventId = events.findLast(({ event }) => event.customer_external_id === 'customer-0')?.event.id ?? '';
  const rows = await rowsReadBy(weir, (database) => correct(database, own.id, [{ eventId, reason: 'a test' }]));
  expect(rows).toBeLessThan(MANY / 5);
});
