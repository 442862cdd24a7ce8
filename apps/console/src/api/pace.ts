// How often an open page asks again. Answers that come late say that the API has more to do than to keep pages fresh, so pages
// then ask less often: ten that are left open must not be felt by the services that track.

/** A page waits for at least this many times as long as an answer took. */
const REST_FACTOR = 60;

const LOOKED_AT = 5;

/** Nobody looks at a page for longer without wondering. */
const WAIT_MS_MAX = 30_000;

/** Milliseconds that the last answers took. */
const recent: number[] = [];

/** Remembers how long an answer took. */
export function noteAnswer(ms: number): void {
  recent.push(ms);
  if (recent.length > LOOKED_AT) recent.shift();
}

/**
 * Returns the milliseconds until a page asks again that would do so after `ms`. The quickest of the last answers counts: the
 * first ones of a page wait for each other.
 */
export function pace(ms: number): number {
  const quickest = recent.length === 0 ? 0 : Math.min(...recent);
  return Math.max(ms, Math.min(WAIT_MS_MAX, REST_FACTOR * quickest));
}
