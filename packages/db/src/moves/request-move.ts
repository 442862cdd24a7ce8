// Asking for usage to be moved: in one transaction it is looked at whether that may be, and what needs no worker is done. A worker goes
// on with it (perform-moves.ts).

import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { deleteAlertsOf, holdAlertsOf } from '../alerts/alerts.ts';
import { CUSTOMER_NAMES, emptyingCustomer, type Customer } from '../customer-fields.ts';
import { holdExternalId } from '../customers.ts';
import type { Queries } from '../database.ts';
import { alsoOf, ofCustomer } from '../of-organization.ts';
import { holdOrganization } from '../hold-row.ts';
import { endWidgetTokens } from '../widget-tokens.ts';
import { MonthTakenOut } from '../months-taken-out.ts';
import { ERASED_AGAIN } from './finish-erasure.ts';
import { expectLastEvents } from './month-in-the-way.ts';
import { findUsageMove, type UsageMove } from './usage-moves.ts';

/** Whom to erase: a record, or usage that has none. */
export type Whom = { customerId: string } | { externalId: string };

/** Why usage is not moved; nothing has changed then. */
export type Refused =
  | { outcome: 'not_found' }
  /** A subscription of it has not ended. */
  | { outcome: 'subscribed' }
  /** An invoice of it is a draft. */
  | { outcome: 'draft' }
  /** A subscription that has ended names the customer by a former external id. */
  | { outcome: 'former_id' }
  /** A meter is grouped by what names the customer. */
  | { outcome: 'grouped'; meter: string }
  /** Invoices bill the usage. */
  | { outcome: 'billed' }
  /** Events of it are lost: without them the usage would never be billed. */
  | { outcome: 'lost' }
  /** Another move has one of the ids. */
  | { outcome: 'moving'; id: string }
  /** As many run as an organization may have; `id` is the oldest. */
  | { outcome: 'too_many'; id: string };

export type Requested = { outcome: 'requested'; move: UsageMove } | Refused;

/**
 * When a move is asked for: not when its transaction began, which may have waited for others. What is let in until then, a replay for
 * one, is waited for (`isAllRecorded` in packages/queue).
 */
const HELD_AT = sql`clock_timestamp()`;

/** 128 random bits: nobody can compute it from who it was, and there is nothing kept to compute it with. */
function newPseudonym(): string {
  return `erased-${randomBytes(16).toString('hex')}`;
}

/**
 * Erases a customer: the record, and alerts over it alone, at once, and its usage by a worker. `copiesIssuedBefore` is a date (ISO 8601):
 * of invoices that were issued before, the copy of the customer goes as well. Of a record that is erased
 * already only these copies go where events are in a month that was taken out: they have the id that it got. Throws MonthTakenOut where
 * events that may name the customer are in one. Needs a transaction.
 */
export async function requestErasure(
  transaction: Queries,
  organizationId: string,
  whom: Whom,
  copiesIssuedBefore: string | null,
): Promise<Requested> {
  const read = recordOf(transaction, organizationId, whom);
  const look = async (record: Named | undefined): Promise<Refused | undefined> => {
    const from = nameOf(record, whom);
    return (
      (await findMove(transaction, organizationId, [from])) ??
      (await findBilling(transaction, organizationId, from, record?.id ?? null)) ??
      (await findGroups(transaction, organizationId, namesOf(record, whom)))
    );
  };
  // At first without a lock: whoever is refused has held nobody up.
  const seen = await read.executeTakeFirst();
  const early = await look(seen);
  if (early !== undefined) return early;
  const hasAllEvents = await hasEventsToErase(transaction, organizationId, nameOf(seen, whom), isErased(seen));
  // Where there is no record, none is made until the transaction ends.
  if ('externalId' in whom) await holdExternalId(transaction, organizationId, whom.externalId);
  // Whoever has a subscription in hand may go on to refer to the customer, as an invoice does, and this waits for the end of it.
  const record = await read.forNoKeyUpdate().executeTakeFirst();
  if (record === undefined && 'customerId' in whom) return { outcome: 'not_found' };
  const from = nameOf(record, whom);
  await lockSubscriptions(transaction, organizationId, from, record?.id ?? null);
  // From here on nobody subscribes it: there is no subscription but those that are held.
  if (record !== undefined) {
    await read.forUpdate().execute();
    await holdAlertsOf(transaction, organizationId, record.id);
  }
  const refused = (await look(record)) ?? (await holdMoves(transaction, organizationId, [from]));
  if (refused !== undefined) return refused;
  const isOfCopies = !hasAllEvents && isErased(record);
  const to = isOfCopies ? from : newPseudonym();
  let alertIds: string[] = [];
  if (record !== undefined) {
    await eraseRecord(transaction, organizationId, record.id, to);
    alertIds = await deleteAlertsOf(transaction, organizationId, record.id);
  }
  await endWidgetTokens(transaction, { organization_id: organizationId, customer_external_id: from });
  const id = newId();
  await sql`INSERT INTO usage_moves (organization_id, id, kind, created_at, customer_id, from_external_id, to_external_id,
        copies_issued_before, alert_ids, name_hashes, moved_at, stage)
      VALUES (${organizationId}::uuid, ${id}::uuid, 'ERASE', ${HELD_AT}, ${record?.id ?? null}::uuid, ${from}, ${to},
        ${copiesIssuedBefore}::date, ${alertIds}::uuid[],
        ARRAY(SELECT name_hash(name) FROM unnest(${namesOf(record, whom)}::text[]) AS name), ${isOfCopies ? HELD_AT : null}, ${isOfCopies ? ERASED_AGAIN : null})`.execute(
    transaction,
  );
  return { outcome: 'requested', move: await getMove(transaction, organizationId, id) };
}

/**
 * Whether all events are there. Throws MonthTakenOut where they are not, and name the customer: in what is erased already they do not, unless
 * usage was moved to it since.
 */
async function hasEventsToErase(
  transaction: Queries,
  organizationId: string,
  externalId: string,
  isErasedAlready: boolean,
): Promise<boolean> {
  try {
    await expectLastEvents(transaction, 'ERASE', organizationId, externalId);
    return true;
  } catch (error) {
    if (!(error instanceof MonthTakenOut) || !isErasedAlready) throw error;
    const { rows } = await sql`SELECT FROM usage_moves
      WHERE organization_id = ${organizationId}::uuid AND kind = 'MOVE' AND to_external_id = ${externalId} LIMIT 1`.execute(
      transaction,
    );
    if (rows.length > 0) throw error;
    return false;
  }
}

/**
 * Moves all usage of one external id to another, which may have usage of its own. Refused where the usage is billed under the first.
 * Throws MonthTakenOut where events of it are in one. Needs a transaction.
 */
export async function requestMove(
  transaction: Queries,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<Requested> {
  const look = async (): Promise<Refused | undefined> =>
    (await findMove(transaction, organizationId, [from, to])) ?? (await findBilled(transaction, organizationId, from));
  const early = await look();
  if (early !== undefined) return early;
  if (await expectLastEvents(transaction, 'MOVE', organizationId, from)) return { outcome: 'lost' };
  // Nobody gets the external id, subscribes the record that has it, or changes that, before the transaction ends.
  await holdExternalId(transaction, organizationId, from);
  await recordOf(transaction, organizationId, { externalId: from }).forUpdate().execute();
  const refused = (await look()) ?? (await holdMoves(transaction, organizationId, [from, to]));
  if (refused !== undefined) return refused;
  // Whoever holds one would see half of the usage.
  await endWidgetTokens(transaction, { organization_id: organizationId, customer_external_id: from });
  const id = newId();
  await sql`INSERT INTO usage_moves (organization_id, id, kind, created_at, from_external_id, to_external_id)
      VALUES (${organizationId}::uuid, ${id}::uuid, 'MOVE', ${HELD_AT}, ${from}, ${to})`.execute(transaction);
  return { outcome: 'requested', move: await getMove(transaction, organizationId, id) };
}

type Named = Pick<Customer, 'id' | 'external_id' | 'erased_at'> & Partial<Customer>;

const isErased = (record: Named | undefined): boolean => record !== undefined && record.erased_at !== null;

/** By what its usage is known. */
function nameOf(record: Named | undefined, whom: Whom): string {
  return record?.external_id ?? ('externalId' in whom ? whom.externalId : '');
}

/** What names the customer, and may be what usage is grouped by. */
function namesOf(record: Named | undefined, whom: Whom): string[] {
  const names = [nameOf(record, whom), ...CUSTOMER_NAMES.map((name) => record?.[name])];
  return names.filter((name) => typeof name === 'string' && name !== '') as string[];
}

function recordOf(transaction: Queries, organizationId: string, whom: Whom) {
  const [column, value] =
    'customerId' in whom ? (['id', whom.customerId] as const) : (['external_id', whom.externalId] as const);
  return transaction
    .selectFrom('customers')
    .select(['id', 'external_id', 'erased_at', ...CUSTOMER_NAMES])
    .where('organization_id', '=', organizationId)
    .where(column, '=', value);
}

/**
 * Moves of an organization are asked for one after the other, so that two of them have no id in common. The organization is held behind
 * subscriptions and the customer, as whoever numbers invoices holds it.
 */
async function holdMoves(
  transaction: Queries,
  organizationId: string,
  externalIds: readonly string[],
): Promise<Refused | undefined> {
  await holdOrganization(transaction, organizationId);
  return (await findMove(transaction, organizationId, externalIds)) ?? (await findTooMany(transaction, organizationId));
}

async function findTooMany(db: Queries, organizationId: string): Promise<Refused | undefined> {
  const { rows } = await sql<{ running: number; id: string | null }>`
    SELECT count(*)::int AS running, min(id::text) AS id FROM usage_moves
    WHERE organization_id = ${organizationId}::uuid AND finished_at IS NULL`.execute(db);
  const { running = 0, id = null } = rows[0] ?? {};
  return running < LIMITS.runningMoves || id === null ? undefined : { outcome: 'too_many', id };
}

async function findMove(
  db: Queries,
  organizationId: string,
  externalIds: readonly string[],
): Promise<Refused | undefined> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM usage_moves WHERE organization_id = ${organizationId}::uuid AND finished_at IS NULL
      AND (from_external_id = ANY (${externalIds}::text[]) OR to_external_id = ANY (${externalIds}::text[])) LIMIT 1`.execute(
    db,
  );
  const [row] = rows;
  return row && { outcome: 'moving', id: row.id };
}

const billedAs = (organizationId: string, externalId: string) =>
  ofCustomer(organizationId, 'subscriptions.customer_external_id', sql`${externalId}::text`);

async function findBilled(db: Queries, organizationId: string, externalId: string): Promise<Refused | undefined> {
  const { rows } = await sql`
    SELECT FROM subscriptions WHERE ${billedAs(organizationId, externalId)} LIMIT 1`.execute(db);
  return rows.length > 0 ? { outcome: 'billed' } : undefined;
}

const ownSubscriptions = (organizationId: string, externalId: string, customerId: string | null) =>
  sql`subscriptions WHERE (${billedAs(organizationId, externalId)}
      OR customer_id = ${customerId}::uuid AND ${alsoOf(organizationId)}) ORDER BY id`;

/** None of them is settled on until the erasure is there. */
async function lockSubscriptions(transaction: Queries, ...whose: Parameters<typeof ownSubscriptions>): Promise<void> {
  await sql`SELECT count(*) FROM (SELECT FROM ${ownSubscriptions(...whose)} FOR UPDATE) AS locked`.execute(transaction);
}

async function findBilling(
  db: Queries,
  organizationId: string,
  externalId: string,
  customerId: string | null,
): Promise<Refused | undefined> {
  const { rows } = await sql<{ id: string; status: string; customer_external_id: string }>`
    SELECT id, status, customer_external_id FROM ${ownSubscriptions(organizationId, externalId, customerId)}`.execute(
    db,
  );
  if (rows.some(({ status }) => status !== 'CANCELED')) return { outcome: 'subscribed' };
  const { rows: drafts } = await sql`SELECT FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND subscription_id = ANY (${rows.map(({ id }) => id)}::uuid[])
    LIMIT 1`.execute(db);
  if (drafts.length > 0) return { outcome: 'draft' };
  const others = rows.flatMap((row) => (row.customer_external_id === externalId ? [] : [row.customer_external_id]));
  const { rows: named } = await sql`SELECT FROM unnest(${others}::text[]) AS other WHERE NOT EXISTS (
    SELECT FROM usage_moves WHERE organization_id = ${organizationId}::uuid AND to_external_id = other AND kind = 'ERASE')
    LIMIT 1`.execute(db);
  return named.length > 0 ? { outcome: 'former_id' } : undefined;
}

/** What a meter is grouped by stays, as it is the organization's way to look at its usage; it must not be the customer. */
async function findGroups(db: Queries, organizationId: string, names: readonly string[]): Promise<Refused | undefined> {
  // Written so that the key of the groups, of which there may be millions, is no way to them.
  const { rows } = await sql<{ name: string }>`
    SELECT meters.name FROM unnest(${names}::text[]) AS known (value) CROSS JOIN LATERAL (
      SELECT meter_id FROM metadata_groups
      WHERE array_prepend(organization_id::text, group_values) @> ARRAY[${organizationId}::text, group_value(known.value)]
        AND (organization_id = ${organizationId}::uuid) IS TRUE OFFSET 0
    ) AS named JOIN meters ON meters.organization_id = ${organizationId}::uuid AND meters.id = named.meter_id
    WHERE metadata_keys <> '{}' LIMIT 1`.execute(db);
  const [row] = rows;
  return row && { outcome: 'grouped', meter: row.name };
}

async function eraseRecord(transaction: Queries, organizationId: string, id: string, pseudonym: string): Promise<void> {
  await sql`UPDATE customers SET external_id = ${pseudonym}, erased_at = coalesce(erased_at, now()), ${emptyingCustomer()}
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid`.execute(transaction);
}

async function getMove(transaction: Queries, organizationId: string, id: string): Promise<UsageMove> {
  const move = await findUsageMove(transaction, organizationId, id);
  if (move === undefined) throw new Error('a move was inserted, and is not there');
  return move;
}
