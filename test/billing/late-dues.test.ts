// Which closed dues wait for a line, since events came in late for them.

import { closeUntil } from '@weir/db/billing/usage/closing';
import { findLateDues } from '@weir/db/billing/subscriptions/late-events';
import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
beforeAll(async () => {
  database = openDatabase(weir.databaseUrl, {
    connectionsMax: 4,
    statementTimeoutMs: 0,
    onConnectionError: (error) => expect.unreachable(String(error)),
  });
});
afterAll(() => database.close());

const boundary = (cycle: number): string => new Date(Date.UTC(2025, cycle, 1)).toISOString();

interface Fixture {
  organization: Organization;
  meterId: string;
  subscriptionId: string;
  /** Settles the dues of some cycles, as a line on an invoice does. */
  settle(cycles: number[], closing: number): Promise<void>;
  record(timestamp: string, customer?: string): Promise<void>;
  close(until: string): Promise<number>;
  /** The cycles that wait, before a closing. */
  waiting(before: number | null): Promise<number[]>;
}

/** A subscription with four open dues of a month each. */
async function subscribed(): Promise<Fixture> {
  const organization = await signUp(weir);
  const { id: organizationId, session } = organization;
  const { id: meterId } = await organization.createMeter('MAX');
  const made = async (path: string, body: object): Promise<string> =>
    (await weir.request('POST', `/api/v1/${path}`, { session, body })).body.id;
  const customerId = await made('customers', { external_id: 'acme' });
  const plan = { name: 'P', lookup_id: 'p', type: 'USAGE', billing_interval: 'month', currency: 'USD' };
  const planId = await made('plans', plan);
  const [subscriptionId, chargeId] = [newId(), newId()];
  const { pool } = weir;
  await pool.query(
    `INSERT INTO charges (organization_id, id, plan_id, display_name, type, meter_id, terms) VALUES ($1, $2, $3, 'C', 'USAGE', $4, '{}')`,
    [organizationId, chargeId, planId, meterId],
  );
  await pool.query(
    `INSERT INTO subscriptions (organization_id, id, customer_id, customer_external_id, plan_id, status, time_zone, currency,
       billing_interval, billing_alignment, start_at, anchor, anchor_at, current_period_start, current_period_end)
     VALUES ($1, $2, $3, 'acme', $4, 'ACTIVE', 'UTC', 'USD', 'month', 'anniversary', $5::timestamptz, $5::timestamptz::date, $5::timestamptz, $5::timestamptz, $6)`,
    [organizationId, subscriptionId, customerId, planId, boundary(0), boundary(1)],
  );
  for (let cycle = 0; cycle < 4; cycle += 1) {
    const period = [boundary(cycle), boundary(cycle + 1)];
    await pool.query(
      `INSERT INTO subscription_periods (organization_id, subscription_id, cycle, plan_id, period_start, period_end)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [organizationId, subscriptionId, cycle, planId, ...period],
    );
    await pool.query(
      `INSERT INTO dues (organization_id, subscription_id, cycle, charge_id, display_name, terms, meter_id, customer_external_id, period_start, period_end)
       VALUES ($1, $2, $3, $4, 'C', '{}', $5, 'acme', $6, $7)`,
      [organizationId, subscriptionId, cycle, chargeId, meterId, ...period],
    );
  }
  return {
    organization,
    meterId,
    subscriptionId,
    async settle(cycles, closing) {
      await pool.query('UPDATE dues SET closing = $1 WHERE subscription_id = $2 AND cycle = ANY ($3)', [
        closing,
        subscriptionId,
        cycles,
      ]);
      await pool.query('UPDATE subscriptions SET closing = $1 WHERE id = $2', [closing, subscriptionId]);
    },
    async record(timestamp, customer = 'acme') {
      const event = {
        id: newId(),
        organization_id: organizationId,
        meter_id: meterId,
        customer_external_id: customer,
        quantity: '1',
        timestamp,
      };
      await recordEvents(database.pool, [{ event, countsUniqueValues: false }]);
    },
    close: (until) => closeUntil(database, organizationId, { until, notBefore: '9999-12-31T00:00:00Z' }),
    async waiting(before) {
      const dues = await findLateDues(database.kysely, organizationId, [subscriptionId], before);
      for (const due of dues) expect(due).toMatchObject({ charge_id: chargeId, type: 'USAGE', rebilling: false });
      return dues.map(({ cycle }) => cycle);
    },
  };
}

test('a due waits from a late event on, until a closing after it has settled it', async () => {
  const { settle, record, close, waiting } = await subscribed();
  await record('2025-01-05T00:00:00Z');
  expect(await close(boundary(1))).toBe(1);
  await settle([0], 1);
  expect(await waiting(null)).toEqual([]);

  await record('2025-01-31T23:59:59.999999Z');
  expect(await waiting(null)).toEqual([0]);
  // The closing that it is late for does not see it.
  expect(await waiting(1)).toEqual([]);
  expect(await close(boundary(2))).toBe(2);
  expect(await waiting(2)).toEqual([0]);

  await record('2025-01-01T00:00:00Z');
  expect(await waiting(2)).toEqual([0]);
  await settle([0, 1], 2);
  // That one was late for the second closing: it waits for the third.
  expect(await waiting(2)).toEqual([]);
  expect(await waiting(null)).toEqual([0]);
  expect(await close(boundary(3))).toBe(3);
  await record('2025-02-01T00:00:00Z');
  expect(await waiting(3)).toEqual([0]);
  expect(await waiting(null)).toEqual([0, 1]);
  await settle([0, 1, 2], 4);
  expect(await waiting(null)).toEqual([]);
});

test('a due that is open takes its events itself, though they were late for a closing of somebody else', async () => {
  const { settle, record, close, waiting } = await subscribed();
  expect(await close(boundary(4))).toBe(1);
  await record('2025-02-15T00:00:00Z');
  expect(await waiting(null)).toEqual([]);
  expect(await close(boundary(4))).toBe(2);
  await settle([1], 2);
  // The line at closing 2 has it.
  expect(await waiting(null)).toEqual([]);
  await record('2025-02-15T00:00:00Z');
  expect(await waiting(null)).toEqual([1]);
});

test('late events of other customers and other times are of no due', async () => {
  const { settle, record, close, waiting } = await subscribed();
  await close(boundary(1));
  await settle([0], 1);
  await record('2025-01-15T00:00:00Z', 'Acme');
  await record('2024-12-31T23:59:59.999999Z');
  await record(boundary(1));
  expect(await waiting(null)).toEqual([]);
});

test('of several subscriptions each has its own, and no organization sees those of another', async () => {
  const [one, other] = [await subscribed(), await subscribed()];
  for (const { settle, record, close } of [one, other]) {
    await close(boundary(1));
    await settle([0], 1);
    await record(boundary(0));
  }
  const ids = [one.subscriptionId, other.subscriptionId];
  const found = await findLateDues(database.kysely, one.organization.id, ids, null);
  expect(found.map(({ subscription_id }) => subscription_id)).toEqual([one.subscriptionId]);
  expect(await findLateDues(database.kysely, one.organization.id, [], null)).toEqual([]);
});
