// Times and zones at which a calendar is easily got wrong.

import { AGGREGATION_TYPES } from '@weir/shared/meter';
import fc from 'fast-check';

export const ZONES = [
  'UTC',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Europe/London',
  'Pacific/Apia',
  'Pacific/Tarawa',
];

/** Where something happens to the clocks or the calendar of one of the zones, and events crowd. Microseconds since 1970. */
export const MOMENTS = [
  '2010-11-07T02:31:00Z', // St. John's goes from 0:01 back to 23:01.
  '2011-12-30T10:00:00Z', // Samoa leaves out a day.
  '2017-10-15T03:00:00Z', // São Paulo has no midnight.
  '2024-03-30T22:00:00Z', // Beirut has no midnight.
  '2024-12-29T18:15:00Z', // The first ISO week of 2025 begins in Kathmandu.
  '2025-01-01T00:00:00Z',
  '2025-03-09T07:00:00Z', // New York goes forward.
  '2025-04-05T15:00:00Z', // Lord Howe goes back by half an hour.
  '2025-09-15T12:00:00Z', // A day begins in Tarawa, at noon (UTC).
  '2025-10-04T15:30:00Z', // Lord Howe goes forward by half an hour.
  '2025-10-26T01:00:00Z', // London goes back.
  '2025-10-31T18:30:00Z', // November begins in Kolkata.
  '2025-11-02T06:00:00Z', // New York goes back.
].map((text) => BigInt(Date.parse(text)) * 1000n);

const MINUTE = 60_000_000n;
const DAY = 1440n * MINUTE;

/** How far something is from a moment: most often next to it, or to a boundary of a quarter, half or whole hour. */
export const aroundNothing = fc.oneof(
  fc.bigInt({ min: -2n, max: 2n }),
  fc
    .tuple(fc.constantFrom(-60n, -45n, -30n, -15n, 1n, 29n, 30n, 60n), fc.bigInt({ min: -1n, max: 1n }))
    .map(([m, us]) => m * MINUTE + us),
  fc.bigInt({ min: -180n * MINUTE, max: 180n * MINUTE }),
  fc.bigInt({ min: -12n * DAY, max: 12n * DAY }),
);
export const near = (moment: bigint): fc.Arbitrary<bigint> => aroundNothing.map((distance) => moment + distance);
export const instant = fc.constantFrom(...MOMENTS).chain(near);

/** Who is counted, and a way to spell that in JSON. */
const user = fc.constantFrom(
  { name: '42', json: '42' },
  { name: '42', json: '"42"' },
  { name: '42', json: '4.20e1' },
  { name: 'ada', json: '"ada"' },
  { name: 'é', json: '"\\u00e9"' },
  { name: '-1.5', json: '-1.50' },
);

/** Events as they are made up, of meters of every aggregation. */
export function draftsOf(customers: readonly string[], quantity: fc.Arbitrary<string>) {
  return fc.record({
    aggregation: fc.constantFrom(...AGGREGATION_TYPES),
    customer: fc.constantFrom(...customers),
    quantity,
    at: instant,
    user,
  });
}
