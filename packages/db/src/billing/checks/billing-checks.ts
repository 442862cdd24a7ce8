// Checks of the rows of billing, whatever happened. Each promise is one statement that selects what breaks it, so it is
// asked in one snapshot, and nothing is found only because something was written meanwhile.

import { isCurrency, minorDigits } from '@weir/rating/currencies';
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../../database.ts';
import type { BillingCheck, CheckScope } from './check.ts';
import { DUE_CHECKS } from './due-checks.ts';
import { INVOICE_CHECKS } from './invoice-checks.ts';
import { LEDGER_CHECKS } from './ledger-checks.ts';
import { SCHEDULE_CHECKS } from './schedule-checks.ts';

/** One thing of which a promise does not hold. */
interface BillingFault {
  organizationId: string;
  /** The kind of row, with its id. */
  subject: string;
  said: string;
}

/** Rows that break one promise. */
export interface BrokenPromise {
  name: string;
  promise: string;
  /** How many there are, and at most `FAULTS_MAX` of them. */
  found: number;
  faults: BillingFault[];
}

/** How many faults of one check are told one by one. */
const FAULTS_MAX = 20;

export const BILLING_CHECKS: readonly BillingCheck[] = [
  ...INVOICE_CHECKS,
  ...DUE_CHECKS,
  ...SCHEDULE_CHECKS,
  ...LEDGER_CHECKS,
];

/**
 * Checks the rows of billing, of one organization or of all, and returns the promises that do not hold. `onPart` is told before each.
 * Events received up to the end of the month `archivedThrough` (`2026-01`) are not looked for.
 */
export async function checkBilling(
  database: Database,
  { organizationId, archivedThrough }: { organizationId?: string | undefined; archivedThrough?: string | undefined },
  onPart: (name: string) => void,
): Promise<BrokenPromise[]> {
  const scope: CheckScope = {
    of: (table) =>
      organizationId === undefined ? sql`true` : sql`${sql.ref(table)}.organization_id = ${organizationId}::uuid`,
    scales: await readScales(database),
    isKept: (eventId) =>
      archivedThrough === undefined
        ? sql`true`
        : sql`month_of_receipt(${sql.ref(eventId)}) > ${`${archivedThrough}-01`}::date`,
  };
  const broken: BrokenPromise[] = [];
  for (const { name, promise, faults } of BILLING_CHECKS) {
    onPart(name.replaceAll('_', ' '));
    const { rows } = await sql<{ organization_id: string; subject: string; said: string; found: number }>`
      SELECT organization_id, subject, said, (count(*) OVER ())::int AS found FROM (${faults(scope)}) AS faults
      ORDER BY organization_id, subject, said LIMIT ${FAULTS_MAX}`.execute(database.kysely);
    const told = rows.map(({ organization_id, subject, said }) => ({ organizationId: organization_id, subject, said }));
    if (rows[0] !== undefined) broken.push({ name, promise, found: rows[0].found, faults: told });
  }
  return broken;
}

async function readScales(database: Database): Promise<RawBuilder<unknown>> {
  const rows = await database.kysely.selectFrom('invoices').select('currency').distinct().execute();
  const known = rows.map(({ currency }) => currency).filter(isCurrency);
  const scales = known.map((currency) => String(10n ** BigInt(minorDigits(currency))));
  return sql`unnest(${known}::text[], ${scales}::numeric[]) AS scales (currency, scale)`;
}

/** Whether there is anything of billing to look at, of one organization or of all. */
export async function hasBilling(database: Database, organizationId: string | undefined): Promise<boolean> {
  const tables = ['charges', 'subscriptions', 'credit_grants', 'billing_events'];
  const found = tables.map((table) => {
    const own = organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}::uuid`;
    return sql`EXISTS (SELECT FROM ${sql.table(table)} WHERE ${own})`;
  });
  const { rows } = await sql<{ found: boolean }>`SELECT ${sql.join(found, sql` OR `)} AS found`.execute(
    database.kysely,
  );
  return rows[0]?.found === true;
}

/** The organizations that have invoices, in order. */
export async function listInvoicing(database: Database): Promise<string[]> {
  const rows = await database.kysely
    .selectFrom('invoices')
    .select('organization_id')
    .distinct()
    .orderBy('organization_id')
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}
