// When the periods of a subscription begin and end, by what it is.

import { boundary, type Schedule } from '@weir/rating/periods';
import { daysOf } from '@weir/rating/proration';
import type { Days } from '@weir/rating/rate';
import { microsOfText, type Micros } from '@weir/shared/instant';
import type { SubscriptionState } from './subscription.ts';

/** The fields of a subscription that its boundaries are counted by. */
export type Anchored = Pick<
  SubscriptionState,
  'time_zone' | 'billing_interval' | 'billing_alignment' | 'anchor' | 'anchor_at' | 'anchor_cycle'
>;

/** One period before it is opened. */
export interface Period {
  cycle: number;
  start: Micros;
  end: Micros;
  /** Local dates in force, of those of the whole period; null where it is whole. */
  days: Days | null;
}

/** By what the boundaries of a subscription are counted. */
export function scheduleOf(row: Anchored): Schedule {
  return {
    timeZone: row.time_zone,
    interval: row.billing_interval,
    alignment: row.billing_alignment,
    anchor: row.anchor,
    firstInstant: microsOfText(row.anchor_at),
    firstCycle: row.anchor_cycle,
  };
}

/** Finds periods, and keeps their boundaries: subscriptions of one chunk mostly share them, and zones are slow to ask. */
export class PeriodCache {
  readonly #boundaries = new Map<string, Micros>();

  /** `isPart`: it begins within a period, and not with it, as after a change of plan. */
  periodOf(row: Anchored, cycle: number, start: Micros, { isPart = false } = {}): Period {
    const schedule = scheduleOf(row);
    const end = this.#boundaryOf(schedule, cycle + 1);
    // Else only the first after an anchor can be a part of one.
    const days =
      isPart || cycle === schedule.firstCycle ? daysOf(schedule, cycle, { start, end, endDateCounts: false }) : null;
    return { cycle, start, end, days };
  }

  #boundaryOf(schedule: Schedule, cycle: number): Micros {
    const { timeZone, interval, alignment, anchor, firstCycle } = schedule;
    const key = `${timeZone} ${interval} ${alignment} ${anchor} ${cycle - firstCycle}`;
    const known = this.#boundaries.get(key);
    if (known !== undefined) return known;
    const at = boundary(schedule, cycle);
    this.#boundaries.set(key, at);
    return at;
  }
}
