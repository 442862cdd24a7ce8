// Applies the money that a customer has in advance to invoices. Finalizing takes it, voiding gives it back (return-credits.ts), and a
// total below zero becomes a grant that first pays what is open. Which grant is applied first is for packages/rating to say.
//
// A grant is changed by whoever holds its row, and rows are locked in the order of their ids: so many invoices of one
// customer can be finalized at once, and none takes what another has taken.

import { groupBy } from '@weir/billing/group-by';
import { amountOf, amountText } from '@weir/billing/amounts';
import { type ApplicableGrant, Pocket } from '@weir/rating/credit-applications';
import type { Amount } from '@weir/rating/money';
import { newId } from '@weir/shared/ids';
import { microsOfText } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { readBillingClock } from '../billing-time.ts';
import { isLive, isLiveOf } from '../live-grant.ts';

/** An invoice that is being finalized, and what is to be paid of it before credits. */
export interface PayableInvoice {
  id: string;
  customerId: string;
  currency: string;
  /** Nothing is applied to one of 0; one below it gives. */
  amountDue: Amount;
}

/** The part of an invoice that is still to be paid. */
interface Debt {
  id: string;
  amountDue: Amount;
}

/** What a customer has and owes in one currency. */
interface Account {
  pocket: Pocket;
  /** The oldest first. */
  debts: Debt[];
  /** How many of the first ones are paid: they are passed once, and not by each invoice below zero. */
  paid: number;
}

/** Credits that were moved in one go. Amounts are by invoice. */
export interface MovedCredits {
  /** How much was applied to each of the invoices, with an entry for all of them. */
  applied: Map<string, Amount>;
  /** How much lower others that were open before are. */
  lowered: Map<string, Amount>;
  /** What `credit.granted` says of the grant that is the other side of an invoice below zero. */
  granted: Map<string, Record<string, unknown>>;
}

/**
 * Moves credits for invoices in the order given, which is that of their numbers. One above zero takes what there is. One below zero
 * becomes a grant, which at once pays what is open of the customer, `open` and what came before it here, the oldest first; what is
 * left of it is there for whoever comes after. Needs a transaction that holds all of these invoices, before it takes numbers; locks
 * the customers' grants in the order of their ids.
 */
export async function applyCredits(
  transaction: Queries,
  organizationId: string,
  invoices: readonly PayableInvoice[],
  open: readonly PayableInvoice[] = [],
): Promise<MovedCredits> {
  const moved: MovedCredits = {
    applied: new Map(invoices.map(({ id }) => [id, 0n])),
    lowered: new Map(),
    granted: new Map(),
  };
  const moving = invoices.filter(({ amountDue }) => amountDue !== 0n);
  if (moving.length === 0) return moved;
  const grants = await lockGrants(transaction, organizationId, moving);
  if (grants.size === 0 && moving.every(({ amountDue }) => amountDue > 0n)) return moved;
  // Read once all of them are held: a grant may have expired while others were waited for.
  const now = await readBillingClock(transaction);
  const accounts = new Map<string, Account>();
  const accountOf = (customerId: string, currency: string): Account => {
    const key = pocketOf(customerId, currency);
    let account = accounts.get(key);
    if (account === undefined) {
      account = { pocket: new Pocket(grants.get(key) ?? [], microsOfText(now)), debts: [], paid: 0 };
      accounts.set(key, account);
    }
    return account;
  };
  for (const debt of open) accountOf(debt.customerId, debt.currency).debts.push({ ...debt });
  const applications: NewCreditApplication[] = [];
  const made: NewGrant[] = [];
  const apply = (grantId: string, debt: Debt, amount: Amount, currency: string): void => {
    debt.amountDue -= amount;
    const sums = moved.applied.has(debt.id) ? moved.applied : moved.lowered;
    sums.set(debt.id, (sums.get(debt.id) ?? 0n) + amount);
    applications.push({ id: newId(), grant_id: grantId, invoice_id: debt.id, amount: amountText(amount, currency) });
  };
  for (const { id, customerId, currency, amountDue } of moving) {
    const account = accountOf(customerId, currency);
    const debt: Debt = { id, amountDue };
    if (amountDue > 0n) {
      for (const taken of account.pocket.take(amountDue)) apply(taken.id, debt, taken.amount, currency);
      account.debts.push(debt);
      continue;
    }
    const grant = { id: newId(), remaining: -amountDue, priority: 0, expiresAt: null, createdAt: microsOfText(now) };
    const amount = amountText(-amountDue, currency);
    made.push({ id: grant.id, customer_id: customerId, currency, amount, invoice_id: id });
    moved.granted.set(id, { credit_id: grant.id, customer_id: customerId, currency, amount, invoice_id: id });
    for (let owed = account.debts[account.paid]; owed !== undefined; owed = account.debts[account.paid]) {
      const part = owed.amountDue < grant.remaining ? owed.amountDue : grant.remaining;
      if (part > 0n) apply(grant.id, owed, part, currency);
      grant.remaining -= part;
      if (owed.amountDue > 0n) break;
      account.paid += 1;
    }
    account.pocket.add(grant);
  }
  if (made.length > 0) await insertGrants(transaction, organizationId, made, now);
  if (applications.length > 0) await insertCreditApplications(transaction, organizationId, applications, now);
  return moved;
}

interface NewCreditApplication {
  id: string;
  grant_id: string;
  invoice_id: string;
  amount: string;
}

/** The other side of an invoice below zero: without an end. */
interface NewGrant {
  id: string;
  customer_id: string;
  currency: string;
  amount: string;
  invoice_id: string;
}

async function insertGrants(
  transaction: Queries,
  organizationId: string,
  grants: readonly NewGrant[],
  now: string,
): Promise<void> {
  const rows = grants.map((grant) => ({
    organization_id: organizationId,
    ...grant,
    remaining: grant.amount,
    created_at: now,
  }));
  await transaction.insertInto('credit_grants').values(rows).execute();
}

/** The key of the credits of one customer in one currency. */
function pocketOf(customerId: string, currency: string): string {
  return `${customerId} ${currency}`;
}

/**
 * Locks the grants of some customers of which something may be taken, and returns them by pocket. What has expired by now is left as it
 * is, since the clock goes on: expiry writes nothing, so a customer may have any number of them.
 */
async function lockGrants(
  transaction: Queries,
  organizationId: string,
  invoices: readonly PayableInvoice[],
): Promise<Map<string, ApplicableGrant[]>> {
  const customers = invoices.map(({ customerId }) => customerId);
  const currencies = invoices.map(({ currency }) => currency);
  const isAny = sql<boolean>`id = ANY (ARRAY(
    SELECT live.id
    FROM (SELECT DISTINCT * FROM unnest(${customers}::uuid[], ${currencies}::text[]) AS asked (customer_id, currency)) AS pocket
    CROSS JOIN LATERAL (
      SELECT id FROM credit_grants
      WHERE ${isLiveOf(organizationId, sql`pocket.customer_id`, sql`pocket.currency`)} OFFSET 0
    ) AS live))`;
  const rows = await transaction
    .selectFrom('credit_grants')
    .select(['id', 'customer_id', 'currency', 'remaining', 'priority', 'expires_at', 'created_at'])
    .where('organization_id', '=', organizationId)
    .where(isAny)
    // Once more: it may have been drawn while it was waited for.
    .where(isLive)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  const grants = rows.map(({ id, customer_id, currency, remaining, priority, expires_at, created_at }) => ({
    pocket: pocketOf(customer_id, currency),
    id,
    remaining: amountOf(remaining, currency),
    priority,
    expiresAt: expires_at === null ? null : microsOfText(expires_at),
    createdAt: microsOfText(created_at),
  }));
  return groupBy(grants, ({ pocket }) => pocket);
}

/** Writes them down, and takes them off the grants. That none has less than is taken is a check of the table as well. */
async function insertCreditApplications(
  transaction: Queries,
  organizationId: string,
  applications: readonly NewCreditApplication[],
  now: string,
): Promise<void> {
  // Named, since a join alone may read all grants of the organization.
  const grants = [...new Set(applications.map(({ grant_id }) => grant_id))];
  await sql`
    WITH applied AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(applications)}::jsonb)
        AS application (id uuid, grant_id uuid, invoice_id uuid, amount numeric)
    ), entries AS (
      INSERT INTO credit_entries (organization_id, grant_id, id, kind, amount, invoice_id, created_at)
      SELECT ${organizationId}::uuid, grant_id, id, 'DRAW', amount, invoice_id, ${now}::timestamptz FROM applied
    )
    UPDATE credit_grants SET remaining = remaining - taken.amount
    FROM (SELECT grant_id, sum(amount) AS amount FROM applied GROUP BY grant_id) AS taken
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${grants}::uuid[]) AND id = taken.grant_id`.execute(
    transaction,
  );
}
