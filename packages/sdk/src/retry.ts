import { setTimeout as sleep } from 'node:timers/promises';
import { mayBeAccepted, WeirError, withOutcome } from './error.ts';

const delayFirstMs = 250;
const delayMaxMs = 10_000;
/** When the service asks for a longer wait than this, the caller decides. */
const retryAfterMaxMs = 60_000;

export interface RetryPolicy {
  /** Retries after the first attempt; Infinity: the caller has decided to wait, however long the service asks for. */
  retries: number;
  onRetry?: ((error: WeirError, delayMs: number) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** A wait does not keep the process alive. */
  isBackground?: boolean | undefined;
}

/**
 * Runs `attempt` until it succeeds, and waits between tries. Throws what `attempt` threw when that is not transient, when the
 * retries are used up, or when they are numbered and the service asks for more than a minute. Throws the signal's reason once
 * aborted. `retried` is how many of the retries were made before.
 *
 * What is thrown is told of all attempts: when the last one was not accepted and one before it may have been, the outcome is unknown.
 */
export async function withRetries<T>(attempt: () => Promise<T>, policy: RetryPolicy, retried = 0): Promise<T> {
  let isDoubtful = retried > 0;
  for (let tries = retried; ; tries++) {
    policy.signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof WeirError)) throw error;
      const askedMs = error.retryAfterMs ?? 0;
      const isAskedTooLong = askedMs > retryAfterMaxMs && Number.isFinite(policy.retries);
      if (!error.transient || tries >= policy.retries || isAskedTooLong)
        throw isDoubtful && !mayBeAccepted(error) ? withOutcome(error, 'unknown') : error;
      isDoubtful ||= mayBeAccepted(error);
      const delayMs = Math.max(Math.min(askedMs, retryAfterMaxMs), backoffMs(tries));
      policy.onRetry?.(error, delayMs);
      await pause(delayMs, policy);
    }
  }
}

/** Returns any time up to the exponential limit (full jitter), so that clients which were stopped together come back apart. */
export function backoffMs(tries: number): number {
  return Math.random() * Math.min(delayMaxMs, delayFirstMs * 2 ** tries);
}

/** Returns the wait of a Retry-After header in milliseconds; undefined unless it is seconds or an HTTP date. */
export function parseRetryAfter(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

async function pause(delayMs: number, { signal, isBackground = false }: RetryPolicy): Promise<void> {
  try {
    await sleep(delayMs, undefined, { signal, ref: !isBackground });
  } catch {
    // Sleep fails only by abort, but with a reason of its own: the loop throws the caller's.
  }
}
