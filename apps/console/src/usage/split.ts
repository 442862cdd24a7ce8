// Usage told apart by customers, or by the values of a key of the metadata: which parts there are, which of them are drawn, and what
// is left for the others. Pure.

import { subtractDecimals } from '../text/decimals.ts';

/** What usage is told apart by: a key of the metadata, or customers, which is null. */
export type SplitKey = string | null;

/** The external id of a customer, or a value; null for the events without the key. */
export type PartName = string | null;

/** The usage of one customer, or of one value. */
export interface Part {
  name: PartName;
  usage: string | null;
  events: number;
  /** By period; undefined where only the total was read. */
  periods: readonly (string | null)[] | undefined;
}

/** As many colours as can be told from each other. */
export const PARTS_DRAWN_MAX = 8;

/** While nobody has chosen. */
export const PARTS_DRAWN_FIRST = 6;

const CUSTOMERS = 'customer';
const METADATA = 'metadata.';

/** Returns what an address asks for; undefined for no split, and for a key that the meter does not name. */
export function readSplit(text: string | undefined, keys: readonly string[]): SplitKey | undefined {
  if (text === CUSTOMERS) return null;
  return keys.find((key) => text === `${METADATA}${key}`);
}

export function writeSplit(split: SplitKey): string {
  return split === null ? CUSTOMERS : `${METADATA}${split}`;
}

/** Returns the parts that an address names, once each and at most as many as can be drawn; undefined where it names none. */
export function readNames(text: string | undefined): PartName[] | undefined {
  if (text === undefined) return undefined;
  try {
    const names: unknown = JSON.parse(text);
    if (!Array.isArray(names)) return undefined;
    const known = names.filter((name): name is PartName => name === null || typeof name === 'string');
    return [...new Set(known)].slice(0, PARTS_DRAWN_MAX);
  } catch {
    // An address that somebody has changed by hand.
    return undefined;
  }
}

export function writeNames(names: readonly PartName[]): string {
  return JSON.stringify(names);
}

/** The place of the others, which have a colour of their own. */
export const OTHERS = -2;

/** Returns the classes of the swatch of a part by its place among those that are drawn; of -1, of one without a colour. */
export function swatchOf(index: number): string {
  if (index === OTHERS) return 'swatch part-others';
  return index < 0 ? 'swatch' : `swatch part-${index + 1}`;
}

export function wordOf(name: PartName): string {
  return name ?? 'Without the key';
}

/** What is drawn of an answer. */
export interface Drawn {
  parts: Part[];
  /** All that is not drawn, by the period and in all; undefined where it is nothing, and of what does not add up. */
  others: { periods: string[]; total: string; events: number } | undefined;
}

/** As the API has them. */
interface Answer {
  usage: { total_usage: string | null; event_count: number; grouped_data: readonly { usage: string | null }[] };
  parts: readonly Part[];
}

/** Returns what is drawn: the parts that were chosen, else the largest, and the others together. */
export function drawnOf(
  { usage, parts: all }: Answer,
  chosen: readonly PartName[] | undefined,
  addsUp: boolean,
): Drawn {
  // Only what was read by the period can be drawn.
  const drawable = all.filter(({ periods }) => periods !== undefined);
  const parts = drawable.filter(({ name }, index) => chosen?.includes(name) ?? index < PARTS_DRAWN_FIRST);
  if (!addsUp) return { parts, others: undefined };
  const left = (whole: string | null, drawn: (string | null | undefined)[]): string =>
    drawn.reduce<string>((before, each) => subtractDecimals(before, each ?? '0'), whole ?? '0');
  const others = {
    periods: usage.grouped_data.map(({ usage: whole }, index) =>
      left(
        whole,
        parts.map(({ periods }) => periods?.[index]),
      ),
    ),
    total: left(
      usage.total_usage,
      parts.map(({ usage: used }) => used),
    ),
    events: parts.reduce((before, { events }) => before - events, usage.event_count),
  };
  const isNothing = others.events === 0 && others.periods.every((each) => Number(each) === 0);
  return { parts, others: isNothing ? undefined : others };
}

/** Returns values as they are stacked: each is the sum of its own and of all before it. As floats, for drawing alone. */
export function stacked(series: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const values of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return sums;
}
