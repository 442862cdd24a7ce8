// Invariant 7 over all zones, against the calendar of Temporal. Zones whose clocks went alike are looked at once, and days and
// weeks where something happens: around the changes of the clock. Elsewhere all days are alike.

import type { Micros } from '@weir/shared/instant';
import { offsetSpans } from '@weir/shared/time-zone';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { dateOf } from './local-date.ts';
import { boundary, cycleAt, type Interval, periodAt, type Schedule } from './periods.ts';

const FROM = Date.UTC(2000, 0, 1) * 1000;
const TO = Date.UTC(2031, 0, 1) * 1000;
const HALF_HOUR = 1_800_000_000;

interface Zone {
  timeZone: string;
  changes: Micros[];
}

/** One zone for each way in which clocks went since 2000, with when they were set. */
function zonesThatDiffer(): Zone[] {
  const zones = new Map<string, Zone>();
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    const spans = [...offsetSpans(timeZone, FROM, TO)];
    const key = spans.map(({ from, offset }) => `${from} ${offset}`).join(',');
    zones.set(key, { timeZone, changes: spans.map(({ from }) => from).filter((from) => from >= FROM) });
  }
  return [...zones.values()];
}

const ZONES = zonesThatDiffer();

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

/** Each end is the next start and later than its own, and both ends of a period are in it. */
function expectTiles(schedule: Schedule, cycles: number): void {
  let before = schedule.firstInstant;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const { start, end } = periodAt(schedule, cycle);
    const found =
      start === before && end > start && cycleAt(schedule, start) === cycle && cycleAt(schedule, end - 1) === cycle;
    if (!found) expect.fail(`${JSON.stringify(schedule)}: period ${cycle} is ${start} to ${end} after ${before}`);
    before = end;
  }
}

test('there are zones to look at, with their changes', () => {
  expect(ZONES.length).toBeGreaterThan(80);
  expect(ZONES.flatMap(({ changes }) => changes).length).toBeGreaterThan(1500);
});

test('invariant 7: months and years tile the time since 2000 in every zone, and begin where Temporal says', () => {
  for (const { timeZone } of ZONES) {
    const anchor = Temporal.PlainDate.from('2000-01-31');
    const schedule = scheduleFrom(timeZone, midnight(timeZone, anchor) + HALF_HOUR, 'month', 'anniversary');
    for (const months of Array.from({ length: 324 }, (_, at) => at + 1)) {
      const expected = midnight(timeZone, anchor.add({ months }));
      if (boundary(schedule, months) !== expected) expect.fail(`${timeZone}: ${months} months`);
    }
    expectTiles(scheduleFrom(timeZone, FROM + HALF_HOUR, 'month', 'calendar'), 40);
    expectTiles(
      scheduleFrom(timeZone, midnight(timeZone, Temporal.PlainDate.from('2000-02-29')), 'year', 'anniversary'),
      30,
    );
    expectTiles(scheduleFrom(timeZone, FROM, 'year', 'calendar'), 30);
  }
}, 60_000);

test('invariant 7: around every change of a clock days, weeks and months tile the time, whenever they were begun', () => {
  let looked = 0;
  for (const { timeZone, changes } of ZONES) {
    for (const change of changes) {
      looked += 1;
      const before = dateOf(timeZone, change - 40 * HALF_HOUR);
      const start = change - ((looked * 7) % 96) * HALF_HOUR - 1;
      expectTiles(scheduleFrom(timeZone, start, 'day', looked % 2 === 0 ? 'anniversary' : 'calendar'), 4);
      // Begun at the change itself, and in the hour after it, which may be lived again.
      expectTiles(scheduleFrom(timeZone, change, 'day', 'anniversary'), 2);
      expectTiles(
        scheduleFrom(timeZone, change + (looked % 3) * HALF_HOUR, looked % 2 === 0 ? 'week' : 'month', 'anniversary'),
        2,
      );
      expectTiles(scheduleFrom(timeZone, change + HALF_HOUR, looked % 2 === 0 ? 'week' : 'month', 'calendar'), 2);
      // A boundary on the day of the change.
      const anchor = Temporal.PlainDate.from(before).subtract({ weeks: 1 });
      const weekly = scheduleFrom(timeZone, midnight(timeZone, anchor), 'week', 'anniversary');
      if (boundary(weekly, 1) !== midnight(timeZone, anchor.add({ weeks: 1 }))) expect.fail(`${timeZone}: ${before}`);
    }
  }
  expect(looked).toBeGreaterThan(1500);
}, 60_000);
