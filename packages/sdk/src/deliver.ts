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
  /** Why the events that are not settled are not: a WeirError about the request as a whole, or the signal's reason. */
  failure?: unknown;
}

/** So many single events are sent to a proxy that refuses them, and then no more of the batch. */
const FOREIGN_MAX = 3;

/** Returns what became of each event. Never throws but for a defect. */
export async function deliver(
  events: readonly EncodedEvent[],
  sendBatch: SendBatch,
  policy: RetryPolicy,
): Promise<Delivery> {
  const outcomes = events.map((): BatchOutcome | undefined => undefined);
  const foreign: WeirError[] = [];

  const settleAll = async (positions: number[]): Promise<void> => {
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
        // What a proxy refuses may be taken another time. The other events are not held up by one that is too large for it.
        foreign.push(error);
        if (foreign.length >= FOREIGN_MAX) throw error;
        return;
      }
      // One event can make the whole request too large or unreadable: the halves find it.
      const half = Math.ceil(pending.length / 2);
      await settleAll(pending.slice(0, half));
      await settleAll(pending.slice(half));
    }
  };

  try {
    await settleAll([...events.keys()]);
    return foreign[0] === undefined ? { outcomes } : { outcomes, failure: foreign[0] };
  } catch (failure) {
    return { outcomes, failure };
  }
}

/** Whether nothing more will become of the event: it is kept, or refused for good. */
export function isSettled(outcome: BatchOutcome | undefined): outcome is BatchOutcome & ({ id: string } | Refused) {
  return outcome !== undefined && !('error' in outcome && outcome.error.transient);
}

type Refused = { error: WeirError & { transient: false } };

function isAboutContent(error: unknown): error is WeirError {
  return error instanceof WeirError && (error.status === 400 || error.status === 413);
}
