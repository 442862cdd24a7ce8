import type { UsageEvent } from '@weir/shared/event';

/** The queue of the pattern with one job for each event. */
export const EVENT_QUEUE = 'events';

export interface EventJob {
  event: UsageEvent;
  /** In hexadecimal digits. */
  keyHash: string;
}
