// Invariant 7 over all zones, against the calendar of Temporal. Zones whose clocks went alike are looked at once, and days and
// weeks where something happens: around the changes of the clock. Elsewhere all days are alike.

import type { Micros } from '@weir/shared/instant';
import { offsetSpans } from '@weir/shared/time-zone';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { dateOf } from './local-date.ts';
import { boundary, cycleAt, type Interval, periodAt, type Schedule } from './periods.ts';

const FROM = Date.UTC(2000, 0, 1) * 1000;
const TO = Date.UTC(2027, 0, 1) * 1000;
const HALF_HOUR = 1_800_000_000;

interface Change {
  timeZone: string;
  at: Micros;
}

/** One zone for each way in which clocks went, and one change for each local time from which a clock was set, and by how much. */
function whatDiffers(): { zones: string[]; changes: Change[] } {
  const zones = new Map<string, string>();
  const changes = new Map<string, Change>();
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    const spans = [...offsetSpans(timeZone, FROM, TO)];
    zones.set(spans.map(({ from, offset }) => `${from} ${offset}`).join(','), timeZone);
    spans.reduce((before, { from, offset }) => {
      if (before !== offset && from >= FROM) changes.set(`${from + before} ${offset - before}`, { timeZone, at: from });
      return offset;
    }, Number.NaN);
  }
  return { zones: [...zones.values()], changes: [...changes.values()] };
}

const { zones, changes } = whatDiffers();

function scheduleFrom(
  timeZone: string,
  firstInstant: Micros,
  interval: Interval,
  alignment: Schedule['alignment'],
): Schedule {
  return { timeZone, interval, alignment, anchor: dateOf(timeZone, firstInstant), firstInstant, firstCycle: 0 };
}

/** Where Temporal says that a date begins. */
function midnight(timeZone: string, date: Temporal.PlainDate): Micros {
  return date.toZonedDateTime({ timeZone }).epochMilliseconds * 1000;
}

/** The periods that are not as they should be: each end is the next start and later than its own, and both ends are found. */
function misplaced(schedule: Schedule, cycles: number): string[] {
  const wrong: string[] = [];
  let before = schedule.firstInstant;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const { start, end } = periodAt(schedule, cycle);
    const found =
      start === before && end > start && cycleAt(schedule, start) === cycle && cycleAt(schedule, end - 1) === cycle;
    if (!found) wrong.push(`${JSON.stringify(schedule)}: period ${cycle} is ${start} to ${end} after ${before}`);
    before = end;
  }
  return wrong;
}

test('there are zones and changes to look at', () => {
  expect(zones.length).toBeGreaterThan(80);
  expect(changes.length).toBeGreaterThan(400);
});

test('invariant 7: months and years tile the time since 2000 in every zone, and begin where Temporal says', () => {
  const wrong: string[] = [];
  for (const timeZone of zones) {
    const anchor = Temporal.PlainDate.from('2000-01-31');
    const schedule = scheduleFrom(timeZone, midnight(timeZone, anchor) + HALF_HOUR, 'month', 'anniversary');
    for (let months = 1; months <= 324; months++) {
      const expected = midnight(timeZone, anchor.add({ months }));
      if (boundary(schedule, months) !== expected) wrong.push(`${timeZone}: ${months} months`);
    }
    wrong.push(...misplaced(scheduleFrom(timeZone, FROM + HALF_HOUR, 'month', 'calendar'), 40));
    const leapDay = midnight(timeZone, Temporal.PlainDate.from('2000-02-29'));
    wrong.push(...misplaced(scheduleFrom(timeZone, leapDay, 'year', 'anniversary'), 27));
    wrong.push(...misplaced(scheduleFrom(timeZone, FROM, 'year', 'calendar'), 27));
  }
  expect(wrong).toEqual([]);
}, 120_000);

test('invariant 7: around every change of a clock days, weeks and months tile the time', () => {
  const wrong: string[] = [];
  for (const [index, { timeZone, at }] of changes.entries()) {
    const [one, other] = index % 2 === 0 ? (['week', 'month'] as const) : (['month', 'week'] as const);
    wrong.push(...misplaced(scheduleFrom(timeZone, at - ((index * 7) % 96) * HALF_HOUR - 1, 'day', 'calendar'), 4));
    // Begun at the change itself, and in the hour after it, which may be lived again.
    wrong.push(...misplaced(scheduleFrom(timeZone, at, 'day', 'anniversary'), 2));
    wrong.push(...misplaced(scheduleFrom(timeZone, at + (index % 3) * HALF_HOUR, one, 'anniversary'), 2));
    wrong.push(...misplaced(scheduleFrom(timeZone, at + HALF_HOUR, other, 'calendar'), 2));
    // A boundary on the date of the change, whatever its time.
    const anchor = Temporal.PlainDate.from(dateOf(timeZone, at)).subtract({ weeks: 1 });
    const weekly = scheduleFrom(timeZone, midnight(timeZone, anchor), 'week', 'anniversary');
    if (boundary(weekly, 1) !== midnight(timeZone, anchor.add({ weeks: 1 }))) wrong.push(`${timeZone} at ${at}`);
  }
  expect(wrong).toEqual([]);
}, 120_000);
