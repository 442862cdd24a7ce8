import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  customerLevels,
  floorTo,
  meterLevels,
  QUARTER,
  sumLevels,
  valueLevels,
  type LastStretch,
  type Stretches,
} from './levels.ts';
import { DAY, HOUR, type Micros } from './time-zone.ts';

const at = (text: string): Micros => Date.parse(`2026-11-${text}Z`) * 1000;

const points = fc
  .uniqueArray(
    fc
      .tuple(
        fc.nat({ max: 6 * 24 * 4 }),
        fc.oneof(fc.constant(0), fc.constant(0), fc.constantFrom(-1, 1, QUARTER / 3), fc.nat({ max: QUARTER })),
      )
      .map(([quarter, rest]) => at('01T00:00') + quarter * QUARTER + rest),
    { minLength: 2, maxLength: 40 },
  )
  .map((instants) => instants.toSorted((a, b) => a - b));

type Piece = [from: Micros, to: Micros];

function pieces({ from, to }: Stretches<Micros>): Piece[] {
  return from.map((since, index) => [since, to[index] ?? since]);
}

function expectPartition(instants: Micros[], parts: Stretches<Micros>[], last: LastStretch<Micros> | null): void {
  const [start = 0, end = 0] = [instants[0], instants.at(-1)];
  const all = [...parts.flatMap(pieces), ...(last === null ? [] : [[last.from, end] as Piece])];
  all.sort(([a], [b]) => a - b);
  expect(all.every(([from, to]) => from < to)).toBe(true);
  expect(all.map(([from]) => from)).toEqual([start, ...all.slice(0, -1).map(([, to]) => to)]);
  expect(all.at(-1)?.[1]).toBe(end);
  for (const stretches of parts) expect(stretches.from).toEqual(stretches.from.toSorted((a, b) => a - b));
}

/** No row of a size may have a boundary inside it. */
function expectWhole(instants: Micros[], stretches: Stretches<Micros>, size: Micros): void {
  for (const [from, to] of pieces(stretches)) {
    expect([from % size, to % size]).toEqual([0, 0]);
    expect(instants.filter((point) => point > from && point < to && point % size !== 0)).toEqual([]);
  }
}

function expectWithinDays(stretches: Stretches<Micros>): void {
  for (const [from, to] of pieces(stretches)) expect(floorTo(to - 1, DAY)).toBe(floorTo(from, DAY));
}

/** The last stretch, found by looking at each size. */
function lastOf(instants: Micros[], sizes: [Micros, Micros]): LastStretch<Micros> | null {
  const [before = 0, end = 0] = instants.slice(-2);
  const found = sizes.find((size) => end % size !== 0 && floorTo(end, size) >= before);
  if (found === undefined) return null;
  return { from: floorTo(end, found), day: floorTo(end, DAY), isLarge: found === sizes[0] };
}

test('the days, hours and cut stretches of customers are the window, and none of their rows lies in two buckets', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { days, hours, cut, last } = customerLevels(instants);
      expectPartition(instants, [days, hours, cut], last);
      expectWhole(instants, days, DAY);
      expectWhole(instants, hours, HOUR);
      expectWithinDays(hours);
      expectWithinDays(cut);
      expect(last).toEqual(lastOf(instants, [DAY, HOUR]));
    }),
    { numRuns: 1000 },
  );
});

test('days that count where their noon does, and what is moved, leave in each bucket what is its own', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const sums = sumLevels(instants);
      fc.pre(sums !== null);
      const { counted, moved } = sums;
      const end = instants.at(-1) ?? 0;
      const bucketOf = (time: Micros) => instants.findLastIndex((point) => point <= time);
      const noonOf = (time: Micros) => floorTo(time, DAY) + DAY / 2;
      const own = [counted.hours, counted.cut, moved.hours, moved.cut].flatMap(pieces);
      if (counted.last !== null) own.push([counted.last.from, end]);
      const days = pieces(counted.days);
      const takenOff = [moved.hours, moved.cut].flatMap(pieces);
      const edges = [...new Set([...instants, ...[...own, ...days].flat()])].toSorted((a, b) => a - b);
      // How often each bucket has each moment.
      const found = edges.slice(0, -1).map((time) => {
        const times = new Map<number, number>();
        const count = (list: Piece[], bucket: number, sign: number) => {
          const number = list.filter(([from, to]) => from <= time && time < to).length;
          times.set(bucket, (times.get(bucket) ?? 0) + sign * number);
        };
        count(own, bucketOf(time), 1);
        count(days, bucketOf(noonOf(time)), 1);
        count(takenOff, bucketOf(noonOf(time)), -1);
        return [...times].filter(([, number]) => number !== 0);
      });
      expect(found).toEqual(edges.slice(0, -1).map((time) => [[bucketOf(time), 1]]));
      for (const each of days.flat()) expect(each % DAY).toBe(0);
      for (const stretches of [counted.hours, moved.hours]) expectWhole(instants, stretches, HOUR);
      for (const stretches of [counted.hours, counted.cut, moved.hours, moved.cut]) expectWithinDays(stretches);
    }),
    { numRuns: 1000 },
  );
});

test('of each day of a zone that is not UTC, the shorter part is moved', () => {
  const none = { from: [], to: [] };
  const whole = { from: [at('02T00:00')], to: [at('04T00:00')] };
  // Berlin: two hours of each day belong to the next one. New York: four hours of each day belong to the one before.
  expect(sumLevels([at('02T00:00'), at('02T22:00'), at('03T22:00'), at('04T00:00')])).toEqual({
    counted: { days: whole, hours: none, cut: none, last: null },
    moved: { hours: { from: [at('02T22:00'), at('03T22:00')], to: [at('03T00:00'), at('04T00:00')] }, cut: none },
  });
  expect(sumLevels([at('02T00:00'), at('02T04:00'), at('03T04:30'), at('04T00:00')])).toEqual({
    counted: { days: whole, hours: none, cut: none, last: null },
    moved: {
      hours: { from: [at('02T00:00'), at('03T00:00')], to: [at('02T04:00'), at('03T04:00')] },
      cut: { from: [at('03T04:00')], to: [at('03T04:30')] },
    },
  });
});

test('a day that begins at noon (UTC) has the noon, and what is before it is moved', () => {
  const sums = sumLevels([at('02T00:00'), at('02T12:00'), at('03T00:00')]);
  expect(sums?.moved.hours).toEqual({ from: [at('02T00:00')], to: [at('02T12:00')] });
  expect(sums?.counted.days).toEqual({ from: [at('02T00:00')], to: [at('03T00:00')] });
});

test('a day that two boundaries divide, or none, or that the window does not hold, is not moved from', () => {
  for (const instants of [
    [at('02T00:00'), at('03T00:00'), at('04T00:00')],
    [at('02T00:00'), at('02T10:00'), at('02T14:00'), at('03T00:00')],
    [at('02T01:00'), at('02T10:00'), at('03T00:00')],
    [at('02T00:00'), at('02T10:00'), at('02T23:00')],
  ]) {
    expect(sumLevels(instants)).toBe(null);
  }
});

test('the quarters and cut stretches of a meter are the window, and no quarter lies in two buckets', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { quarters, cut, last } = meterLevels(instants);
      expectPartition(instants, [quarters, cut], last);
      expectWhole(instants, quarters, QUARTER);
      expectWithinDays(cut);
      const isWhole = (instants.at(-1) ?? 0) % QUARTER === 0;
      expect(last).toEqual(isWhole ? null : lastOf(instants, [HOUR, QUARTER]));
    }),
    { numRuns: 1000 },
  );
});

test('the days, parts of days, quarters and cut stretches of values are the window, and each part is all that a bucket has of a day', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { days, partsOfDays, quarters, cut, last } = valueLevels(instants);
      const [before = 0, end = 0] = instants.slice(-2);
      expectPartition(
        instants,
        [days, partsOfDays, quarters, cut],
        last === null ? null : { from: last, day: 0, isLarge: false },
      );
      expectWhole(instants, days, DAY);
      for (const stretches of [partsOfDays, quarters]) expectWhole(instants, stretches, QUARTER);
      for (const stretches of [days, partsOfDays, cut]) expectWithinDays(stretches);
      // Of each bucket and each day the whole quarters, one by one.
      const found = new Map<string, Micros[]>();
      for (let at = floorTo(instants[0] ?? 0, QUARTER); at < end; at += QUARTER) {
        const bucket = instants.findLastIndex((point) => point <= at);
        const isWhole = bucket >= 0 && at + QUARTER <= (instants[bucket + 1] ?? 0);
        const name = `${bucket} ${floorTo(at, DAY)}`;
        if (isWhole) found.set(name, [...(found.get(name) ?? []), at]);
      }
      const long = [...found.values()].filter((each) => each.length > 4);
      const whole = (each: Micros[]) => each.length * QUARTER === DAY;
      const piecesOf = (each: Micros[]) => [each[0], (each.at(-1) ?? 0) + QUARTER];
      expect(pieces(days)).toEqual(long.filter(whole).map(piecesOf));
      expect(pieces(partsOfDays)).toEqual(long.filter((each) => !whole(each)).map(piecesOf));
      const isCut = end % QUARTER !== 0 && floorTo(end, QUARTER) >= before;
      expect(last).toBe(isCut ? floorTo(end, QUARTER) : null);
    }),
    { numRuns: 1000 },
  );
});

test('nothing is read more finely than it must be', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { hours, cut } = customerLevels(instants);
      const ofMeter = meterLevels(instants);
      const holdsWhole = (stretches: Stretches<Micros>, size: Micros) =>
        pieces(stretches).some(([from, to]) => {
          const edges = [from, ...instants.filter((point) => point > from && point < to), to];
          return edges.some((edge, index) => index > 0 && floorTo(edge, size) - size >= (edges[index - 1] ?? edge));
        });
      expect(holdsWhole(hours, DAY)).toBe(false);
      expect(holdsWhole(cut, HOUR)).toBe(false);
      expect(holdsWhole(ofMeter.cut, QUARTER)).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('a window over days is read by days, with hours and single events at its start, and its last day as one', () => {
  expect(customerLevels([at('01T10:20'), at('04T15:07')])).toEqual({
    days: { from: [at('02T00:00')], to: [at('04T00:00')] },
    hours: { from: [at('01T11:00')], to: [at('02T00:00')] },
    cut: { from: [at('01T10:20')], to: [at('01T11:00')] },
    last: { from: at('04T00:00'), day: at('04T00:00'), isLarge: true },
  });
});

test('where a bucket begins within the last hour, its events are read one by one', () => {
  const { cut, last } = customerLevels([at('01T10:00'), at('01T11:30'), at('01T11:50')]);
  expect({ cut, last }).toEqual({ cut: { from: [at('01T11:00')], to: [at('01T11:50')] }, last: null });
});

test('days and hours of a zone that is half an hour off are whole quarters', () => {
  const { quarters, cut } = meterLevels([at('01T18:30'), at('02T18:30'), at('03T18:30')]);
  expect(quarters).toEqual({ from: [at('01T18:30')], to: [at('03T18:30')] });
  expect(cut).toEqual({ from: [], to: [] });
});

test('a day of a zone that is not UTC is cut out of two days, and a day that buckets share is read for each of them', () => {
  const none = { from: [], to: [] };
  expect(valueLevels([at('01T22:30'), at('02T11:15'), at('02T22:30'), at('02T22:45'), at('03T10:07')])).toEqual({
    days: none,
    partsOfDays: {
      from: [at('01T22:30'), at('02T00:00'), at('02T11:15'), at('02T22:45'), at('03T00:00')],
      to: [at('02T00:00'), at('02T11:15'), at('02T22:30'), at('03T00:00'), at('03T10:00')],
    },
    quarters: { from: [at('02T22:30')], to: [at('02T22:45')] },
    cut: none,
    last: at('03T10:00'),
  });
  expect(valueLevels([at('01T22:00'), at('05T00:00')])).toEqual({
    days: {
      from: [at('02T00:00'), at('03T00:00'), at('04T00:00')],
      to: [at('03T00:00'), at('04T00:00'), at('05T00:00')],
    },
    partsOfDays: { from: [at('01T22:00')], to: [at('02T00:00')] },
    quarters: none,
    cut: none,
    last: null,
  });
});
