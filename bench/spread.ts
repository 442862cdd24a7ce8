/** The spread of several rounds. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const median = ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
  return { median, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}

/** The smallest value that so large a share of all of them does not exceed. */
export function percentileOf(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

/** Of what every round says; null when one of them says nothing, or there is none. */
export function spreadOfAll<T>(rounds: readonly T[], of: (round: T) => number | null | undefined): Spread | null {
  const values = rounds.map(of).filter((value) => value !== null && value !== undefined);
  return values.length === 0 || values.length < rounds.length ? null : spreadOf(values);
}

/**
 * Of the ratios of two figures, each of the same round, so that a slow moment of the machine meets both. Null without a round
 * that has both.
 */
export function ratioOf(
  above: readonly (number | null | undefined)[],
  below: readonly (number | null | undefined)[],
): Spread | null {
  const ratios = above.flatMap((value, round) => {
    const other = below[round];
    return value === null || value === undefined || other === null || other === undefined || other === 0
      ? []
      : [value / other];
  });
  return ratios.length === 0 ? null : spreadOf(ratios);
}

/** `median (lowest–highest)`, the median where all are the same, or a dash. */
export function spreadText(spread: Spread | null | undefined, text: (value: number) => string): string {
  if (spread === null || spread === undefined || Number.isNaN(spread.median)) return '–';
  const [median, min, max] = [spread.median, spread.min, spread.max].map(text);
  return min === max ? `${median}` : `${median} (${min}–${max})`;
}

// Minus zero is written with its sign, and adding zero takes that off.
export const whole = (value: number): string => (Math.round(value) + 0).toLocaleString('en-US');
export const oneDigit = (value: number): string => value.toFixed(1);
export const twoDigits = (value: number): string => value.toFixed(2);
