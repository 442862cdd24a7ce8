import type { ChargeType } from '@weir/billing/kinds';
import type { ChargeTerms } from '@weir/rating/charge-terms';
import { LIMITS } from '@weir/shared/limits';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Queries } from '../../database.ts';
import { alsoOf } from '../../of-organization.ts';
import { NEWEST_FIRST } from '../../order.ts';
import { selectPage, type Page, type PageOf } from '../../page.ts';

/** A part of the price of a plan. Nothing of it changes but its name, and that it ends. */
export interface Charge {
  id: string;
  plan_id: string;
  display_name: string;
  type: ChargeType;
  /** Null where it is FIXED. */
  meter_id: string | null;
  terms: ChargeTerms;
  /** INACTIVE: it has ended, or was taken back before it began. */
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** A period that begins at this instant is billed by it. */
  effective_from: string;
  /** A period that begins at this instant is not; null: it has no end. One in the future is the beginning of another charge. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
}

export interface NewCharge {
  organization_id: string;
  id: string;
  plan_id: string;
  display_name: string;
  meter_id: string | null;
  terms: ChargeTerms;
  /** ISO 8601; without it: the beginning of this transaction. */
  created_at?: string;
  /** Without it: from now on, and in nobody's place. */
  place?: Place;
}

/** Whose place a charge takes, null: nobody's; and from when on (ISO 8601). */
export interface Place {
  replaces: string | null;
  effective_from: string;
}

/** The fields of a charge that can be changed. */
export interface ChargeChanges {
  display_name?: string | undefined;
  /** Ends it at this instant (ISO 8601), for good; one that has an end keeps it. */
  ends_at?: string | undefined;
}

const columns = [
  'id',
  'plan_id',
  'display_name',
  'type',
  'meter_id',
  'created_at',
  'effective_from',
  'ended_at',
  'replaces',
  'terms',
] as const;
// By the clock: a transaction that has waited ends charges at an instant after its own beginning, and answers with them.
const status = sql<Charge['status']>`
  CASE WHEN ended_at <= greatest(billing_clock(), effective_from) THEN 'INACTIVE' ELSE 'ACTIVE' END`.as('status');

/** Violates `charges_organization_id_plan_id_meter_id_key` where the plan has a charge for the meter that has no end. */
export async function insertCharge(db: Queries, { place, ...charge }: NewCharge): Promise<Charge> {
  return await db
    .insertInto('charges')
    .values({ ...charge, ...place, type: charge.terms.type, terms: JSON.stringify(charge.terms) })
    .returning(columns)
    .returning(status)
    .executeTakeFirstOrThrow();
}

/** The charges of a plan, oldest first: all of them, or with `at` those that are in force at that instant (ISO 8601). */
export async function listChargesOfPlan(
  db: Queries,
  organizationId: string,
  planId: string,
  at?: string,
): Promise<Charge[]> {
  let query = selectCharges(db, organizationId, planId);
  if (at !== undefined) {
    query = query
      .where('effective_from', '<=', at)
      .where(({ eb, or }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', at)]));
  }
  return await query.orderBy('id').execute();
}

/**
 * When a price of a plan was given last, be it one that is announced; null: it has none. An expression. What is done while the plan is
 * held comes after it, also where the clock of Postgres has gone back since.
 */
export function pricedLast(organizationId: string, planId: string): RawBuilder<string | null> {
  return sql`(SELECT max(created_at) FROM charges WHERE plan_id = ${planId}::uuid AND ${alsoOf(organizationId)})`;
}

const isEnded = sql<SqlBool>`coalesce(ended_at <= greatest(billing_clock(), effective_from), false)`;

/**
 * Returns the charges of a plan that have not ended and the last that have, oldest first, and how many have ended in all. The clock is read
 * once: a charge that ends meanwhile is there once.
 */
export async function readChargesOfPlan(
  db: Queries,
  organizationId: string,
  planId: string,
): Promise<{ charges: Charge[]; ended: number }> {
  const { rows } = await sql<Charge & { place: string; total: string }>`
    WITH clock AS MATERIALIZED (SELECT billing_clock() AS now)
    SELECT * FROM (
      SELECT own.*, row_number() OVER (PARTITION BY status ORDER BY ended_at DESC, id DESC) AS place,
        count(*) OVER (PARTITION BY status) AS total
      FROM (
        SELECT ${sql.join(columns.map((column) => sql.ref(column)))},
          CASE WHEN ended_at <= greatest(clock.now, effective_from) THEN 'INACTIVE' ELSE 'ACTIVE' END AS status
        FROM charges, clock WHERE plan_id = ${planId}::uuid AND ${alsoOf(organizationId)}
      ) AS own
    ) AS placed WHERE status = 'ACTIVE' OR place <= ${LIMITS.endedCharges} ORDER BY id`.execute(db);
  return {
    charges: rows.map((row) => {
      const { place: _, total: __, ...charge } = row;
      return charge;
    }),
    ended: Number(rows.find((charge) => charge.status === 'INACTIVE')?.total ?? 0),
  };
}

/** The charges of a plan, newest first: all of them, or those that have ended or have not. */
export async function listCharges(
  db: Queries,
  organizationId: string,
  { planId, status: wanted }: { planId: string; status?: Charge['status'] | undefined },
  page: Page,
): Promise<PageOf<Charge>> {
  let query = selectCharges(db, organizationId, planId);
  if (wanted !== undefined) query = query.where((eb) => (wanted === 'INACTIVE' ? isEnded : eb.not(isEnded)));
  return await selectPage(query, NEWEST_FIRST, page);
}

function selectCharges(db: Queries, organizationId: string, planId: string) {
  return db
    .selectFrom('charges')
    .select(columns)
    .select(status)
    .where('plan_id', '=', planId)
    .where(() => alsoOf(organizationId));
}

/** The charge, if the plan has it; nobody else changes it before this transaction ends. */
export async function lockCharge(
  transaction: Queries,
  organizationId: string,
  { planId, id }: { planId: string; id: string },
): Promise<Charge | undefined> {
  return await transaction
    .selectFrom('charges')
    .select(columns)
    .select(status)
    .where('organization_id', '=', organizationId)
    .where('plan_id', '=', planId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Changes a charge that is there, and returns it. */
export async function updateCharge(
  db: Queries,
  organizationId: string,
  id: string,
  { display_name, ends_at }: ChargeChanges,
): Promise<Charge> {
  return await db
    .updateTable('charges')
    .set({
      ended_at: sql<string>`coalesce(ended_at, ${ends_at ?? null}::timestamptz)`,
      ...(display_name !== undefined && { display_name }),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .returning(status)
    .executeTakeFirstOrThrow();
}

/** What of a plan is limited: its charges without an end, and those whose end is to come; and the tiers in all of them. */
export interface PlanSize {
  charges: number;
  tiers: number;
  ending: number;
  endingTiers: number;
}

/** Reads it; the plan has to be locked, so that no charge is added meanwhile. */
export async function readPlanSize(transaction: Queries, organizationId: string, planId: string): Promise<PlanSize> {
  const { rows } = await sql<PlanSize>`
    SELECT count(*) FILTER (WHERE ended_at IS NULL)::integer AS charges,
      coalesce(sum(tiers) FILTER (WHERE ended_at IS NULL), 0)::integer AS tiers,
      count(*) FILTER (WHERE ended_at IS NOT NULL)::integer AS ending,
      coalesce(sum(tiers) FILTER (WHERE ended_at IS NOT NULL), 0)::integer AS "endingTiers"
    FROM (
      SELECT ended_at, jsonb_array_length(terms -> 'tiers') AS tiers FROM charges
      WHERE plan_id = ${planId}::uuid AND ${alsoOf(organizationId)} AND NOT ${isEnded}
    ) AS charges`.execute(transaction);
  return rows[0] ?? { charges: 0, tiers: 0, ending: 0, endingTiers: 0 };
}

/**
 * Whether a charge that has no end, or whose end is to come, prices a meter, or a subscription bills it. The meter has to be held, so
 * that no charge is added meanwhile.
 */
export async function isMeterPriced(transaction: Queries, organizationId: string, meterId: string): Promise<boolean> {
  const ofMeter = sql`organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid`;
  const { rows } = await sql`
    SELECT WHERE EXISTS (SELECT FROM charges WHERE ${ofMeter} AND NOT ${isEnded})
      OR EXISTS (SELECT FROM billed_meters WHERE ${ofMeter} AND (ended_at IS NULL OR ended_at > billing_now()))
  `.execute(transaction);
  return rows.length > 0;
}

/** Ends a charge that has no end at the instant where another one takes its place. */
export async function endChargeAt(
  transaction: Queries,
  organizationId: string,
  { id, at }: { id: string; at: string },
): Promise<void> {
  await transaction
    .updateTable('charges')
    .set({ ended_at: at })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** Takes back a charge that has not begun, for good. The one whose place it would have taken goes on without an end. */
export async function takeBackCharge(
  transaction: Queries,
  organizationId: string,
  { id, replaces }: Pick<Charge, 'id' | 'replaces'>,
): Promise<void> {
  // This one first: only one charge of a meter in a plan has no end.
  await transaction
    .updateTable('charges')
    .set(({ ref }) => ({ ended_at: ref('effective_from') }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
  await transaction
    .updateTable('charges')
    .set({ ended_at: null })
    .where('organization_id', '=', organizationId)
    .where('id', '=', replaces)
    .execute();
}
