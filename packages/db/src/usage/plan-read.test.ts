import type { Micros } from '@weir/shared/instant';
import { DAY, HOUR, QUARTER } from '@weir/shared/time-zone';
import type { Window } from '@weir/shared/window';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  planCustomer,
  planCustomers,
  planDue,
  planDueValues,
  planMeter,
  planValues,
  type LastStretch,
  type Stretches,
} from './plan-read.ts';

const at = (text: string): Micros => Date.parse(`2026-11-${text}Z`) * 1000;
const floorTo = (time: Micros, size: Micros): Micros => Math.floor(time / size) * size;

/** A window from the first instant to the last, with periods that begin at the first and those between. */
function windowOf(instants: Micros[]): Window {
  const [start = 0, end = 0] = [instants[0], instants.at(-1)];
  return { start, end, periods: instants.slice(0, -1).map((time) => ({ at: time, local: time })) };
}

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

function pieces({ from, to }: Stretches): Piece[] {
  return from.map((since, index) => [since, to[index] ?? since]);
}

function expectPartition(instants: Micros[], parts: Stretches[], last: LastStretch | null): void {
  const [start = 0, end = 0] = [instants[0], instants.at(-1)];
  const all = [...parts.flatMap(pieces), ...(last === null ? [] : [[last.from, end] as Piece])];
  all.sort(([a], [b]) => a - b);
  expect(all.every(([from, to]) => from < to)).toBe(true);
  expect(all.map(([from]) => from)).toEqual([start, ...all.slice(0, -1).map(([, to]) => to)]);
  expect(all.at(-1)?.[1]).toBe(end);
  for (const stretches of parts) expect(stretches.from).toEqual(stretches.from.toSorted((a, b) => a - b));
}

/** No row of a size may have a boundary inside it. */
function expectWhole(instants: Micros[], stretches: Stretches, size: Micros): void {
  for (const [from, to] of pieces(stretches)) {
    expect([from % size, to % size]).toEqual([0, 0]);
    expect(instants.filter((point) => point > from && point < to && point % size !== 0)).toEqual([]);
  }
}

function expectWithinDays(stretches: Stretches): void {
  for (const [from, to] of pieces(stretches)) expect(floorTo(to - 1, DAY)).toBe(floorTo(from, DAY));
}

/** The last stretch, found by looking at each size. */
function lastOf(instants: Micros[], sizes: Micros[]): LastStretch | null {
  const [before = 0, end = 0] = instants.slice(-2);
  const size = sizes.find((each) => end % each !== 0 && floorTo(end, each) >= before);
  return size === undefined ? null : { from: floorTo(end, size), size };
}

test('the days, hours and cut stretches of a customer are the window, and no row lies in two buckets', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { days, hours, quarters, cut, last } = planCustomer(windowOf(instants));
      expectPartition(instants, [days, hours, cut], last);
      expectWhole(instants, days, DAY);
      expectWhole(instants, hours, HOUR);
      expectWithinDays(cut);
      expect(last).toEqual(lastOf(instants, [DAY, HOUR]));
      expect(quarters.from).toEqual([]);
      // Of several customers the hours are found by the day; there is one bucket.
      const ofAll = planCustomers(windowOf(instants));
      const ends = instants.filter((_, index) => index % (instants.length - 1) === 0);
      expectPartition(ends, [ofAll.days, ofAll.hours, ofAll.cut], ofAll.last);
      expectWithinDays(ofAll.hours);
      expect(ofAll.days).toEqual(planCustomer(windowOf(ends)).days);
      expect(ofAll.last).toEqual(planCustomer(windowOf(ends)).last);
    }),
    { numRuns: 1000 },
  );
});

test('the stretches of a due are its time, and what is read of it is whole', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const ends = [instants[0] ?? 0, instants.at(-1) ?? 0];
      const usage = planDue(ends[0] ?? 0, ends[1] ?? 0);
      expectPartition(ends, [usage.days, usage.hours, usage.cut], null);
      expectWhole(ends, usage.days, DAY);
      expectWhole(ends, usage.hours, HOUR);
      for (const hasWholeDays of [true, false]) {
        const values = planDueValues(ends[0] ?? 0, ends[1] ?? 0, hasWholeDays);
        expectPartition(ends, [values.days, values.quarters, values.cut], null);
        expectWhole(ends, values.days, DAY);
        expectWhole(ends, values.quarters, QUARTER);
        expectWithinDays(values.quarters);
        expect(values.days.from.length).toBeLessThanOrEqual(hasWholeDays ? 1 : 0);
        expect([usage.last, values.last]).toEqual([null, null]);
      }
    }),
    { numRuns: 1000 },
  );
  expect(planDue(at('01T10:20'), at('01T10:20'))).toMatchObject({ days: none, hours: none, cut: none });
});

test('the quarters and cut stretches of a meter are the window, and no quarter lies in two buckets', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { days, hours, quarters, cut, last } = planMeter(windowOf(instants));
      expectPartition(instants, [quarters, cut], last);
      expectWhole(instants, quarters, QUARTER);
      expectWithinDays(cut);
      const isWhole = (instants.at(-1) ?? 0) % QUARTER === 0;
      expect(last).toEqual(isWhole ? null : lastOf(instants, [HOUR, QUARTER]));
      expect([...days.from, ...hours.from]).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('the quarters and cut stretches of values are the window: each is all that a bucket has of a day', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const { days, hours, quarters, cut, last } = planValues(windowOf(instants));
      const end = instants.at(-1) ?? 0;
      expectPartition(instants, [quarters, cut], last);
      expectWhole(instants, quarters, QUARTER);
      for (const stretches of [quarters, cut]) expectWithinDays(stretches);
      // Of each bucket and each day the whole quarters, one by one.
      const found = new Map<string, Micros[]>();
      for (let time = floorTo(instants[0] ?? 0, QUARTER); time < end; time += QUARTER) {
        const bucket = instants.findLastIndex((point) => point <= time);
        const isWhole = bucket >= 0 && time + QUARTER <= (instants[bucket + 1] ?? 0);
        const name = `${bucket} ${floorTo(time, DAY)}`;
        if (isWhole) found.set(name, [...(found.get(name) ?? []), time]);
      }
      expect(pieces(quarters)).toEqual([...found.values()].map((each) => [each[0], (each.at(-1) ?? 0) + QUARTER]));
      expect(last).toEqual(lastOf(instants, [QUARTER]));
      expect([...days.from, ...hours.from]).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test('nothing is read more finely than it must be', () => {
  fc.assert(
    fc.property(points, (instants) => {
      const window = windowOf(instants);
      const holdsWhole = (stretches: Stretches, size: Micros) =>
        pieces(stretches).some(([from, to]) => {
          const edges = [from, ...instants.filter((point) => point > from && point < to), to];
          return edges.some((edge, index) => index > 0 && floorTo(edge, size) - size >= (edges[index - 1] ?? edge));
        });
      expect(holdsWhole(planCustomer(window).hours, DAY)).toBe(false);
      expect(holdsWhole(planCustomer(window).cut, HOUR)).toBe(false);
      expect(holdsWhole(planMeter(window).cut, QUARTER)).toBe(false);
      expect(holdsWhole(planValues(window).cut, QUARTER)).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

const none = { from: [], to: [] };

test('a window over days is read by days, with hours and events at its start, its last day as one', () => {
  expect(planCustomer(windowOf([at('01T10:20'), at('04T15:07')]))).toEqual({
    start: at('01T10:20'),
    end: at('04T15:07'),
    boundaries: [at('01T10:20')],
    days: { from: [at('02T00:00')], to: [at('04T00:00')] },
    hours: { from: [at('01T11:00')], to: [at('02T00:00')] },
    quarters: none,
    cut: { from: [at('01T10:20')], to: [at('01T11:00')] },
    last: { from: at('04T00:00'), size: DAY },
  });
});

test('where buckets do not matter, the window is one', () => {
  const window = windowOf([at('01T10:00'), at('01T23:30'), at('02T23:30'), at('03T12:00')]);
  const inAll = planCustomers(window);
  expect(inAll).toEqual(planCustomers(windowOf([at('01T10:00'), at('03T12:00')])));
  expect(inAll.days).toEqual({ from: [at('02T00:00')], to: [at('03T00:00')] });
  expect(planValues(window, false).boundaries).toEqual([at('01T10:00')]);
});

test('the last day or hour of a window counts as it is, also where the window begins with it', () => {
  expect(planCustomer(windowOf([at('04T00:00'), at('04T15:07')])).last).toEqual({ from: at('04T00:00'), size: DAY });
  expect(planCustomer(windowOf([at('04T00:01'), at('04T15:07')])).last).toEqual({ from: at('04T15:00'), size: HOUR });
  expect(planMeter(windowOf([at('04T00:01'), at('04T15:07')])).last).toEqual({ from: at('04T15:00'), size: HOUR });
});

test('where a bucket begins within the last hour, its events are read one by one', () => {
  const { cut, last } = planCustomer(windowOf([at('01T10:00'), at('01T11:30'), at('01T11:50')]));
  expect({ cut, last }).toEqual({ cut: { from: [at('01T11:00')], to: [at('01T11:50')] }, last: null });
});

test('by the hour in a zone that is half an hour off, all cut hours of a day are one stretch', () => {
  const halves = Array.from({ length: 26 }, (_, hour) => at('01T18:30') + hour * HOUR);
  expect(planCustomer(windowOf(halves)).cut).toEqual({
    from: [at('01T18:30'), at('02T00:00')],
    to: [at('02T00:00'), at('02T19:00')],
  });
});

test('days and hours of a zone that is half an hour off are whole quarters', () => {
  const { quarters, cut } = planMeter(windowOf([at('01T18:30'), at('02T18:30'), at('03T18:30')]));
  expect(quarters).toEqual({ from: [at('01T18:30')], to: [at('03T18:30')] });
  expect(cut).toEqual(none);
});

test('a day of a zone other than UTC is cut out of two, and one that buckets share is read for each', () => {
  const instants = [at('01T22:30'), at('02T11:15'), at('02T22:30'), at('02T22:45'), at('03T10:07')];
  expect(planValues(windowOf(instants))).toMatchObject({
    quarters: {
      from: [at('01T22:30'), at('02T00:00'), at('02T11:15'), at('02T22:30'), at('02T22:45'), at('03T00:00')],
      to: [at('02T00:00'), at('02T11:15'), at('02T22:30'), at('02T22:45'), at('03T00:00'), at('03T10:00')],
    },
    cut: none,
    last: { from: at('03T10:00'), size: QUARTER },
  });
});
