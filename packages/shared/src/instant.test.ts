import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantOf, parseInstant } from './instant.ts';

describe('a time with an offset is read as an instant in UTC', () => {
  test.each([
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.5Z', '2026-01-31T09:30:00.500Z'],
    ['2026-01-31T09:30:00+02:00', '2026-01-31T07:30:00.000Z'],
    ['2026-01-31T09:30:00-0530', '2026-01-31T15:00:00.000Z'],
    ['2026-01-31T09:30:00+02', '2026-01-31T07:30:00.000Z'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z'],
    ['1999-12-31T23:59:59Z', '1999-12-31T23:59:59.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text)).toEqual({ text: iso, epochMs: Date.parse(iso) });
  });
});

describe('digits past the microsecond are cut, never rounded, so that no event slips into the next period', () => {
  test.each([
    ['2026-01-31T23:59:59.999999999Z', '2026-01-31T23:59:59.999999Z'],
    ['2026-01-31T23:59:59.9999995Z', '2026-01-31T23:59:59.999999Z'],
    ['2026-01-31T23:59:59.123456Z', '2026-01-31T23:59:59.123456Z'],
    ['2026-01-31T23:59:59.1234Z', '2026-01-31T23:59:59.123400Z'],
    ['2026-01-31T23:59:59.123000Z', '2026-01-31T23:59:59.123Z'],
    ['2026-01-31T23:59:59.0000001Z', '2026-01-31T23:59:59.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text)).toMatchObject({ text: iso });
  });
});

describe('what is no time of the calendar is refused', () => {
  test.each([
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:60:00Z',
    '2026-01-31T09:60:00Z',
    '2026-01-31T09:30:60Z',
    '2016-12-31T23:59:60Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00+02:60',
    '0000-01-01T00:00:00Z',
    '0099-01-01T00:00:00Z',
  ])('%s', (text) => {
    expect(parseInstant(text)).toEqual({ problem: 'is not a date and time of the calendar' });
  });
});

test.each(['2026-01-31T09:30:00', '2026-01-31T09:30', '2026-01-31T09:30:00.123'])(
  '%s is refused for want of an offset, and told so',
  (text) => {
    expect(parseInstant(text)).toEqual({
      problem: 'must say its offset from UTC: end it in Z or in an offset such as +02:00',
    });
  },
);

describe('what Postgres, JavaScript or a person might take for a time is refused', () => {
  test.each([
    '',
    'now',
    'today',
    'infinity',
    '-infinity',
    'epoch',
    '1767225600',
    '2026-01-31',
    '2026-01-31 09:30:00Z',
    '2026-1-31T09:30:00Z',
    '26-01-31T09:30:00Z',
    '+002026-01-31T09:30:00Z',
    '-000001-01-31T09:30:00Z',
    '2026-W05-6T09:30:00Z',
    '2026-01-31T09:30:00 Z',
    ' 2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00Z\n',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00,5Z',
    '2026-01-31T09:30:00+2:00',
    '2026-01-31T09:30:00 PST',
    '٢٠٢٦-01-31T09:30:00Z',
    'Sat, 31 Jan 2026 09:30:00 GMT',
  ])('%j', (text) => {
    expect(parseInstant(text)).toHaveProperty('problem');
  });
});

test('every instant that JavaScript writes is read back as itself', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      expect(parseInstant(date.toISOString())).toEqual({ text: date.toISOString(), epochMs: date.getTime() });
    }),
  );
});

test('an instant is written with six digits only where it has microseconds', () => {
  expect(instantOf(0).text).toBe('1970-01-01T00:00:00.000Z');
  expect(instantOf(1, '001').text).toBe('1970-01-01T00:00:00.001001Z');
});

describe('a time in the form in which JavaScript writes it', () => {
  test.each([
    '2026-13-01T00:00:00.000Z',
    '2026-00-01T00:00:00.000Z',
    '2026-02-30T00:00:00.000Z',
    '2026-02-00T00:00:00.000Z',
    '2026-01-01T24:00:00.000Z',
    '2026-01-01T00:60:00.000Z',
    '2026-01-01T00:00:60.000Z',
    '2026-01-01T00:00:00:000Z',
    '2026-01-01T00:00:00.00oZ',
    '0050-01-01T00:00:00.000Z',
  ])('is refused when it is none: %s', (text) => {
    expect(parseInstant(text)).toHaveProperty('problem');
  });
});
