// Sends a batch until each of its events is settled, or until the retries end. What is settled is not sent again.

import { settleOrError, splitAnswer, type Answer, type BatchOutcome } from './answer.ts';
import { WeirError } from './error.ts';
import type { EncodedEvent } from './event.ts';
import { withRetries, type RetryPolicy } from './retry.ts';

/** Makes one attempt of one batch request. */
export type SendBatch = (body: string, idempotencyKeys: readonly string[]) => Promise<Answer>;

export interface Delivery {
  /** In the order of the events; undefined where the service has said nothing about an event. */
  outcomes: (BatchOutcome | undefined)[];
  /** What a proxy said of single events, by their places: it may take them another time. */
  foreign: Map<number, WeirError>;
  /**
   * Why the others that are not settled are not: a WeirError about the request as a whole, or the signal's reason. Undefined where they
   * were not tried, because a proxy refused enough of the batch.
   */
  failure?: unknown;
}

/** So many single events are sent to a proxy that refuses them, and then no more of the batch: it may refuse everything. */
const FOREIGN_MAX = 3;

/** Returns what became of each event. Never throws but for a defect. */
export async function deliver(
  events: readonly EncodedEvent[],
  sendBatch: SendBatch,
  policy: RetryPolicy,
): Promise<Delivery> {
  const outcomes = events.map((): BatchOutcome | undefined => undefined);
  const foreign = new Map<number, WeirError>();

  const settleAll = async (positions: number[]): Promise<void> => {
    if (foreign.size >= FOREIGN_MAX) return;
    let pending = positions;
    const attempt = async (): Promise<void> => {
      const keys = pending.map((position) => events[position]!.key);
      const body = `{"events":[${pending.map((position) => events[position]!.json).join(',')}]}`;
      const answers = splitAnswer(await sendBatch(body, keys), keys);
      let failure: WeirError | undefined;
      pending = pending.filter((position, index) => {
        const outcome = settleOrError(answers[index]!, keys[index]!);
        outcomes[position] = outcome;
        if (isSettled(outcome)) return false;
        failure = outcome.error;
        return true;
      });
      if (failure !== undefined) throw failure;
    };
    try {
      await withRetries(attempt, policy);
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      if (pending.length === 1) {
        if (error.isFromWeir) {
          outcomes[pending[0]!] = { error };
          return;
        }
        foreign.set(pending[0]!, error);
        return;
      }
      // One event can make the whole request too large, unreadable, or an attack in the eyes of a proxy: the halves find it.
      const half = Math.ceil(pending.length / 2);
      await settleAll(pending.slice(0, half));
      await settleAll(pending.slice(half));
    }
  };

  try {
    await settleAll([...events.keys()]);
    return { outcomes, foreign };
  } catch (failure) {
    return { outcomes, foreign, failure };
  }
}

/** Whether nothing more will become of the event: it is kept, or refused for good. */
export function isSettled(outcome: BatchOutcome | undefined): outcome is BatchOutcome & ({ id: string } | Refused) {
  return outcome !== undefined && !('error' in outcome && outcome.error.transient);
}

type Refused = { error: WeirError & { transient: false } };

/** What is not about the content of a request, whoever says it: the key, the address, the time, the number of requests. */
const NOT_OF_CONTENT = new Set([401, 404, 405, 407, 408, 429]);

/** Weir says that of a whole request by two statuses alone. A proxy may take others for an event that looks like an attack. */
function isAboutContent(error: unknown): error is WeirError {
  if (!(error instanceof WeirError)) return false;
  const { status, isFromWeir } = error;
  if (isFromWeir) return status === 400 || status === 413;
  return status >= 400 && status < 500 && !NOT_OF_CONTENT.has(status);
}
