// Fields of requests and answers about subscriptions, and the instants that a body means.

import { SUBSCRIPTION_STATUSES } from '@weir/billing/kinds';
import { addMonths, firstInstantOfDate } from '@weir/rating/local-date';
import { boundary, INTERVALS, type Interval } from '@weir/rating/periods';
import { dateOf } from '@weir/rating/local-date';
import { trialEnd } from '@weir/rating/trial';
import { SUBSCRIPTION_SORTS, type Parties, type Subscription } from '@weir/db/billing/subscriptions/subscriptions';
import { microsInZone } from '@weir/shared/date-or-instant';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { text } from '@weir/shared/text';
import { FIRST_YEAR, LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, changesOf, dateOrInstant, flag, idOf, listQuery, oneOf, sortOf, time } from '../http/fields.ts';
import { invalidFields } from '../http/problem.ts';
import { refuseTooFarAhead } from './months-ahead.ts';

const point = dateOrInstant.meta({
  description: 'ISO 8601 with an offset; or a bare date, which is its first instant in the zone of the subscription.',
  examples: ['2026-01-31', '2026-01-31T09:30:00+01:00'],
});

export const subscriptionBody = z
  .strictObject({
    customer_id: idOf('must be the id of a customer').optional(),
    customer_external_id: text(1, LIMITS.key).optional().meta({ description: 'In place of customer_id.' }),
    plan_id: idOf('must be the id of a plan'),
    external_id: text(1, LIMITS.key).nullable().default(null).meta({
      description: 'Your own id of it. A request that is sent again gets 409, with the id of the first one.',
    }),
    start_date: point.optional().meta({
      description: `Default: now. At most ${LIMITS.monthsAhead} months ahead: it is SCHEDULED until then, and its meters are reserved.`,
    }),
    billing_interval: oneOf(INTERVALS).optional().meta({ description: 'That of the plan, if it is sent at all.' }),
    billing_alignment: oneOf(['anniversary', 'calendar']).default('anniversary').meta({
      description: 'Whether periods begin on the day of the start, or on the first of the month, Monday or 1 January.',
    }),
    trial_end_date: point.nullable().optional().meta({
      description: 'In place of the trial_days of the plan. Null: no trial.',
    }),
  })
  .superRefine(({ customer_id: id, customer_external_id: externalId }, { addIssue }) => {
    if (id === undefined && externalId === undefined)
      addIssue({ code: 'custom', path: ['customer_id'], message: 'is required, or customer_external_id in its place' });
    if (id !== undefined && externalId !== undefined)
      addIssue({
        code: 'custom',
        path: ['customer_id'],
        message: 'must not be sent together with customer_external_id: send one of them',
      });
  });

export type SubscriptionBody = z.output<typeof subscriptionBody>;

export const subscriptionChanges = changesOf({
  cancel_at_period_end: z.literal(false).meta({ description: 'Takes a cancellation back, until it takes place.' }),
  pending_plan_id: z.null().meta({ description: 'Takes a change of plan back, until it takes place.' }),
});

export const cancelBody = z.strictObject({
  cancel_at_period_end: z.boolean().default(true).meta({ description: 'False: it ends now.' }),
  reason: text(1, LIMITS.note).nullable().default(null),
});

export const changeBody = z.strictObject({
  plan_id: idOf('must be the id of a plan'),
  when: oneOf(['period_end', 'now']).default('period_end').meta({
    description:
      'Now: what the old plan comes to until this instant and what the new one has in advance are on one invoice.',
  }),
});

export const previewChangeBody = changeBody.omit({ when: true });

export const subscriptionQuery = listQuery({
  customer_id: idOf('must be the id of a customer').optional(),
  plan_id: idOf('must be the id of a plan').optional(),
  external_id: text(1, LIMITS.key).optional().meta({ description: 'Of the subscription, to the letter.' }),
  status: oneOf(SUBSCRIPTION_STATUSES).optional(),
  has_run_error: flag.optional().meta({
    description:
      'Those of which the run could not bill something when it last tried, a period or a draft that it finalizes; or all others. It tries again by itself.',
  }),
  ...sortOf(SUBSCRIPTION_SORTS, '-created_at'),
});

export const periodsQuery = z.strictObject({
  count: z
    .unknown()
    .refine(
      (value) => typeof value === 'string' && /^(0|[1-9]\d*)$/.test(value) && Number(value) <= LIMITS.monthsAhead,
      `must be a whole number from 0 to ${LIMITS.monthsAhead}`,
    )
    .meta({ type: 'integer', minimum: 0, maximum: LIMITS.monthsAhead })
    .transform(Number)
    .default(1)
    .meta({ description: 'How many periods after the current one.' }),
});

export const subscriptionAnswer = answerOf<Subscription>()({
  id: z.uuid(),
  external_id: z.string().nullable(),
  customer_id: z.uuid(),
  customer_external_id: z.string(),
  plan_id: z.uuid(),
  plan_name: z.string(),
  pending_plan_id: z.uuid().nullable().meta({ description: 'What it goes over to at the end of the period.' }),
  status: z.enum(SUBSCRIPTION_STATUSES),
  start_date: time,
  trial_end_date: time.nullable(),
  time_zone: z.string(),
  currency: z.string(),
  billing_interval: z.enum(INTERVALS),
  billing_alignment: z.enum(['anniversary', 'calendar']),
  cycle: z.int().nullable().meta({ description: 'Counts periods from 0; null before the first one.' }),
  periods_to_open: z.int().meta({
    description:
      'How many periods have begun that are not opened yet. Of a long past the first ones are opened with the request, ' +
      'and the run opens the others; until then it cannot be changed or canceled.',
  }),
  current_period_start: time.meta({
    description: 'In a trial, and before one, its own; before any other start, that.',
  }),
  current_period_end: time,
  cancel_at_period_end: z.boolean(),
  cancel_reason: z.string().nullable(),
  canceled_at: time.nullable().meta({ description: 'When its end was asked for.' }),
  ended_at: time.nullable().meta({ description: 'When it ends or ended.' }),
  created_at: time,
}).meta({ id: 'Subscription' });

export const periodsAnswer = z.object({
  data: z.array(
    z.object({
      cycle: z.int(),
      plan_id: z.uuid().meta({ description: 'The plan whose charges bill it.' }),
      period_start: time,
      period_end: time,
      days: z.string().nullable().meta({ description: 'The dates in force of those of all of it; null: it is whole.' }),
    }),
  ),
});

/** When a subscription begins, and when it begins to be billed. */
export interface Terms {
  start_at: string;
  trial_end_at: string | null;
  /** The local date on which period 0 begins. */
  anchor: string;
}

/** The instants that a body means, in the zone of its customer. Throws a Refusal for those that cannot be. */
export function termsOf(
  body: SubscriptionBody,
  { now: nowText, plan, timeZone }: { now: string; plan: NonNullable<Parties['plan']>; timeZone: string },
): Terms {
  const now = microsOfText(nowText);
  if (body.billing_interval !== undefined && body.billing_interval !== plan.billing_interval)
    throw invalidFields([{ path: 'billing_interval', message: `must be that of the plan, ${plan.billing_interval}` }]);
  const start = body.start_date === undefined ? now : microsInZone(body.start_date, timeZone);
  const startDate = checkStart(start, { now, timeZone, interval: plan.billing_interval });
  const trial = trialOf(body, { start, days: plan.trial_days, timeZone });
  if (trial === null) return { start_at: isoOf(start), trial_end_at: null, anchor: startDate };
  return { start_at: isoOf(start), trial_end_at: isoOf(trial), anchor: dateOf(timeZone, trial) };
}

const TOO_LONG_AGO = `must be in the year ${FIRST_YEAR} or later`;

function checkStart(
  start: Micros,
  { now, timeZone, interval }: { now: Micros; timeZone: string; interval: Interval },
): string {
  const refuse = (message: string) => invalidFields([{ path: 'start_date', message }]);
  refuseTooFarAhead('start_date', start, { now, timeZone });
  // Before dates are counted: those of other millennia are none of the calendar's concern.
  if (start < Date.UTC(FIRST_YEAR - 1, 11, 31) * 1000) throw refuse(TOO_LONG_AGO);
  const anchor = dateOf(timeZone, start);
  if (anchor < `${FIRST_YEAR}-01-01`) throw refuse(TOO_LONG_AGO);
  const schedule = {
    timeZone,
    interval,
    alignment: 'anniversary',
    anchor,
    firstInstant: start,
    firstCycle: 0,
  } as const;
  if (boundary(schedule, LIMITS.periodsAgo) < now)
    throw refuse(`must be at most ${LIMITS.periodsAgo} periods ago, and a period is a ${interval}`);
  return anchor;
}

/** When the trial ends; null where there is none. */
function trialOf(
  { trial_end_date: given }: SubscriptionBody,
  { start, days, timeZone }: { start: Micros; days: number; timeZone: string },
): Micros | null {
  if (given === null || (given === undefined && days === 0)) return null;
  if (given === undefined) return trialEnd(timeZone, start, days);
  const end = microsInZone(given, timeZone);
  const refuse = (message: string) => invalidFields([{ path: 'trial_end_date', message }]);
  if (end < start) throw refuse('must not be before the start');
  if (end > firstInstantOfDate(timeZone, addMonths(dateOf(timeZone, start), LIMITS.trialMonths)))
    throw refuse(`must be at most ${LIMITS.trialMonths / 12} years after the start`);
  return end === start ? null : end;
}
