// From which rows the usage of a window is read: for every stretch of it the coarsest rollup whose rows each lie in one bucket,
// and single events for what is left. Nothing but arithmetic on instants, made for the one question that is asked;
// usage-rows.ts makes SQL of it.

import type { Window } from '@weir/shared/window';
import type { Micros } from '@weir/shared/instant';
import { DAY, HOUR, QUARTER } from '@weir/shared/time-zone';

/** Half-open stretches of time, in order. */
export interface Stretches {
  from: Micros[];
  to: Micros[];
}

/**
 * The stretch from `from` to the end of the window, where that end cuts rows that would else lie in the last bucket. Whoever has no
 * event from the end on has those rows wholly in the window, and nobody can tell but the rows themselves.
 */
export interface LastStretch {
  from: Micros;
  /** How much of time `from` begins: the largest of the sizes that are asked for which no boundary divides. */
  size: Micros;
}

/** All of it together is the window, and nothing is in it twice. What a question does not read is empty. */
export interface ReadPlan {
  start: Micros;
  end: Micros;
  /** Where each bucket begins, but that the first begins with the window. */
  boundaries: Micros[];
  /** Whole UTC days, each in one bucket. */
  days: Stretches;
  /** Whole UTC hours outside of those, each in one bucket; of several customers, no stretch goes over midnight (UTC). */
  hours: Stretches;
  /** Whole UTC quarters of an hour, each in one bucket. */
  quarters: Stretches;
  /** What is in no whole row; no stretch goes over midnight (UTC). */
  cut: Stretches;
  /** Null where the window ends with a whole row, or with one that is cut twice. */
  last: LastStretch | null;
}

/** Plans to read the usage of one customer by bucket. */
export function planCustomer(window: Window): ReadPlan {
  return plan(window, true, { days: [DAY, add], hours: [HOUR, add] }, [DAY, HOUR]);
}

/** The same from hours alone: groups have no days. */
export function planCustomerGroups(window: Window): ReadPlan {
  return plan(window, true, { hours: [HOUR, add] }, [HOUR]);
}

/** Plans to read the usage of customers, each by itself, in the whole window: it is one bucket. */
export function planCustomers(window: Window): ReadPlan {
  return plan(window, false, { days: [DAY, add], hours: [HOUR, addWithinDays] }, [DAY, HOUR]);
}

/** Plans to read the usage of a whole meter by bucket. */
export function planMeter(window: Window): ReadPlan {
  return plan(window, true, { quarters: [QUARTER, add] }, window.end % QUARTER === 0 ? [] : [HOUR, QUARTER]);
}

/**
 * Plans to read distinct values, which have their quarters of the hour by the day: each stretch of quarters lies in one bucket and
 * one UTC day. Without `byBucket` the window is one.
 */
export function planValues(window: Window, byBucket = true): ReadPlan {
  return plan(window, byBucket, { quarters: [QUARTER, addByDays] }, [QUARTER]);
}

/** Plans to read the usage of a due, of which there are many at once: its end is read as its start is. */
export function planDue(start: Micros, end: Micros): ReadPlan {
  return plan({ start, end, periods: [] }, false, { days: [DAY, add], hours: [HOUR, add] }, []);
}

/** The same for distinct values: whole days where nothing is late in them, and stretches of quarters that each lie in one UTC day. */
export function planDueValues(start: Micros, end: Micros, hasWholeDays: boolean): ReadPlan {
  const days: { days?: [Micros, Add] } = hasWholeDays ? { days: [DAY, add] } : {};
  return plan({ start, end, periods: [] }, false, { ...days, quarters: [QUARTER, addByDays] }, []);
}

type Grain = 'days' | 'hours' | 'quarters';
type Add = (stretches: Stretches, since: Micros, before: Micros) => void;

/** `grains` come coarsest first: whole multiples of a size, and how a stretch of them joins those before it. */
function plan(
  { start, end, periods }: Window,
  byBucket: boolean,
  grains: Partial<Record<Grain, [size: Micros, add: Add]>>,
  lastSizes: readonly Micros[],
): ReadPlan {
  const boundaries = [start, ...(byBucket ? periods.slice(1).map(({ at }) => at) : [])];
  const last = lastStretch(boundaries.at(-1) ?? start, end, lastSizes);
  const planned = { days: none(), hours: none(), quarters: none(), cut: none() };
  const wanted = Object.entries(grains) as [Grain, [Micros, Add]][];
  const place = (from: Micros, to: Micros, index: number): void => {
    if (from >= to) return;
    const grain = wanted[index];
    if (grain === undefined) return addWithinDays(planned.cut, from, to);
    const [name, [size, addWhole]] = grain;
    const [first, over] = [ceilTo(from, size), floorTo(to, size)];
    if (first >= over) return place(from, to, index + 1);
    place(from, first, index + 1);
    addWhole(planned[name], first, over);
    place(over, to, index + 1);
  };
  for (const [index, from] of boundaries.entries()) place(from, boundaries[index + 1] ?? last?.from ?? end, 0);
  return { start, end, boundaries, ...planned, last };
}

function lastStretch(since: Micros, end: Micros, sizes: readonly Micros[]): LastStretch | null {
  for (const size of sizes) {
    const from = floorTo(end, size);
    if (from >= since && from < end) return { from, size };
  }
  return null;
}

function none(): Stretches {
  return { from: [], to: [] };
}

/** Adds a stretch, to the one before where they touch. */
function add({ from, to }: Stretches, since: Micros, before: Micros): void {
  if (to.at(-1) === since) to[to.length - 1] = before;
  else {
    from.push(since);
    to.push(before);
  }
}

/** Adds a stretch by the day, never to the one before. */
function addByDays({ from, to }: Stretches, since: Micros, before: Micros): void {
  for (let at = since; at < before; at = floorTo(at, DAY) + DAY) {
    from.push(at);
    to.push(Math.min(floorTo(at, DAY) + DAY, before));
  }
}

/** As `add`, for stretches that must not go over midnight: the customers of each are found by its day. */
function addWithinDays(stretches: Stretches, since: Micros, before: Micros): void {
  for (let at = since; at < before; at = floorTo(at, DAY) + DAY) {
    const over = Math.min(floorTo(at, DAY) + DAY, before);
    if (at % DAY === 0) addByDays(stretches, at, over);
    else add(stretches, at, over);
  }
}

function floorTo(at: Micros, size: Micros): Micros {
  return Math.floor(at / size) * size;
}

function ceilTo(at: Micros, size: Micros): Micros {
  return Math.ceil(at / size) * size;
}
