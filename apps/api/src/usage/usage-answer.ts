// The usage of a meter as it is answered: thousands of periods are written as text, and as JSON, between the turns of others.

import type { Meter } from '@weir/db/meters';
import type { MeterUsage as ReadUsage } from '@weir/db/usage/read-usage';
import { isoOf } from '@weir/shared/instant';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { type Grouping, nameOf, type Window } from '@weir/shared/window';
import { z } from 'zod';
import { time } from '../http/fields.ts';

export const usage = z.string().nullable().meta({
  description: 'An exact decimal. Null where there is no largest, smallest, mean or last value: nothing was counted.',
});

export const meterUsage = z
  .object({
    meter_id: z.uuid(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    unit: z.string().nullable(),
    total_usage: usage,
    event_count: z.int(),
    unique_customers: z.int(),
    period_start: time,
    period_end: time.meta({ description: 'The first instant that does not count any more.' }),
    grouped_data: z.array(
      z.object({
        period: z.string().meta({
          description: '2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00.',
        }),
        period_start: time.meta({ description: 'Where the calendar period begins; the window may begin later.' }),
        usage,
        event_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'MeterUsage' });

type Answer = z.output<typeof meterUsage>;

/** Periods that are written in one step, which takes about a millisecond. */
const STEP = 250;

/** Writes what was read as JSON. To write ten thousand periods in one go would stop the event loop for some 30 ms. */
export function* writingUsage(
  meter: Meter,
  { window, grouping }: { window: Window; grouping: Grouping },
  { total, uniqueCustomers, ofBucket }: ReadUsage,
): Generator<undefined, string, undefined> {
  const { start, end, periods } = window;
  const head: Omit<Answer, 'grouped_data'> = {
    meter_id: meter.id,
    aggregation_type: meter.aggregation_type,
    unit: meter.unit,
    total_usage: total.usage,
    event_count: total.event_count,
    unique_customers: uniqueCustomers,
    period_start: isoOf(start),
    period_end: isoOf(end),
  };
  const written: string[] = [];
  for (let from = 0; from < periods.length; from += STEP) {
    const some: Answer['grouped_data'] = periods.slice(from, from + STEP).map((period, index) => {
      return { period: nameOf(period, grouping), period_start: isoOf(period.at), ...ofBucket(from + index) };
    });
    written.push(JSON.stringify(some).slice(1, -1));
    yield;
  }
  return `${JSON.stringify(head).slice(0, -1)},"grouped_data":[${written.join()}]}`;
}
