import { countPeriodsToOpen, type Opening } from '@weir/billing/periods-to-open';
import type { BillingAlignment, SubscriptionStatus } from '@weir/billing/kinds';
import type { Interval } from '@weir/rating/periods';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import { hashed, ofOrganization, ofStatus } from '../../of-organization.ts';
import { reversed, type Order } from '../../order.ts';
import { mapPage, selectPage, type Page, type PageOf } from '../../page.ts';
import type { Tables } from '../../schema.ts';
import { isDraftPutOff } from '../drafting.ts';
import { pricedLast } from '../plans/charges.ts';

/** A row of subscriptions. */
export type SubscriptionRow = Selectable<Tables['subscriptions']>;

/** A subscription as it is answered. Times are ISO 8601 UTC. */
export interface Subscription {
  id: string;
  external_id: string | null;
  customer_id: string;
  customer_external_id: string;
  plan_id: string;
  plan_name: string;
  /** What it goes over to at the end of the period; null: it stays on its plan. */
  pending_plan_id: string | null;
  status: SubscriptionStatus;
  start_date: string;
  trial_end_date: string | null;
  time_zone: string;
  currency: string;
  billing_interval: Interval;
  billing_alignment: BillingAlignment;
  /** Null in a trial. */
  cycle: number | null;
  /** How many of its periods have begun and are not opened yet. */
  periods_to_open: number;
  current_period_start: string;
  current_period_end: string;
  cancel_at_period_end: boolean;
  cancel_reason: string | null;
  /** When its end was asked for. */
  canceled_at: string | null;
  /** When it ends or ended. */
  ended_at: string | null;
  created_at: string;
}

/** Which subscriptions to list. */
export interface SubscriptionFilter {
  customerId?: string | undefined;
  planId?: string | undefined;
  /** Its own, to the letter. */
  externalId?: string | undefined;
  /** Whether the run could not bill something of it: itself, or an invoice that is still a draft or open. */
  hasRunError?: boolean | undefined;
  status?: SubscriptionStatus | undefined;
  /** Newest first, where nothing is said. */
  sort?: keyof typeof SUBSCRIPTION_SORTS | undefined;
}

/** A new subscription. */
export interface NewSubscription {
  id: string;
  external_id: string | null;
  customer_id: string;
  customer_external_id: string;
  plan_id: string;
  time_zone: string;
  currency: string;
  billing_interval: Interval;
  billing_alignment: BillingAlignment;
  start_at: string;
  trial_end_at: string | null;
  /** The local date on which its period 0 begins. */
  anchor: string;
}

/** From its end on it is CANCELED, and from its start on no more SCHEDULED, also before the run has been there. */
const status = sql<SubscriptionStatus>`CASE WHEN subscriptions.ended_at <= billing_now() THEN 'CANCELED'
  WHEN subscriptions.start_at > billing_now() THEN 'SCHEDULED' ELSE subscriptions.status END`;

function selectSubscriptions(db: Queries, source: RawBuilder<unknown>) {
  return db.selectFrom(sql<SubscriptionRow>`(SELECT * FROM ${source})`.as('subscriptions')).select([
    'subscriptions.id',
    'subscriptions.external_id',
    'subscriptions.customer_id',
    'subscriptions.customer_external_id',
    'subscriptions.plan_id',
    sql<string>`(SELECT name FROM plans
        WHERE plans.organization_id = subscriptions.organization_id AND plans.id = subscriptions.plan_id)`.as(
      'plan_name',
    ),
    'subscriptions.pending_plan_id',
    status.as('status'),
    'subscriptions.start_at as start_date',
    'subscriptions.trial_end_at as trial_end_date',
    'subscriptions.time_zone',
    'subscriptions.currency',
    'subscriptions.billing_interval',
    'subscriptions.billing_alignment',
    'subscriptions.cycle',
    'subscriptions.current_period_start',
    'subscriptions.current_period_end',
    'subscriptions.cancel_at_period_end',
    'subscriptions.cancel_reason',
    'subscriptions.canceled_at',
    'subscriptions.ended_at',
    'subscriptions.created_at',
    'subscriptions.anchor',
    'subscriptions.anchor_at',
    'subscriptions.anchor_cycle',
    sql<string>`billing_now()`.as('now'),
  ]);
}

const OLDEST_FIRST: Order<{ id: string }> = [{ field: 'id', column: 'subscriptions.id', type: 'uuid' }];

export const SUBSCRIPTION_SORTS = { created_at: OLDEST_FIRST, '-created_at': reversed(OLDEST_FIRST) };

/** Those that match all that is given. */
export async function listSubscriptions(
  db: Queries,
  organizationId: string,
  filter: SubscriptionFilter,
  page: Page,
): Promise<PageOf<Subscription>> {
  const { customerId, planId, externalId, hasRunError, status: wanted, sort = '-created_at' } = filter;
  let query = selectSubscriptions(db, sourceOf(organizationId, filter));
  if (customerId !== undefined) query = query.where('subscriptions.customer_id', '=', customerId);
  if (planId !== undefined) query = query.where('subscriptions.plan_id', '=', planId);
  if (externalId !== undefined) query = query.where('subscriptions.external_id', '=', externalId);
  if (hasRunError === false)
    query = query.where('subscriptions.id', '<>', sql<string>`ALL (${idsWithRunError(organizationId)})`);
  if (wanted !== undefined) query = query.where(status, '=', wanted);
  return mapPage(await selectPage(query, SUBSCRIPTION_SORTS[sort], page), subscriptionOf);
}

/** By what they are found. */
function sourceOf(
  organizationId: string,
  { customerId, planId, externalId, hasRunError, status: wanted }: SubscriptionFilter,
): RawBuilder<unknown> {
  if (hasRunError === true) return withRunError(organizationId);
  const isNamed = [customerId, planId, externalId].some((each) => each !== undefined);
  if (isNamed || wanted === undefined) return sql`subscriptions WHERE ${ofOrganization(organizationId)}`;
  return sql`subscriptions WHERE ${mayBe(organizationId, wanted)}`;
}

/** All that are of a status by the time of billing are among these, and few others. */
function mayBe(organizationId: string, wanted: SubscriptionStatus): RawBuilder<unknown> {
  if (wanted === 'SCHEDULED') return sql`${hashed(organizationId, 1)} AND is_scheduled`;
  if (wanted === 'CANCELED') return sql`${hashed(organizationId, 2)} AND ended_at IS NOT NULL`;
  return sql`${ofStatus(organizationId, 0, wanted)} AND status <> 'CANCELED'`;
}

/** By the indexes of what has an error, which is next to nothing, and then by the key, one by one. */
function withRunError(organizationId: string): RawBuilder<unknown> {
  return sql`(SELECT found.* FROM unnest(${idsWithRunError(organizationId)}) AS named (subscription_id) CROSS JOIN LATERAL (
    SELECT * FROM subscriptions WHERE organization_id = ${organizationId}::uuid AND id = named.subscription_id OFFSET 0
  ) AS found) AS failed`;
}

function idsWithRunError(organizationId: string): RawBuilder<unknown> {
  return sql`ARRAY(
    SELECT id FROM subscriptions AS own WHERE organization_id = ${organizationId}::uuid AND run_error IS NOT NULL
    UNION
    SELECT subscription_id FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND ${isDraftPutOff})`;
}

export async function findSubscription(
  db: Queries,
  organizationId: string,
  id: string,
): Promise<Subscription | undefined> {
  const own = sql`subscriptions WHERE ${ofOrganization(organizationId)} AND id = ${id}::uuid`;
  const row = await selectSubscriptions(db, own).executeTakeFirst();
  return row && subscriptionOf(row);
}

function subscriptionOf(row: Opening & Omit<Subscription, 'periods_to_open'>): Subscription {
  const { anchor: _, anchor_at: __, anchor_cycle: ___, now: ____, ...subscription } = row;
  return { ...subscription, periods_to_open: countPeriodsToOpen(row) };
}

/**
 * Whether a boundary of it is past that nobody has passed yet; or the other way round, one was passed after this transaction began, while
 * it waited for the subscription: for this one the open period has not begun. Or it has ended meanwhile, and others may have its meters.
 */
export async function isBehind(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  const { rows } = await sql<{ is_behind: boolean }>`
    SELECT ${row.current_period_end}::timestamptz <= billing_now()
      OR NOT ${row.is_scheduled} AND ${row.current_period_start}::timestamptz > billing_now()
      OR coalesce(${row.ended_at}::timestamptz <= billing_clock(), false) AS is_behind`.execute(transaction);
  return rows[0]?.is_behind ?? false;
}

/** The id of the subscription with this external_id. */
export async function findSubscriptionId(
  db: Queries,
  organizationId: string,
  externalId: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return found?.id;
}

/** The row, held until this transaction ends: lock 7 of decision 94. */
export async function lockSubscription(
  transaction: Queries,
  organizationId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return await transaction
    .selectFrom('subscriptions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** The subscriptions of a customer at whose boundaries the run has not been yet, held until this transaction ends. */
export async function lockSubscriptionsBehind(
  transaction: Queries,
  organizationId: string,
  customerId: string,
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('subscriptions')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('customer_id', '=', customerId)
    .where('status', '<>', 'CANCELED')
    .where('current_period_end', '<=', sql<string>`billing_now()`)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/** What a subscription is made from, held so that neither changes in what counts for it before this transaction ends. */
export interface Parties {
  now: string;
  customer: { id: string; external_id: string; time_zone: string } | undefined;
  plan:
    | { id: string; is_active: boolean; currency: string; billing_interval: Interval; trial_days: number }
    | undefined;
}

/** The customer by one of its two ids, in its own zone or else the organization's; the plan; and what the time is. */
export async function lockParties(
  transaction: Queries,
  organizationId: string,
  { customer, planId }: { customer: { id: string } | { external_id: string }; planId: string },
): Promise<Parties> {
  const [column, value] =
    'id' in customer ? (['id', customer.id] as const) : (['external_id', customer.external_id] as const);
  const { now, time_zone: zone } = await transaction
    .selectFrom('organizations')
    .select('time_zone')
    .select(sql<string>`billing_now()`.as('now'))
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
  const found = await transaction
    .selectFrom('customers')
    .select(['id', 'external_id', 'time_zone'])
    .where('organization_id', '=', organizationId)
    .where(column, '=', value)
    // An external_id is a part of a key: it does not change while this is held.
    .forKeyShare()
    .executeTakeFirst();
  const plan = await lockPlanToBill(transaction, organizationId, planId);
  return { now, plan, customer: found && { ...found, time_zone: found.time_zone ?? zone } };
}

/** A plan that is going to be billed: until this transaction ends nobody changes it or adds a charge to it. */
export async function lockPlanToBill(
  transaction: Queries,
  organizationId: string,
  planId: string,
): Promise<Parties['plan']> {
  return await transaction
    .selectFrom('plans')
    .select(['id', 'is_active', 'currency', 'billing_interval', 'trial_days'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', planId)
    .forShare()
    .executeTakeFirst();
}

/** The meters of the ACTIVE charges of a plan. */
export async function listMetersOfPlan(db: Queries, organizationId: string, planId: string): Promise<string[]> {
  const { rows } = await sql<{ meter_id: string }>`
    SELECT meter_id FROM charges WHERE organization_id = ${organizationId} AND plan_id = ${planId}
      AND meter_id IS NOT NULL AND ended_at IS NULL`.execute(db);
  return rows.map(({ meter_id }) => meter_id);
}

/**
 * Inserts a subscription that has opened nothing yet: its period 0, or its trial, is what opening begins with. Violates
 * `subscriptions_organization_id_external_id_key` where the external_id is taken.
 */
export async function insertSubscription(
  transaction: Queries,
  organizationId: string,
  subscription: NewSubscription,
): Promise<SubscriptionRow> {
  const { plan_id, start_at, trial_end_at } = subscription;
  const begins_at = trial_end_at ?? start_at;
  return await transaction
    .insertInto('subscriptions')
    .values({
      ...subscription,
      organization_id: organizationId,
      status: trial_end_at === null ? 'ACTIVE' : 'TRIAL',
      anchor_at: begins_at,
      current_period_start: start_at,
      current_period_end: begins_at,
      run_at: sql<string>`CASE WHEN ${start_at}::timestamptz > billing_now() THEN ${start_at}::timestamptz
        ELSE ${begins_at}::timestamptz END`,
      is_scheduled: sql<boolean>`${start_at}::timestamptz > billing_now()`,
      created_at: subscribedAt(organizationId, plan_id),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** When whoever subscribes to a plan now does so, which is not before its prices were given: these are what it is billed by. */
function subscribedAt(organizationId: string, planId: string): RawBuilder<string> {
  return sql`greatest(billing_now(), ${pricedLast(organizationId, planId)})`;
}

/** The `created_at` that a subscription to a plan would have. ISO 8601. */
export async function readSubscribedAt(db: Queries, organizationId: string, planId: string): Promise<string> {
  const { rows } = await sql<{ at: string }>`SELECT ${subscribedAt(organizationId, planId)} AS at`.execute(db);
  if (rows[0] === undefined) throw new Error('Postgres returned no time');
  return rows[0].at;
}

/** Whether a price of a plan was given after this transaction began: for this one it is not in force yet. Expects the plan held. */
export async function isPricedLater(transaction: Queries, organizationId: string, planId: string): Promise<boolean> {
  const { rows } = await sql<{ is_later: boolean | null }>`
    SELECT ${pricedLast(organizationId, planId)} > billing_now() AS is_later`.execute(transaction);
  return rows[0]?.is_later ?? false;
}

/** Changes a subscription that is locked, and returns it. */
export async function updateSubscription(
  transaction: Queries,
  { organization_id, id }: SubscriptionRow,
  changes: Partial<SubscriptionRow>,
): Promise<SubscriptionRow> {
  return await transaction
    .updateTable('subscriptions')
    .set(changes)
    .where('organization_id', '=', organization_id)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
