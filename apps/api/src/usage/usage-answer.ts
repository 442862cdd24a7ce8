// The usage of a meter as it is answered: thousands of periods are written as text, and as JSON, between the turns of others.

import type { Meter } from '@weir/db/meters';
import type { GroupedUsage } from '@weir/db/usage/read-groups';
import type { MeterUsage as ReadUsage } from '@weir/db/usage/read-usage';
import { isoOf } from '@weir/shared/instant';
import { LIMITS } from '@weir/shared/limits';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { type Grouping, nameOf, type Period, type Window } from '@weir/shared/window';
import { z } from 'zod';
import { EXACT_USAGE } from '../http/decimals.ts';
import { time } from '../http/fields.ts';

export const usage = z
  .string()
  .nullable()
  .meta({
    description: `${EXACT_USAGE} Null where there is no largest, smallest, mean or last value: nothing was counted.`,
  });

const groupedData = z.array(
  z.object({
    period: z.string().meta({
      description: '2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00.',
    }),
    period_start: time.meta({ description: 'Where the calendar period begins; the window may begin later.' }),
    usage,
    event_count: z.int(),
  }),
);

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
    overflow_event_count: z
      .int()
      .optional()
      .meta({
        description:
          `With group_by_metadata or filter: events of days (UTC) on which the meter saw more than ${LIMITS.dayCombinations.toLocaleString('en')} combinations of values, and ` +
          'whose own was not among the first of them. They are in total_usage and in the rest, but under no value and in no filter.',
      }),
    grouped_data: groupedData,
    groups: z
      .array(
        z.object({
          value: z
            .string()
            .nullable()
            .meta({
              description:
                'As text. Null: the events have no such key, or null, an array or an object there; or this is the rest. A text of more ' +
                `than ${LIMITS.groupValue} characters is its first 80 and a hash, and filter takes both forms.`,
            }),
          is_rest: z.boolean().meta({ description: 'All values beyond groups_limit together.' }),
          total_usage: usage,
          event_count: z.int(),
          grouped_data: groupedData.meta({ description: 'The periods of the whole, in the same order.' }),
        }),
      )
      .optional()
      .meta({ description: 'With group_by_metadata: largest first, then the rest if there is any.' }),
  })
  .meta({ id: 'MeterUsage' });

type Answer = z.output<typeof meterUsage>;
type Data = Answer['grouped_data'];
type Name = Pick<Data[number], 'period' | 'period_start'>;

/** Periods that are written in one step, which takes about a millisecond. */
const STEP = 250;

/** Writes what was read as JSON. To write ten thousand periods in one go would stop the event loop for some 30 ms. */
export function* writingUsage(
  meter: Meter,
  { window, grouping }: { window: Window; grouping: Grouping },
  read: ReadUsage | GroupedUsage,
): Generator<undefined, string, undefined> {
  const { total, uniqueCustomers, ofBucket } = read;
  const head: Omit<Answer, 'grouped_data' | 'groups'> = {
    meter_id: meter.id,
    aggregation_type: meter.aggregation_type,
    unit: meter.unit,
    total_usage: total.usage,
    event_count: total.event_count,
    unique_customers: uniqueCustomers,
    period_start: isoOf(window.start),
    period_end: isoOf(window.end),
    ...('overflowCount' in read && { overflow_event_count: read.overflowCount }),
  };
  const groupsRead = 'groups' in read ? read.groups : undefined;
  // Of several series each period is named once, by the first of them: to name it takes as long as to write it. Of a single one
  // nothing is kept, since what is kept is what the garbage collector has to copy.
  const names: Name[] | undefined = groupsRead === undefined ? undefined : [];
  const nameAt = (index: number, period: Period): Name => {
    const known = names?.[index];
    if (known !== undefined) return known;
    const name = { period: nameOf(period, grouping), period_start: isoOf(period.at) };
    if (names !== undefined) names[index] = name;
    return name;
  };
  const writingData = function* (ofOwnBucket: ReadUsage['ofBucket']): Generator<undefined, string, undefined> {
    const written: string[] = [];
    for (let from = 0; from < window.periods.length; from += STEP) {
      const some: Data = window.periods.slice(from, from + STEP).map((each, index) => {
        const { period, period_start } = nameAt(from + index, each);
        const { usage, event_count } = ofOwnBucket(from + index);
        // Not by spreading the two: V8 keeps what that makes for so long that each collection takes some 15 ms more.
        return { period, period_start, usage, event_count };
      });
      written.push(JSON.stringify(some).slice(1, -1));
      yield;
    }
    return `[${written.join()}]`;
  };
  const whole = `${JSON.stringify(head).slice(0, -1)},"grouped_data":${yield* writingData(ofBucket)}`;
  if (groupsRead === undefined) return `${whole}}`;
  const groups: string[] = [];
  for (const { value, isRest, total: own, ofBucket: ofOwnBucket } of groupsRead) {
    const group = { value, is_rest: isRest, total_usage: own.usage, event_count: own.event_count };
    groups.push(`${JSON.stringify(group).slice(0, -1)},"grouped_data":${yield* writingData(ofOwnBucket)}}`);
  }
  return `${whole},"groups":[${groups.join()}]}`;
}
