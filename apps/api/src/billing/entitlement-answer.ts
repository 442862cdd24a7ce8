// Answers what a customer may use now. The order matters: when it was, then what waits in the queue, then what is recorded. So every
// event that was accepted before `as_of` is in the usage, or queued_since tells that one may be missing. Services ask before each use, so
// what is recorded is told also while Redis is away, and nobody can say what waits.

import type { Database } from '@weir/db/database';
import {
  findEntitlementTerms,
  readEntitlementUsage,
  type Entitled,
  type EntitlementTerms,
  type EntitlementUsage,
} from '@weir/db/billing/plans/entitlements';
import type { QueueConnection } from '@weir/queue/connection';
import { findQueuedSince } from '@weir/queue/oldest-staged';
import { isRedisAway, isRefusedByRedis } from '@weir/queue/redis-away';
import { add, compare, formatExact, max, parseExact, subtract, ZERO } from '@weir/rating/exact';
import { isoOf, type Micros } from '@weir/shared/instant';
import { z } from 'zod';
import { time } from '../http/fields.ts';

const decimal = z.string().nullable();

export const entitlementAnswer = z
  .object({
    feature: z.string().meta({ description: 'Its lookup_key.' }),
    type: z.enum(['meter', 'switch', 'custom']),
    has_access: z.boolean(),
    reason: z.enum(['ok', 'no_subscription', 'not_in_plan', 'disabled', 'limit_reached']),
    limit: decimal.meta({ description: 'Null: there is none.' }),
    usage: decimal.meta({
      description:
        'What is recorded in the window of the limit. Where the window begins within an hour, as that of a limit that never resets may, ' +
        'events of that hour are missing while their month is taken out of the database.',
    }),
    remaining: decimal.meta({
      description:
        'Null: there is no limit. That of an average is rounded as the usage is; has_access is judged by the fraction.',
    }),
    overage: decimal,
    is_soft_limit: z.boolean(),
    static_value: z.string().nullable(),
    period_start: time.nullable().meta({ description: 'Since when usage counts.' }),
    resets_at: time.nullable().meta({ description: 'When it begins at 0 again; null: never.' }),
    as_of: time,
    queued_since: time.nullable().meta({
      description:
        'Events that were accepted since then may not be in the usage yet. Null: all are. While the queue cannot be asked it is ' +
        'period_start: any of them may be missing.',
    }),
  })
  .meta({ id: 'Entitlement' });

export type Entitlement = z.output<typeof entitlementAnswer>;

/** Where entitlements are read. */
export interface EntitlementDeps {
  database: Database;
  queue: QueueConnection;
}

/** Which ones, and what is asked about them. */
export interface EntitlementQuestion {
  organizationId: string;
  entitled: Entitled;
  /** The lookup_key of one feature; without it, every feature that a subscription gives. */
  feature?: string | undefined;
  /** How much is about to be used, as a plain decimal; without it, anything at all. */
  quantity?: string | undefined;
}

/** Reads entitlements as they are now; of a feature that there is not, none. */
export async function readEntitlements(
  { database, queue }: EntitlementDeps,
  { organizationId, entitled, feature, quantity }: EntitlementQuestion,
): Promise<Entitlement[]> {
  const { pool } = database;
  const terms = await findEntitlementTerms(pool, organizationId, entitled, feature);
  const isMetered = terms.some(({ meter_id, given }) => meter_id !== null && given !== null);
  const queuedSince = isMetered ? await lookForQueued(queue, organizationId) : undefined;
  const usages = await readEntitlementUsage(pool, organizationId, terms);
  return terms.map((each, index) => {
    const usage = usages[index] ?? null;
    const since = usage === null || queuedSince === undefined ? null : (queuedSince ?? usage.window.start);
    return { ...judge(each, usage, quantity), as_of: each.as_of, queued_since: since === null ? null : isoOf(since) };
  });
}

/** Since when events wait; undefined: none does; null: nobody can say. */
async function lookForQueued(queue: QueueConnection, organizationId: string): Promise<Micros | null | undefined> {
  try {
    const since = await findQueuedSince(queue, organizationId);
    return since === undefined ? undefined : since * 1000;
  } catch (error) {
    if (isRedisAway(error) || isRefusedByRedis(error)) return null;
    throw error;
  }
}

type Judged = Omit<Entitlement, 'as_of' | 'queued_since'>;

function judge(
  { feature, type, is_subscribed, given }: EntitlementTerms,
  read: EntitlementUsage | null,
  quantity?: string,
): Judged {
  const limit = read === null || given === null || given.usage_limit === null ? null : parseExact(given.usage_limit);
  const [usage, exact] = read === null ? [ZERO, ZERO] : [parseExact(read.usage), parseExact(read.exact)];
  const isWithin =
    limit === null ||
    (quantity === undefined ? compare(exact, limit) < 0 : compare(add(exact, parseExact(quantity)), limit) <= 0);
  const reason = reasonOf({ is_subscribed, given, isWithin });
  return {
    feature,
    type,
    has_access: reason === 'ok',
    reason,
    limit: limit === null ? null : formatExact(limit),
    usage: read === null ? null : formatExact(usage),
    remaining: limit === null ? null : formatExact(max(ZERO, subtract(limit, usage))),
    overage: limit === null ? null : formatExact(max(ZERO, subtract(usage, limit))),
    is_soft_limit: given?.is_soft_limit ?? false,
    static_value: given?.static_value ?? null,
    period_start: read === null ? null : isoOf(read.window.start),
    resets_at: read === null || read.window.end === null ? null : isoOf(read.window.end),
  };
}

function reasonOf({
  is_subscribed,
  given,
  isWithin,
}: Pick<EntitlementTerms, 'is_subscribed' | 'given'> & { isWithin: boolean }): Judged['reason'] {
  if (!is_subscribed) return 'no_subscription';
  if (given === null) return 'not_in_plan';
  if (!given.is_enabled) return 'disabled';
  return isWithin || given.is_soft_limit ? 'ok' : 'limit_reached';
}
