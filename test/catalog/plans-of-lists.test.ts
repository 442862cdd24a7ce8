// What a page of a long list costs in each of its orders, far from its beginning: some rows by an index, whatever Postgres believes.

import { CUSTOMER_SORTS, listCustomers } from '@weir/db/customers';
import type { Queries } from '@weir/db/database';
import type { Page, PageOf } from '@weir/db/page';
import { listPlans, PLAN_SORTS } from '@weir/db/plans';
import { beforeAll, describe, expect, test } from 'vitest';
import { signUp } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const ROWS = 10_000;
/** Each from an index and from its table, and some of the organization and the catalogue of Postgres. */
const FEW = 200;

type Read = (db: Queries, organizationId: string, page: Page) => Promise<PageOf<{ id: string }>>;

const lists: [title: string, read: Read][] = [
  ...(Object.keys(CUSTOMER_SORTS) as (keyof typeof CUSTOMER_SORTS)[]).map((sort): [string, Read] => [
    `customers by ${sort}`,
    (db, organizationId, page) => listCustomers(db, organizationId, { search: '', sort }, page),
  ]),
  ...(Object.keys(PLAN_SORTS) as (keyof typeof PLAN_SORTS)[]).map((sort): [string, Read] => [
    `plans by ${sort}`,
    (db, organizationId, page) => listPlans(db, organizationId, { search: '', sort }, page),
  ]),
];

describe.each([
  ['before there was any row', false],
  ['when all were there', true],
])('looked at %s', (_title, isLate) => {
  const weir = ownWeir({ withWorker: false, unobserved: true });
  let organization: string;

  beforeAll(async () => {
    organization = (await signUp(weir)).id;
    if (!isLate) await weir.pool.query('ANALYZE');
    await weir.pool.query(
      `INSERT INTO customers (organization_id, id, external_id, name)
       SELECT $1, gen_random_uuid(), md5(n::text), CASE WHEN n % 10 > 0 THEN 'Name ' || n % 500 END FROM generate_series(1, ${ROWS}) AS n`,
      [organization],
    );
    await weir.pool.query(
      `INSERT INTO plans (organization_id, id, name, lookup_id, type, billing_interval, currency)
       SELECT $1, gen_random_uuid(), 'Plan ' || n % 500, 'plan-' || n, 'FIXED', 'month', 'USD' FROM generate_series(1, ${ROWS}) AS n`,
      [organization],
    );
    if (isLate) await weir.pool.query('ANALYZE');
  });

  test.each(lists)('%s', async (_list, read) => {
    let cursor: string | undefined;
    await rowsReadBy(weir, async ({ kysely }) => {
      cursor = (await read(kysely, organization, { page: 300, page_size: 20 })).next ?? undefined;
    });
    const rows = await rowsReadBy(weir, async ({ kysely }) => {
      const page = await read(kysely, organization, { cursor, limit: 20 });
      expect([cursor, page.rows.length]).toEqual([expect.any(String), 20]);
    });
    expect(rows).toBeLessThan(FEW);
  });

  test.each(Object.keys(PLAN_SORTS) as (keyof typeof PLAN_SORTS)[])(
    'a search that finds one plan reads each once, in the order %s',
    async (sort) => {
      const rows = await rowsReadBy(weir, async ({ kysely }) => {
        const found = await listPlans(kysely, organization, { search: 'AN-9999', sort }, { limit: 50 });
        expect(found.rows.map(({ lookup_id }) => lookup_id)).toEqual(['plan-9999']);
      });
      // From an index, and from the table.
      expect(rows).toBeLessThan(2 * ROWS + FEW);
    },
  );
});
