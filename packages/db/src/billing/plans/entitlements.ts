// Entitlements: what the plans of their subscriptions say about a feature, and how much of it they have used in the
// window of its limit. Both are read as they are now; nothing is kept.

import type { DueUsage } from '@weir/billing/due';
import type { BillingAlignment } from '@weir/billing/kinds';
import { dateOf } from '@weir/rating/local-date';
import { entitlementWindow, type EntitlementWindow } from '@weir/rating/windows';
import { microsOfText, type Micros } from '@weir/shared/instant';
import { YEARS } from '@weir/shared/limits';
import type { AggregationType } from '@weir/shared/meter';
import { digest } from '@weir/shared/hash';
import type pg from 'pg';
import type { FeatureType, UsageResetPeriod } from '../../schema.ts';
import { sumsFromRollups } from '../usage/due-rows.ts';
import type { DueUsageQuestion } from '../usage/due-question.ts';
import { usageOfSums } from '../usage/due-usage.ts';

/** Whose entitlements: those of a customer, by one of its ids, or what one subscription gives. */
export type Entitled = { customerExternalId: string } | { customerId: string } | { subscriptionId: string };

/** A subscription that has started and not ended, as far as it decides what a limit means. */
interface Entitling {
  customer_external_id: string;
  time_zone: string;
  billing_alignment: BillingAlignment;
  anchor: string;
  /** When a change of plan gave it another anchor that the run has not written down yet; null: none did. */
  anchored_at: string | null;
  start_at: string;
  is_enabled: boolean;
  usage_limit: string | null;
  usage_reset_period: UsageResetPeriod | null;
  is_soft_limit: boolean;
  static_value: string | null;
}

/** What is true of a feature at an instant. */
export interface EntitlementTerms {
  /** Its lookup_key. */
  feature: string;
  type: FeatureType;
  meter_id: string | null;
  aggregation_type: AggregationType | null;
  /** Whether there is a subscription at all. */
  is_subscribed: boolean;
  /** By the newest subscription that has the feature in its plan; null: none has. */
  given: Entitling | null;
  /** When this was so. */
  as_of: string;
}

/**
 * The terms of one feature by its lookup_key, none where there is no such feature; without it, those of every feature that a
 * subscription gives. Subscriptions count from their start until they end, also while they are in trial or past due. A change of plan
 * counts from its instant on, whether or not the run has been there.
 */
export async function findEntitlementTerms(
  pool: pg.Pool,
  organizationId: string,
  entitled: Entitled,
  feature?: string,
): Promise<EntitlementTerms[]> {
  const [which, id] = Object.entries(entitled)[0] as [Which, string];
  const name = `${feature === undefined ? 'entitlements' : 'entitlement'}-of-${which}`;
  const values = feature === undefined ? [organizationId, id] : [organizationId, id, feature];
  // Named, so that each connection plans it once.
  const { rows } = await pool.query<EntitlementTerms>({
    name,
    text: termsStatement(which, feature !== undefined),
    values,
  });
  return rows;
}

type Which = 'customerExternalId' | 'customerId' | 'subscriptionId';

/** Which subscriptions: $1 is the organization, $2 the id that is asked with. */
const SUBSCRIPTIONS_OF: Record<Which, string> = {
  customerExternalId: `customer_id = (SELECT id FROM customers WHERE organization_id = $1::uuid AND external_id = $2::text)`,
  customerId: 'customer_id = $2::uuid',
  subscriptionId: 'id = $2::uuid',
};

/**
 * $3 is the lookup_key of the feature, where one is asked for. Of subscriptions that are given the same plan the newest one decides, so the
 * others are left out first: what is read is the subscriptions and the features of their plans, and not each of these for each of those. The
 * OFFSETs have features looked up plan by plan, whatever Postgres believes to be in the tables.
 */
function termsStatement(which: Which, isOfOne: boolean): string {
  return `WITH live AS MATERIALIZED (
      SELECT DISTINCT ON (given_plan_id) id, created_at, coalesce(changed_to, plan_id) AS given_plan_id, changed_to,
        customer_external_id, time_zone, billing_interval, billing_alignment, anchor, start_at, current_period_end
      FROM subscriptions
      CROSS JOIN LATERAL (SELECT CASE WHEN current_period_end <= billing_now() THEN pending_plan_id END AS changed_to)
      WHERE organization_id = $1::uuid AND ${SUBSCRIPTIONS_OF[which]}
        AND status <> 'CANCELED' AND start_at <= billing_now() AND (ended_at IS NULL OR ended_at > billing_now())
      ORDER BY given_plan_id, created_at DESC, id DESC
    ), given AS MATERIALIZED (
      SELECT DISTINCT ON (feature_id) *
      FROM live CROSS JOIN LATERAL (
        SELECT feature_id, is_enabled, usage_limit, usage_reset_period, is_soft_limit, static_value FROM plan_features
        WHERE organization_id = $1::uuid AND plan_id = given_plan_id
          ${isOfOne ? `AND feature_id = (SELECT id FROM features WHERE ${ASKED})` : ''}
        OFFSET 0
      ) AS said
      ORDER BY feature_id, created_at DESC, id DESC
    )
    SELECT features.lookup_key AS feature, features.type, meters.id AS meter_id, meters.aggregation_type,
      EXISTS (SELECT FROM live) AS is_subscribed, CASE WHEN feature_id IS NOT NULL THEN json_build_object(
        'customer_external_id', customer_external_id, 'time_zone', time_zone,
        'billing_alignment', billing_alignment, 'anchor', anchor,
        'anchored_at', (SELECT given.current_period_end FROM plans WHERE organization_id = $1::uuid
          AND id = given.changed_to AND billing_interval <> given.billing_interval), 'start_at', start_at,
        'is_enabled', is_enabled, 'usage_limit', usage_limit::text,
        'usage_reset_period', usage_reset_period, 'is_soft_limit', is_soft_limit,
        'static_value', static_value) END AS given, billing_now() AS as_of
    FROM ${isOfOne ? `(SELECT * FROM features WHERE ${ASKED}) AS features LEFT JOIN given ON feature_id = features.id` : GIVEN}
    LEFT JOIN LATERAL (
      SELECT id, aggregation_type FROM meters WHERE organization_id = $1::uuid AND meters.feature_id = features.id OFFSET 0
    ) AS meters ON true
    ORDER BY features.id`;
}

const ASKED = 'organization_id = $1::uuid AND lookup_key = $3::text';

const GIVEN = `given CROSS JOIN LATERAL (
      SELECT * FROM features WHERE organization_id = $1::uuid AND id = feature_id OFFSET 0
    ) AS features`;

/** How much of a feature was used, and in which window. */
export interface EntitlementUsage {
  window: EntitlementWindow;
  /** What the meter reads, as a plain decimal; `0` where it reads nothing. */
  usage: string;
  /** The same without rounding: an average may be a fraction that no decimal is. */
  exact: string;
}

/** No event has a later time. It lies between two days, so nothing is cut there. */
const END_OF_TIME: Micros = Date.UTC(YEARS.max + 1, 0, 1) * 1000;

/**
 * Reads the usage behind those terms that have a meter and a subscription, all of it in one snapshot; the others have none,
 * and are null. In the order of the terms. Services ask before each use, so it is what is there: where a window begins within an hour of
 * which events are in a month that was taken out, those are missing, less than an hour of them.
 */
export async function readEntitlementUsage(
  pool: pg.Pool,
  organizationId: string,
  terms: readonly EntitlementTerms[],
): Promise<(EntitlementUsage | null)[]> {
  const found = terms.map(windowOf);
  const questions = terms.flatMap(({ meter_id: meterId, aggregation_type: aggregation, given }, index) => {
    const window = found[index] ?? null;
    if (window === null || meterId === null || aggregation === null || given === null) return [];
    const { customer_external_id: customerExternalId } = given;
    const { start, end } = window;
    return [
      { organizationId, meterId, customerExternalId, aggregation, start, end: end ?? END_OF_TIME, closing: null },
    ];
  });
  const read = (await readNow(pool, questions))[Symbol.iterator]();
  return found.map((window) => {
    if (window === null) return null;
    const usage = read.next();
    if (usage.done === true) throw new Error('less usage was read than was asked for');
    const { quantity, exact = quantity } = usage.value;
    return { window, usage: quantity, exact };
  });
}

async function readNow(pool: pg.Pool, questions: readonly DueUsageQuestion[]): Promise<DueUsage[]> {
  if (questions.length === 0) return [];
  const { text, values } = sumsFromRollups(questions, { ofWhatIsThere: true });
  // To plan it takes several times as long as to run it. There are a few forms of it, by what the meters read.
  const name = `entitled-usage-${digest(text)}`;
  const { rows } = await pool.query<{ sums: string | null }>({ name, text, values });
  return usageOfSums(questions, rows[0]?.sums ?? null);
}

/**
 * Windows that were found before. To ask a time zone for one takes as long as to read the usage in it. Nothing of what is kept
 * here can change: it is the same for as long as an instant lies in it.
 */
const windows = new Map<string, EntitlementWindow>();

/** Some megabytes. Past that it begins anew. */
const WINDOWS_MAX = 20_000;

function windowOf({ meter_id, given, as_of }: EntitlementTerms): EntitlementWindow | null {
  if (meter_id === null || given === null) return null;
  const { time_zone: timeZone, billing_alignment: alignment, anchored_at, start_at, usage_reset_period: reset } = given;
  const anchor = anchored_at === null ? given.anchor : dateOf(timeZone, microsOfText(anchored_at));
  const since = microsOfText(start_at);
  const at = Math.max(microsOfText(as_of), since);
  const key = `${timeZone} ${alignment} ${anchor} ${reset} ${since}`;
  const known = windows.get(key);
  if (known !== undefined && at >= known.start && (known.end === null || at < known.end)) return known;
  const window = entitlementWindow({ timeZone, alignment, anchor }, reset, at, since);
  if (windows.size >= WINDOWS_MAX) windows.clear();
  windows.set(key, window);
  return window;
}
