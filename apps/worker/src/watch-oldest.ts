import type { Gauge } from 'prom-client';

export interface OldestOptions {
  intervalMs: number;
  /** Returns how many seconds the oldest has waited. */
  look(): Promise<number>;
  onFailed(error: unknown): void;
  /** Milliseconds. */
  now?: () => number;
}

/**
 * Looks at once, and then again and again, how long the oldest of what waits has waited, one look at a time. Until the first look has come
 * back the gauge stays as it is. While that cannot be seen, be it that looks fail or that one does not end, it says
 * for how long it could not, where that is longer: nobody knows that less waits. Returns what ends it.
 */
export function watchOldest(gauge: Gauge, options: OldestOptions): () => void {
  const { look, onFailed, now = () => performance.now() } = options;
  let oldest = 0;
  let seenAt = now();
  let isLooking = false;
  let isOver = false;
  const showUnseen = () => gauge.set(Math.max(oldest, (now() - seenAt) / 1000));
  const lookOnce = async (): Promise<void> => {
    if (isLooking) {
      showUnseen();
      return;
    }
    isLooking = true;
    try {
      oldest = await look();
      seenAt = now();
      gauge.set(oldest);
    } catch (error) {
      if (isOver) return;
      showUnseen();
      onFailed(error);
    } finally {
      isLooking = false;
    }
  };
  void lookOnce();
  const timer = setInterval(() => void lookOnce(), options.intervalMs);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
