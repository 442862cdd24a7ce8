// How an organization stands, in one answer: what was tracked in this month so far, what has to be looked at, and what is to be paid.

import { findMostBilled, summarizeInvoices } from '@weir/db/billing/invoices/invoice-summary';
import { readExpectedRevenue } from '@weir/db/billing/run/expected-revenue';
import { countRejected } from '@weir/db/events';
import { findTimeZone } from '@weir/db/organizations';
import { countEvents, findTopCustomers, readUsageOfMeters } from '@weir/db/usage/read-overview';
import type { QueueConnection } from '@weir/queue/connection';
import { isoOf, type Micros } from '@weir/shared/instant';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { monthsOf } from '@weir/shared/months';
import { SparseLog } from '@weir/shared/sparse-log';
import { z } from 'zod';
import { EXACT_USAGE } from '../http/decimals.ts';
import { time } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import { readWaitingUnlessAway, waiting } from '../system/system-route.ts';
import type { App } from '../http/typed-app.ts';
import { stretchesOf } from './overview-stretches.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface OverviewDeps extends RouteDeps {
  queue: QueueConnection;
}

const TOP = 5;

type Months = ReturnType<typeof monthsOf>;

/** In buckets of a chart: about what it takes of Postgres beside one. */
const COST = 1_000;

const LEFT_OUT = 'Null where it would take too long to count.';

const overview = z
  .object({
    period_start: time.meta({ description: 'The first instant of this month in the time zone of the organization.' }),
    time_zone: z.string().meta({ description: 'That of the organization, in which months and days are.' }),
    period_end: time.meta({
      description: 'The end of the quarter of an hour that is under way: figures are sums of quarters of an hour.',
    }),
    events: z.object({
      recorded: z
        .int()
        .nullable()
        .meta({ description: `Events of this period. ${LEFT_OUT}` }),
      previous: z.int().nullable().meta({ description: 'Those of the month before, up to the same time of it.' }),
      days: z
        .array(
          z.object({
            start: time.meta({ description: 'The first instant of the day.' }),
            recorded: z
              .int()
              .nullable()
              .meta({ description: 'Events of this day of this month; null where it is still to come.' }),
            previous: z.int().nullable().meta({
              description: 'Those of the same day of the month before, all of it; null where that had no such day.',
            }),
          }),
        )
        .nullable()
        .meta({ description: `One for each day of this month, in the time zone of the organization. ${LEFT_OUT}` }),
    }),
    top_meters: z
      .array(
        z.object({
          meter_id: z.uuid(),
          name: z.string(),
          unit: z.string().nullable(),
          aggregation_type: z.enum(AGGREGATION_TYPES),
          usage: z
            .string()
            .nullable()
            .meta({
              description: `${EXACT_USAGE} Null where there are too many distinct values to count them at a glance: the usage of the meter has them.`,
            }),
          event_count: z.int(),
        }),
      )
      .nullable()
      .meta({ description: `Those with the most events in this period. ${LEFT_OUT}` }),
    top_customers: z
      .array(
        z.object({
          customer_external_id: z.string(),
          customer_id: z.uuid().nullable().meta({ description: 'Null where the customer has no record.' }),
          name: z.string().nullable(),
          event_count: z.int(),
        }),
      )
      .nullable()
      .meta({ description: `Those with the most events in this period. ${LEFT_OUT}` }),
    rejected: z.object({ count: z.int().meta({ description: 'Rejected events that were not replayed yet.' }) }),
    waiting,
    invoices: z
      .array(
        z.object({
          currency: z.string(),
          draft_count: z.int(),
          open_count: z.int().meta({ description: 'Open invoices, past due or not.' }),
          open_amount: z.string().meta({ description: 'What is still to be paid of them.' }),
          past_due_count: z.int(),
          past_due_amount: z.string(),
          finalized_total: z.string().meta({
            description:
              'What the invoices come to that were finalized in this period, without those that were voided.',
          }),
          finalized_before: z.string().meta({ description: 'The same of the whole month before.' }),
          top_customers: z
            .array(
              z.object({
                customer_id: z.uuid(),
                external_id: z.string(),
                name: z.string().nullable(),
                finalized_total: z.string(),
              }),
            )
            .meta({ description: 'Those whose invoices of `finalized_total` came to most.' }),
        }),
      )
      .meta({ description: 'By currency.' }),
    has_uncounted_invoices: z.boolean().meta({
      description: 'Whether it would take too long to add up the invoices: `invoices` is empty then.',
    }),
    expected: z
      .object({
        began_at: time,
        ended_at: time.meta({ description: 'Each subscription was read at some time between the two.' }),
        currencies: z.array(
          z.object({
            currency: z.string(),
            drafts: z.string().meta({ description: 'What all drafts come to.' }),
            open_periods: z.string().meta({
              description:
                'What the open periods of all subscriptions have come to so far that end by the end of this month: their usage, and ' +
                'what is billed at their end. A month ends where the customer of a period is.',
            }),
            rebilled: z.string().meta({
              description:
                'What void invoices have left for the next ones (`is_rebilling` of a subscription), of subscriptions that have no draft and whose ' +
                'next invoice is of a later month, with what came late of these. `POST /subscriptions/{id}/settle` bills it now.',
            }),
            total: z.string(),
            left_out: z.int().meta({
              description: 'How many of all these are not in it, since they cannot be computed now.',
            }),
          }),
        ),
      })
      .nullable()
      .meta({
        description:
          'What may be expected to be invoiced, by currency and before credits. A worker reckons it for who asks: at most every ten ' +
          'minutes, and less often where it takes long. Null before the first time.',
      }),
  })
  .meta({ id: 'Overview' });

export function overviewRoute(app: App, { guards, database, queue }: OverviewDeps): void {
  const sparse = new SparseLog();
  app.get(
    '/api/v1/overview',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getOverview',
        tags: ['Usage'],
        summary: 'How the organization stands in this month so far',
        description: 'Made of sums, whatever the number of events. It counts as much as a chart of a thousand periods.',
        // Version 1.0.0 told of this code, and codes stay.
        response: { 200: overview, ...problemResponses('missing_scope') },
      },
    },
    async (request): Promise<z.output<typeof overview>> => {
      const { organizationId } = request.caller;
      request.pay(COST);
      const at = Date.now() * 1000;
      const timeZone = await findTimeZone(database.kysely, organizationId);
      const months = monthsOf(timeZone, at);
      const { now, before } = stretchesOf(timeZone, months, at);
      const since = isoOf(now.start);
      // One after the other: several connections at once would make the others wait for one who opens a page.
      const days = [...months.before.days, ...months.now.days];
      const counted = await countEvents(database.pool, organizationId, { now, before, days });
      const meters = counted?.meters;
      const top = meters?.filter(({ recorded }) => recorded > 0).slice(0, TOP) ?? [];
      const usages = await readUsageOfMeters(database.pool, organizationId, top, now);
      const summaries = await summarizeInvoices(database.kysely, organizationId, {
        from: isoOf(before.start),
        since,
      });
      const mostBilled =
        summaries === undefined ? [] : await findMostBilled(database.kysely, organizationId, { since, limit: TOP });
      const sum = (of: 'recorded' | 'previous') => meters?.reduce((total, meter) => total + meter[of], 0) ?? null;
      return {
        period_start: since,
        time_zone: timeZone,
        period_end: isoOf(now.end),
        events: {
          recorded: sum('recorded'),
          previous: sum('previous'),
          days: counted === undefined ? null : daysOf(months, counted.days, at),
        },
        top_meters:
          meters === undefined
            ? null
            : top.map(({ meter_id, name, unit, aggregation_type }, place) => {
                const { usage, event_count } = usages[place] ?? { usage: null, event_count: 0 };
                return { meter_id, name, unit, aggregation_type, usage, event_count };
              }),
        top_customers: (await findTopCustomers(database.pool, organizationId, now, TOP)) ?? null,
        rejected: { count: await countRejected(database, organizationId) },
        waiting: await readWaitingUnlessAway(queue, organizationId),
        invoices: (summaries ?? []).map((summary) => ({
          ...summary,
          top_customers: mostBilled
            .filter(({ currency }) => currency === summary.currency)
            .map(({ customer_id, external_id, name, finalized_total }) => ({
              customer_id,
              external_id,
              name,
              finalized_total,
            })),
        })),
        has_uncounted_invoices: summaries === undefined,
        expected: await readExpectedRevenue(database.kysely, organizationId, (err) =>
          sparse.warn(request.log, 'expected', { err }, 'nobody was asked to reckon what may be invoiced'),
        ),
      };
    },
  );
}

/** Each day of this month, beside the same day of the one before. `counted` begins with those of that one. */
function daysOf({ now, before }: Months, counted: readonly number[], at: Micros) {
  return now.days.map((start, index) => ({
    start: isoOf(start),
    recorded: start > at ? null : (counted[before.days.length + index] ?? 0),
    previous: index < before.days.length ? (counted[index] ?? 0) : null,
  }));
}
