import { expect, test } from 'vitest';
import { isTimezone, parseTimestamp } from './timestamps.ts';

const utc = { timezone: 'UTC' };
const berlin = { timezone: 'Europe/Berlin' };

test('a time without an offset is taken in the zone, with all its digits', () => {
  expect(parseTimestamp('2023-11-16 18:17:03.9799600', utc)).toBe('2023-11-16T18:17:03.9799600Z');
  expect(parseTimestamp('2023-07-16T18:17:03', berlin)).toBe('2023-07-16T18:17:03+02:00');
  expect(parseTimestamp('2023-11-16 18:17', berlin)).toBe('2023-11-16T18:17:00+01:00');
  expect(parseTimestamp('2023-11-16', berlin)).toBe('2023-11-16T00:00:00+01:00');
});

test('an offset in the text wins over the zone, in any usual spelling', () => {
  for (const [zone, offset] of [
    ['Z', 'Z'],
    [' UTC', 'Z'],
    ['+02:00', '+02:00'],
    [' -0330', '-03:30'],
    ['+00', '+00:00'],
  ]) {
    expect(parseTimestamp(`2023-11-16T18:17:03,5${zone}`, berlin)).toBe(`2023-11-16T18:17:03.5${offset}`);
  }
});

test('of a local time that comes twice the first is taken, and one that clocks skip is none', () => {
  expect(parseTimestamp('2024-10-27 02:30:00', berlin)).toBe('2024-10-27T02:30:00+02:00');
  expect(parseTimestamp('2024-03-31 02:30:00', berlin)).toBeUndefined();
});

test('what is no time is undefined', () => {
  for (const text of ['', 'yesterday', '16.11.2023', '11/16/2023', '1700158623', '2023-11-16T18']) {
    expect(parseTimestamp(text, utc)).toBeUndefined();
  }
  expect(parseTimestamp('2023-13-16 00:00:00', berlin)).toBeUndefined();
});

test('seconds and milliseconds since 1970 keep all their digits', () => {
  const seconds = { timezone: 'UTC', unit: 's' } as const;
  const milliseconds = { timezone: 'UTC', unit: 'ms' } as const;
  expect(parseTimestamp('1700158623', seconds)).toBe('2023-11-16T18:17:03Z');
  expect(parseTimestamp('1700158623.979960', seconds)).toBe('2023-11-16T18:17:03.979960Z');
  expect(parseTimestamp('1700158623979', milliseconds)).toBe('2023-11-16T18:17:03.979Z');
  expect(parseTimestamp('1700158623979.25', milliseconds)).toBe('2023-11-16T18:17:03.97925Z');
  expect(parseTimestamp('7', milliseconds)).toBe('1970-01-01T00:00:00.007Z');
  expect(parseTimestamp('99999999999999', seconds)).toBeUndefined();
  expect(parseTimestamp('2023-11-16', seconds)).toBeUndefined();
});

test('time zones have IANA names', () => {
  expect(['UTC', 'America/New_York', 'Mars/Olympus', ''].map(isTimezone)).toEqual([true, true, false, false]);
});
