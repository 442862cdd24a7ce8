import { isoOf, microsOf, parseInstant } from '@weir/shared/instant';
import { expect, test } from 'vitest';
import { trialEnd } from './trial.ts';

test.each([
  ['its dates are counted from that of the start', 'UTC', '2026-01-10T15:00:00Z', 14, '2026-01-24T00:00:00.000Z'],
  ['a start at midnight has a whole first date', 'UTC', '2026-01-10T00:00:00Z', 1, '2026-01-11T00:00:00.000Z'],
  ['one late in the evening has a short one', 'UTC', '2026-01-10T23:59:59.999999Z', 1, '2026-01-11T00:00:00.000Z'],
  ['dates are local', 'Asia/Tokyo', '2026-01-10T15:00:00Z', 1, '2026-01-11T15:00:00.000Z'],
  ['midnight is that of the clock then', 'Europe/Berlin', '2026-03-20T12:00:00Z', 14, '2026-04-02T22:00:00.000Z'],
  [
    'where midnight is skipped it is the end of the gap',
    'America/Sao_Paulo',
    '2018-11-03T12:00:00Z',
    1,
    '2018-11-04T03:00:00.000Z',
  ],
  ['where its date was left out it is the next', 'Pacific/Apia', '2011-12-29T12:00:00Z', 1, '2011-12-30T10:00:00.000Z'],
  ['over a leap day', 'UTC', '2024-02-28T12:00:00Z', 2, '2024-03-01T00:00:00.000Z'],
])(
  'section 6: a trial ends at the first instant of its last date’s next: %s',
  (_title, zone, start, trialDays, end) => {
    const instant = parseInstant(start);
    if ('problem' in instant) throw new Error(instant.problem);
    expect(isoOf(trialEnd(zone, microsOf(instant), trialDays))).toBe(end);
  },
);

test('without trial days there is no trial', () => {
  expect(trialEnd('Asia/Tokyo', 1_700_000_000_123_456, 0)).toBe(1_700_000_000_123_456);
});
