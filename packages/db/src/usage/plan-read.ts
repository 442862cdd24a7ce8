// From which tables the usage of a window is read: for every stretch of it the coarsest rollup that lies in one bucket (for
// sums also days that lie in two), and single events for what is left. Nothing but arithmetic on instants; the SQL that follows it is in packages/db/src/usage-rows.ts.

import { DAY, HOUR, type Micros } from './time-zone.ts';

export const QUARTER: Micros = HOUR / 4;

/** Half-open stretches of time, in order. */
export interface Stretches<Time = string> {
  from: Time[];
  to: Time[];
}

/**
 * The stretch from `from` to the end of the window, where that end cuts a rollup that would else lie in the last bucket:
 * whoever has no event from the end on has that rollup wholly in the window, and nobody can tell but the rollup itself.
 */
export interface LastStretch<Time = string> {
  from: Time;
  /** The UTC day that the stretch lies in. */
  day: Time;
  /** Whether `from` begins the largest rollup that is asked for: the day of a customer, the hour of a whole meter. */
  isLarge: boolean;
}

/** Of one or more customers, each by itself. All of it together is the window, and nothing is in it twice. */
export interface CustomerLevels<Time = string> {
  /** Whole UTC days, each in one bucket. */
  days: Stretches<Time>;
  /** Whole UTC hours outside of those days, each in one bucket; no stretch goes over midnight (UTC). */
  hours: Stretches<Time>;
  /** What is in no whole hour; no stretch goes over midnight (UTC). */
  cut: Stretches<Time>;
  /** Begins with a day if it can, else with an hour. Null where the window ends with a whole one, or with one that is cut twice. */
  last: LastStretch<Time> | null;
}

/**
 * Of one or more customers, each by itself, for sums, from which something can be taken off again. A UTC day that one boundary
 * between buckets divides is counted as a whole, in the bucket that has its noon; what it has in the other bucket is moved there.
 */
export interface SumLevels<Time = string> {
  /** All of it together is the window, and nothing is in it twice; but only days may lie in two buckets. */
  counted: CustomerLevels<Time>;
  /** At most half of each such day: to add to the bucket that it lies in, and to take off that of the noon. */
  moved: Pick<CustomerLevels<Time>, 'hours' | 'cut'>;
}

/** Of a whole meter. All of it together is the window, and nothing is in it twice. */
export interface MeterLevels<Time = string> {
  /** Whole UTC quarters of an hour, each in one bucket. */
  quarters: Stretches<Time>;
  /** What is in no whole quarter; no stretch goes over midnight (UTC). */
  cut: Stretches<Time>;
  /** Begins with an hour if it can, else with a quarter. Null where the window ends with a whole quarter, or one that is cut twice. */
  last: LastStretch<Time> | null;
}

/** Of the distinct values of a whole meter. All of it together is the window, and nothing is in it twice. */
export interface ValueLevels<Time = string> {
  /** Whole UTC days, each in one bucket; every stretch is one of them. */
  days: Stretches<Time>;
  /** Whole UTC quarters of an hour outside of those; each stretch is longer than an hour, and lies in one bucket and one UTC day. */
  partsOfDays: Stretches<Time>;
  /** Whole quarters outside of both, each in one bucket. */
  quarters: Stretches<Time>;
  /** What is in no whole quarter; no stretch goes over midnight (UTC). */
  cut: Stretches<Time>;
  /**
   * The beginning of the quarter that the end of the window cuts. Null where the window ends with a whole quarter, or one
   * that is cut twice.
   */
  last: Time | null;
}

/** Divides a window for reading customers. `points` are its start, every boundary between two buckets, and its end. */
export function customerLevels(points: readonly Micros[]): CustomerLevels<Micros> {
  const { levels, cut, last } = divide(points, [WHOLE_DAYS, WHOLE_HOURS], [DAY, HOUR]);
  const [days = none(), hours = none()] = levels;
  return { days, hours, cut, last };
}

/**
 * Divides a window for reading sums of customers. `points` are its start, every boundary between two buckets, and its end.
 * Null where no day is moved from, which leaves what {@link customerLevels} answers.
 */
export function sumLevels(points: readonly Micros[]): SumLevels<Micros> | null {
  const moved = { hours: none(), cut: none() };
  const shifted = points.map((point, index) => {
    const day = floorTo(point, DAY);
    // The only one of its day, which the window holds as a whole.
    const isAlone = (points[index - 1] ?? point) <= day && (points[index + 1] ?? point) >= day + DAY;
    if (point === day || !isAlone) return point;
    // A boundary at noon leaves the noon to the bucket that begins there.
    const [from, to] = point - day > DAY / 2 ? [point, day + DAY] : [day, point];
    const { levels, cut } = divide([from, to], [WHOLE_HOURS], []);
    for (const hours of levels) append(moved.hours, hours);
    append(moved.cut, cut);
    return from === day ? day : day + DAY;
  });
  return shifted.every((point, index) => point === points[index]) ? null : { counted: customerLevels(shifted), moved };
}

/** Divides a window for reading a whole meter. `points` are its start, every boundary between two buckets, and its end. */
export function meterLevels(points: readonly Micros[]): MeterLevels<Micros> {
  const isWhole = (points.at(-1) ?? 0) % QUARTER === 0;
  const { levels, cut, last } = divide(points, [WHOLE_QUARTERS], isWhole ? [] : [HOUR, QUARTER]);
  const [quarters = none()] = levels;
  return { quarters, cut, last };
}

/** Divides a window for reading the values of a whole meter. `points` are its start, every boundary between two buckets, and its end. */
export function valueLevels(points: readonly Micros[]): ValueLevels<Micros> {
  const { levels, cut, last } = divide(points, [EACH_DAY, QUARTERS_OF_DAYS], [QUARTER]);
  const [days = none(), parts = none()] = levels;
  const [partsOfDays, quarters] = [none(), none()];
  for (const [index, from] of parts.from.entries()) {
    const to = parts.to[index] ?? from;
    // Whatever is asked of a day, all of its values are looked at. An hour is at most four rows for each of its own.
    if (to - from > HOUR) addByDays(partsOfDays, from, to);
    else add(quarters, from, to);
  }
  return { days, partsOfDays, quarters, cut, last: last === null ? null : last.from };
}

function none(): Stretches<Micros> {
  return { from: [], to: [] };
}

function append({ from, to }: Stretches<Micros>, more: Stretches<Micros>): void {
  from.push(...more.from);
  to.push(...more.to);
}

/** Whole multiples of a size, and how a stretch of them joins those before it. */
interface Level {
  size: Micros;
  add: (stretches: Stretches<Micros>, since: Micros, before: Micros) => void;
}

const WHOLE_DAYS: Level = { size: DAY, add };
const EACH_DAY: Level = { size: DAY, add: addByDays };
const WHOLE_HOURS: Level = { size: HOUR, add: addWithinDays };
const WHOLE_QUARTERS: Level = { size: QUARTER, add };
const QUARTERS_OF_DAYS: Level = { size: QUARTER, add: addByDays };

interface Divided {
  /** One for each of those that were asked for. */
  levels: Stretches<Micros>[];
  cut: Stretches<Micros>;
  last: LastStretch<Micros> | null;
}

function divide(points: readonly Micros[], wanted: readonly Level[], lastSizes: readonly Micros[]): Divided {
  const end = points.at(-1) ?? 0;
  const last = lastStretch(points.at(-2) ?? end, end, lastSizes);
  const levels = wanted.map(none);
  const cut = none();
  const place = (from: Micros, to: Micros, index: number): void => {
    if (from >= to) return;
    const level = wanted[index];
    const into = levels[index];
    if (level === undefined || into === undefined) return addWithinDays(cut, from, to);
    const { size } = level;
    const [first, over] = [Math.ceil(from / size) * size, floorTo(to, size)];
    if (first >= over) return place(from, to, index + 1);
    place(from, first, index + 1);
    level.add(into, first, over);
    place(over, to, index + 1);
  };
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (from !== undefined) place(from, index === points.length - 1 ? (last?.from ?? to) : to, 0);
  }
  return { levels, cut, last };
}

function lastStretch(since: Micros, end: Micros, sizes: readonly Micros[]): LastStretch<Micros> | null {
  for (const [index, size] of sizes.entries()) {
    const from = floorTo(end, size);
    if (from >= since && from < end) return { from, day: floorTo(end, DAY), isLarge: index === 0 };
  }
  return null;
}

/** Adds a stretch, to the one before where they touch. */
function add({ from, to }: Stretches<Micros>, since: Micros, before: Micros): void {
  if (to.at(-1) === since) to[to.length - 1] = before;
  else {
    from.push(since);
    to.push(before);
  }
}

/**
 * Adds a stretch by the day, never to the one before: the quarters of each are read as bits of one day, and count for one
 * bucket.
 */
function addByDays({ from, to }: Stretches<Micros>, since: Micros, before: Micros): void {
  for (let at = since; at < before; at = floorTo(at, DAY) + DAY) {
    from.push(at);
    to.push(Math.min(floorTo(at, DAY) + DAY, before));
  }
}

/** As `add`, for stretches that must not go over midnight: the customers of each are found by its day. */
function addWithinDays(stretches: Stretches<Micros>, since: Micros, before: Micros): void {
  for (let from = since; from < before;) {
    const to = Math.min(floorTo(from, DAY) + DAY, before);
    if (from % DAY === 0) {
      stretches.from.push(from);
      stretches.to.push(to);
    } else add(stretches, from, to);
    from = to;
  }
}

export function floorTo(at: Micros, size: Micros): Micros {
  return Math.floor(at / size) * size;
}
