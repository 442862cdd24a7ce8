import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { DAY, localTime, offsetSpans, type OffsetSpan } from './time-zone.ts';

/** Some set their clocks twice a year, by half an hour, around Ramadan or no more; one left out a date, one had seconds. */
const ZONES = [
  'UTC',
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Africa/Monrovia',
  'Asia/Tehran',
  'Asia/Kathmandu',
];
const [FIRST, LAST] = [Date.UTC(1960, 0) * 1_000, Date.UTC(2060, 0) * 1_000];

const clockAt = (timeZone: string, at: number) =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1_000)).toZonedDateTimeISO(timeZone);

/** The same of the time zone database, change by change. */
function spansByChange(timeZone: string, from: number, to: number): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  let [clock, since] = [clockAt(timeZone, from), -Infinity];
  for (;;) {
    const offset = clock.offsetNanoseconds / 1_000;
    const next = clock.getTimeZoneTransition('next');
    const at = next === null ? Infinity : next.epochMilliseconds * 1_000;
    if (next === null || at >= to) return [...spans, { from: since, to: Infinity, offset }];
    spans.push({ from: since, to: at, offset });
    [clock, since] = [next, at];
  }
}

test.for(ZONES)('the clocks of %s stand as the time zone database says, over any time', (timeZone) => {
  for (let part = 0; part < 40; part += 1) {
    const from = FIRST + Math.floor(((LAST - FIRST) * part) / 40) + part * 1_234_567;
    for (const length of [0, 1, 4 * DAY, 365 * DAY, 900 * DAY])
      expect([...offsetSpans(timeZone, from, from + length)]).toEqual(spansByChange(timeZone, from, from + length));
    expect(localTime(timeZone, from)).toBe(from + clockAt(timeZone, from).offsetNanoseconds / 1_000);
  }
});

test.for(ZONES)('a span of %s that begins or ends where its clocks are set is cut there', (timeZone) => {
  for (const { to } of spansByChange(timeZone, FIRST, LAST).slice(0, -1)) {
    for (const [from, until] of [
      [to, to + DAY],
      [to - DAY, to],
      [to - 1, to + 1],
      [to, to],
    ] as const)
      expect([...offsetSpans(timeZone, from, until)]).toEqual(spansByChange(timeZone, from, until));
  }
});

test('an unknown zone is refused each time', () => {
  expect(() => localTime('Nowhere/Else', 0)).toThrow(RangeError);
  expect(() => [...offsetSpans('Nowhere/Else', 0, DAY)]).toThrow(RangeError);
});
