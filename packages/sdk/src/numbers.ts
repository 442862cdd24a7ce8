// Options that are numbers. They often come from an environment, as NaN where it lacks them. One that makes no sense is refused when it is
// given: a timer takes it for a millisecond, which looks like an outage of Weir.

/** The longest that a timer can wait: 24 days. What is longer it takes for a millisecond. */
export const TIMER_MAX_MS = 2 ** 31 - 1;

/** Returns a time in milliseconds; Infinity becomes the longest that a timer can wait. Throws a RangeError below `least`. */
export function readMs(name: string, value: number, least = 0): number {
  return Math.min(atLeast(least, name, value), TIMER_MAX_MS);
}

/** Returns the number of retries, which may be Infinity. Throws a RangeError where it is none. */
export function readRetries(value: number): number {
  return atLeast(0, 'retries', value);
}

/** Returns the number. Throws a RangeError where it is less, or no number. */
export function atLeast(least: number, name: string, value: number): number {
  if (value >= least) return value;
  throw new RangeError(`${name} must be a number from ${least}, and not ${String(value)}`);
}

/** Returns the number. Throws a RangeError where it is not whole, less than 1 or more than `most`. */
export function wholeNumber(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(
    `${name} must be a whole number from 1${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}, and not ${String(value)}`,
  );
}
