// What a page of a long list costs in each of its orders and by each of its filters, from its beginning and far from it: some rows by an
// index, whatever Postgres believes, and in a large organization as in a small one beside it.

import { listCrossings } from '@weir/db/alerts/alerts';
import { findWatchedPeriods } from '@weir/db/alerts/watched-periods';
import { listAuditEntries, type AuditFilter } from '@weir/db/audit-log';
import { listGrants, type GrantFilter } from '@weir/db/billing/credits/credit-ledger';
import { listFeed } from '@weir/db/billing/feed';
import { readOwed } from '@weir/db/billing/invoices/owed';
import { listPayments } from '@weir/db/billing/invoices/payments';
import { listChargesOfPlan } from '@weir/db/billing/plans/charges';
import { listPeriods } from '@weir/db/billing/subscriptions/subscription-periods';
import { listCorrections } from '@weir/db/corrections/corrections';
import { CUSTOMER_SORTS, findBilledUnder, listCustomers } from '@weir/db/customers';
import type { Database } from '@weir/db/database';
import { listUsageMoves } from '@weir/db/moves/usage-moves';
import type { Page } from '@weir/db/page';
import { listPlans, PLAN_SORTS } from '@weir/db/plans';
import { listDeliveries } from '@weir/db/webhooks/deliveries';
import { findRetries, type HeldEndpoint } from '@weir/db/webhooks/turns';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { FEW_OF_A_KIND, fillLists, FIRST_AT, idOf, type Filled } from '../support/long-lists.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

/** Only processes of 1.0.0 read by these: the release behind the one with migration 0054 drops them. */
const OF_1_0_0 = [
  'subscriptions_customer_external_id_idx',
  'audit_entries_organization_id_action_idx',
  'audit_entries_organization_id_actor_id_idx',
  'audit_entries_organization_id_resource_id_idx',
];
const LARGE = 10_000;
const SMALL = LARGE / 100;
const PAGE = 20;
/** Each of a page from an index and from its table, and what belongs to it, and some of the organization and the catalogue of Postgres. */
const FEW = 200;
/** Of a list that is read as a whole: it has some rows. */
const WHOLE = { page: 1, page_size: PAGE };

interface Found {
  rows: readonly unknown[];
  next: string | null;
}
type Read = (database: Database, of: Filled, page: Page) => Promise<Found | undefined>;
/** How many there are to be found in an organization with so many rows. */
type Count = (rows: number) => number;

const all: Count = (rows) => rows;
const most: Count = (rows) => rows - FEW_OF_A_KIND;
const few: Count = () => FEW_OF_A_KIND;
const none: Count = () => 0;

const audit =
  (filterOf: (of: Filled) => Partial<AuditFilter>): Read =>
  async ({ kysely }, of, { cursor, limit, page = 1, page_size = PAGE }) => {
    const filter = { ...filterOf(of), before: cursor, limit: limit ?? page * page_size };
    const { entries, next } = await listAuditEntries(kysely, of.organization, filter);
    return { rows: entries, next };
  };

const feed: Read = async ({ kysely }, { organization }, { cursor, limit, page = 1, page_size = PAGE }) => {
  const rows = await listFeed(kysely, organization, Number(cursor ?? 0), limit ?? page * page_size);
  return { rows, next: String(rows.at(-1)?.sequence) };
};

const deliveries =
  (endpoint: string, status?: 'PENDING' | 'DELIVERED' | 'FAILED'): Read =>
  ({ kysely }, of, page) =>
    listDeliveries(kysely, of.organization, idOf(of, endpoint), { ...page, status });

const crossings =
  (alert: string): Read =>
  ({ kysely }, of, page) =>
    listCrossings(kysely, of.organization, idOf(of, alert), page);

const moves =
  (kind: 'ERASE' | 'MOVE'): Read =>
  ({ kysely }, { organization }, page) =>
    listUsageMoves(kysely, organization, kind, page);

/** What is read as a whole. */
const whole =
  (read: (database: Database, of: Filled) => Promise<readonly unknown[] | undefined>): Read =>
  async (database, of) => ({ rows: (await read(database, of)) ?? [], next: null });

const grants =
  (filterOf: (of: Filled) => GrantFilter): Read =>
  ({ kysely }, of, page) =>
    listGrants(kysely, of.organization, filterOf(of), page);

const tenMinutes = ({ rows }: Filled) => {
  const startMs = Date.parse(FIRST_AT) + (rows / 2) * 60_000;
  return { startMs, endMs: startMs + 10 * 60_000 };
};

const lists: [title: string, count: Count, read: Read][] = [
  ...(Object.keys(CUSTOMER_SORTS) as (keyof typeof CUSTOMER_SORTS)[]).map((sort): [string, Count, Read] => [
    `customers by ${sort}`,
    all,
    ({ kysely }, { organization }, page) => listCustomers(kysely, organization, { search: '', sort }, page),
  ]),
  ...(Object.keys(PLAN_SORTS) as (keyof typeof PLAN_SORTS)[]).map((sort): [string, Count, Read] => [
    `plans by ${sort}`,
    all,
    ({ kysely }, { organization }, page) => listPlans(kysely, organization, { search: '', sort }, page),
  ]),
  [
    'a customer by its external id',
    () => 1,
    ({ kysely }, { organization }, page) =>
      listCustomers(kysely, organization, { search: '', externalId: 'customer 3' }, page),
  ],
  ['the audit log', all, audit(() => ({}))],
  ['the audit log of some minutes', () => 10, audit(tenMinutes)],
  ['what a user did who did most', most, audit((of) => ({ userId: idOf(of, 'user') }))],
  ['what a user did who did little', few, audit((of) => ({ userId: idOf(of, 'few user') }))],
  ['what an actor did who did little', few, audit((of) => ({ actorId: idOf(of, 'few user') }))],
  ['what a user did in some minutes', () => 10, audit((of) => ({ ...tenMinutes(of), userId: idOf(of, 'user') }))],
  ['what nobody did', none, audit((of) => ({ actorId: idOf(of, 'nobody') }))],
  ['what was done to most', most, audit(() => ({ action: 'customer.update' }))],
  ['what was done to few', few, audit(() => ({ action: 'plan.create' }))],
  ['what was done to none', none, audit(() => ({ action: 'plan.delete' }))],
  ['what was done to one thing', few, audit((of) => ({ resourceId: idOf(of, 'few resource') }))],
  ['what was done to one thing once', () => 1, audit((of) => ({ resourceId: idOf(of, 'resource 5') }))],
  [
    'what a user did to one thing',
    few,
    audit((of) => ({ resourceId: idOf(of, 'few resource'), actorId: idOf(of, 'user') })),
  ],
  [
    'one thing done to one thing',
    few,
    audit((of) => ({ resourceId: idOf(of, 'few resource'), action: 'customer.update' })),
  ],
  [
    'one thing that a user did who did little',
    few,
    audit((of) => ({ actorId: idOf(of, 'few user'), action: 'customer.update' })),
  ],
  ['one thing that few did', few, audit((of) => ({ actorId: idOf(of, 'user'), action: 'plan.create' }))],
  ['credits', all, grants(() => ({}))],
  ['credits that can be drawn', all, grants(() => ({ status: 'ACTIVE' }))],
  ['credits in a currency as they were', all, grants(() => ({ currency: 'USD', asOf: '2025-12-31T00:00:00Z' }))],
  ['credits of a customer', few, grants((of) => ({ customerId: idOf(of, 'customer 3') }))],
  ['corrections', all, ({ kysely }, { organization }, page) => listCorrections(kysely, organization, page)],
  ['the feed', all, feed],
  ['deliveries', most, deliveries('endpoint')],
  ['deliveries of an endpoint with few', few, deliveries('few endpoint')],
  ['deliveries that were made', (rows) => rows - 3 * FEW_OF_A_KIND, deliveries('endpoint', 'DELIVERED')],
  ['deliveries that failed', few, deliveries('endpoint', 'FAILED')],
  ['deliveries that wait', few, deliveries('endpoint', 'PENDING')],
  ['deliveries that wait where none does', none, deliveries('few endpoint', 'PENDING')],
  [
    'deliveries that are to be tried again',
    few,
    whole(async ({ kysely }, of) => {
      const held = { organizationId: of.organization, endpointId: idOf(of, 'endpoint'), heldBy: idOf(of, 'turn') };
      return (await findRetries(kysely, held as HeldEndpoint, [], PAGE))?.due;
    }),
  ],
  ['crossings of an alert with most', most, crossings('alert')],
  ['crossings of an alert with few', few, crossings('few alert')],
  ['erasures, which most moves are', most, moves('ERASE')],
  ['moves of another kind', few, moves('MOVE')],
  [
    'payments of an invoice',
    few,
    whole(({ kysely }, of) => listPayments(kysely, of.organization, idOf(of, 'invoice 3'))),
  ],
  ['charges of a plan', few, whole(({ kysely }, of) => listChargesOfPlan(kysely, of.organization, idOf(of, 'plan 3')))],
  [
    'charges of a plan at an instant',
    few,
    whole(({ kysely }, of) => listChargesOfPlan(kysely, of.organization, idOf(of, 'plan 3'), '2026-01-01T00:00:00Z')),
  ],
  [
    'periods of a subscription',
    few,
    whole((database, of) => listPeriods(database, of.organization, { id: idOf(of, 'subscription 3'), count: 1 })),
  ],
  [
    'periods of a customer that alerts look at',
    few,
    whole(async ({ kysely }, { organization }) => {
      const looked = { customers: ['customer 3'], usage: [], since: FIRST_AT };
      return (await findWatchedPeriods(kysely, organization, looked)).ofAmounts('customer 3');
    }),
  ],
  [
    'what a customer owes',
    () => 1,
    whole(({ kysely }, of) => readOwed(kysely, of.organization, idOf(of, 'customer 3'))),
  ],
  [
    'who else was billed under an external id',
    () => 1,
    whole(async ({ kysely }, of) => {
      const asked = { externalId: 'customer 3', butNot: idOf(of, 'customer 4') };
      const found = await findBilledUnder(kysely, of.organization, asked);
      return found === idOf(of, 'customer 3') ? [found] : [];
    }),
  ],
];

type Asked = [of: Filled, page: Page];

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
let large: Filled;
let small: Filled;
/** As large, and all of it came after Postgres had looked. */
let grown: Filled;

const fill = async (rows: number): Promise<Filled> => {
  const filled = { organization: (await signUp(weir)).id, rows };
  await weir.pool.query(fillLists(filled));
  return filled;
};

beforeAll(async () => {
  database = openTestDatabase(weir, 1);
  await weir.pool.query(`DROP INDEX ${OF_1_0_0.join()}`);
  large = await fill(LARGE);
  small = await fill(SMALL);
});
afterAll(() => database.close());

/** Before it has looked at any row, Postgres believes that a first page has all there are, and sorts them. */
const ALL_ONCE = 2 * LARGE;

describe.each<[title: string, look: () => Promise<unknown>, organizations: () => Filled[], ofFirstPages: number]>([
  ['before Postgres has looked at any row', () => Promise.resolve(), () => [large, small], ALL_ONCE],
  ['when it has looked at all', () => weir.pool.query('ANALYZE'), () => [large, small], 0],
  [
    'of an organization that has grown since it looked',
    async () => {
      await weir.pool.query('ANALYZE');
      grown = await fill(LARGE);
    },
    () => [grown],
    0,
  ],
])('%s', (_title, look, organizations, ofFirstPages) => {
  beforeAll(look);

  test.each(lists)('%s', async (_list, count, read) => {
    const first: Asked[] = [];
    const further: Asked[] = [];
    for (const of of organizations()) {
      const total = count(of.rows);
      first.push([of, { limit: PAGE }]);
      // To count very many costs as much as they are.
      if (total <= PAGE) further.push([of, WHOLE]);
      const far = Math.floor((total * 0.6) / PAGE);
      if (far === 0) continue;
      const { next } = (await read(database, of, { page: far, page_size: PAGE })) ?? {};
      further.push([of, { cursor: next ?? undefined, limit: PAGE }]);
    }
    const expectFew = async (asked: readonly Asked[], more: number) => {
      const ask = async (observed: Database): Promise<void> => {
        for (const [of, page] of asked) {
          const found = await read(observed, of, page);
          expect(found?.rows).toHaveLength(Math.min(count(of.rows), PAGE));
        }
      };
      const rows = await rowsReadBy(weir, ask, { least: Math.min(count(SMALL), 1) });
      expect(rows).toBeLessThan(asked.length * FEW + more);
    };
    await expectFew(further, 0);
    await expectFew(first, count(LARGE) > PAGE ? ofFirstPages : 0);
  });

  test.each(Object.keys(PLAN_SORTS) as (keyof typeof PLAN_SORTS)[])(
    'a search that finds one plan reads each once, in the order %s',
    async (sort) => {
      const [of] = organizations();
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        const found = await listPlans(kysely, of?.organization ?? '', { search: 'AN-9999', sort }, { limit: 50 });
        expect(found.rows.map(({ lookup_id }) => lookup_id)).toEqual(['plan-9999']);
      });
      // From an index, and from the table.
      expect(rows).toBeLessThan(2 * LARGE + FEW);
    },
  );
});
