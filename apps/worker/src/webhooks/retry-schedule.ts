/** After the first attempt, and after each that follows: how long until the next one, in seconds. */
const WAITS = [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600];

/** Of a crowd that failed in one moment not all come back in one moment. */
const JITTER = 0.2;

/** What a receiver asks for is followed up to here: it cannot put an event off for ever. */
const RETRY_AFTER_SECONDS_MAX = 24 * 3600;

/**
 * How long until the next attempt, in milliseconds, after so many; undefined: there is none. A receiver that says when it may be asked again
 * is not asked before.
 */
export function retryMsAfter(
  tries: number,
  retryAfter: string | undefined,
  { random = Math.random, now = Date.now } = {},
): number | undefined {
  const wait = WAITS[tries - 1];
  if (wait === undefined) return undefined;
  const planned = wait * (1 - JITTER + 2 * JITTER * random());
  return Math.round(1_000 * Math.max(planned, Math.min(secondsOf(retryAfter, now()), RETRY_AFTER_SECONDS_MAX)));
}

/** Of the header Retry-After: seconds, or a date. What is neither asks for nothing. */
function secondsOf(retryAfter: string | undefined, now: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.max(0, (date - now) / 1_000);
}
