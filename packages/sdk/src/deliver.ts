// Sends a batch until each of its events is settled, or until the retries end. What is settled is not sent again.

import { settleOrError, splitAnswer, type Answer, type BatchOutcome } from './answer.ts';
import { mayBeAccepted, WeirError, withOutcome } from './error.ts';
import type { EncodedEvent } from './event.ts';
import { withRetries, type RetryPolicy } from './retry.ts';

/** Makes one attempt of one batch request. */
export type SendBatch = (body: string, idempotencyKeys: readonly string[]) => Promise<Answer>;

export interface Delivery {
  /** In the order of the events; undefined where the service has said nothing about an event. */
  outcomes: (BatchOutcome | undefined)[];
  /** Refusals of single events that may come from a proxy, by the places of the events: another time they may be taken. */
  doubtful: Map<number, WeirError>;
  /**
   * Why the others that are not settled are not: a WeirError about the request as a whole, or the signal's reason. Undefined where they
   * were not tried, because enough of the batch was refused doubtfully.
   */
  failure?: unknown;
}

/** So many single events are tried that are refused doubtfully, and then only the last of the batch: everything may be refused. */
const DOUBTFUL_MAX = 3;

/** So often the same events are sent without an answer in time. Then they may be too many for the way to Weir, and go in halves. */
const LATE_MAX = 2;

/** Returns what became of each event. Never throws but for a defect. */
export async function deliver(
  events: readonly EncodedEvent[],
  sendBatch: SendBatch,
  policy: RetryPolicy,
): Promise<Delivery> {
  const outcomes = events.map((): BatchOutcome | undefined => undefined);
  const doubtful = new Map<number, WeirError>();
  /** Events that an attempt may have been accepted of without a word. */
  const perhaps = new Set<number>();

  /** `retried` is how often these were sent again before, with others. */
  const settleAll = async (positions: number[], retried = 0): Promise<void> => {
    let pending = positions;
    let late = 0;
    const attempt = async (): Promise<void> => {
      let next = pending.length;
      // Also without an event: what is said of that is for Weir to say.
      do {
        if (late >= LATE_MAX && pending.length > 1) return;
        const sent = pending.slice(0, next);
        const keys = sent.map((position) => events[position]!.key);
        const body = `{"events":[${sent.map((position) => events[position]!.json).join(',')}]}`;
        let answers: Answer[];
        try {
          const answer = await sendBatch(body, keys);
          const room = roomIn(answer);
          if (room > 0 && room < sent.length) {
            next = room;
            continue;
          }
          answers = splitAnswer(answer, keys);
        } catch (error) {
          if (error instanceof WeirError && error.transient && mayBeAccepted(error))
            for (const position of sent) perhaps.add(position);
          throw error;
        }
        let failure: WeirError | undefined;
        late = 0;
        const left = sent.filter((position, index) => {
          const outcome = settleOrError(answers[index]!, keys[index]!);
          outcomes[position] = outcome;
          if (isSettled(outcome)) return false;
          failure = outcome.error;
          if (mayBeAccepted(failure)) perhaps.add(position);
          return true;
        });
        pending = [...left, ...pending.slice(sent.length)];
        if (failure !== undefined) throw failure;
        next = pending.length;
      } while (pending.length > 0);
    };
    const onRetry = (error: WeirError, delayMs: number): void => {
      retried += 1;
      if (isLate(error)) late += 1;
      policy.onRetry?.(error, delayMs);
    };
    try {
      await withRetries(attempt, { ...policy, onRetry }, retried);
      if (pending.length === 0) return;
    } catch (error) {
      if (!isAboutContent(error)) throw error;
      if (pending.length === 1) {
        if (isAboutEvent(error)) outcomes[pending[0]!] = { error };
        else doubtful.set(pending[0]!, error);
        return;
      }
    }
    // They are too many for the way. Or one of them makes the whole request too large, unreadable, or an attack in the eyes of a proxy:
    // the halves find it.
    const half = Math.ceil(pending.length / 2);
    for (const part of [pending.slice(0, half), pending.slice(half)]) {
      if (doubtful.size < DOUBTFUL_MAX) await settleAll(part, retried);
      else if (part.at(-1) === events.length - 1) await settleAll(part.slice(-1), retried);
    }
  };

  /** Told of all attempts: what the last one that was answered says of an event may not be so of another one. */
  const told = (): Delivery => ({
    doubtful,
    outcomes: outcomes.map((outcome, position) => {
      if (outcome === undefined || isSettled(outcome) || !perhaps.has(position)) return outcome;
      const { error } = outcome;
      return mayBeAccepted(error) ? outcome : { error: withOutcome(error, 'unknown') };
    }),
  });
  try {
    await settleAll([...events.keys()]);
    return told();
  } catch (failure) {
    return { ...told(), failure };
  }
}

/** Whether nothing more will become of the event: it is kept, or refused for good. */
export function isSettled(outcome: BatchOutcome | undefined): outcome is BatchOutcome & ({ id: string } | Refused) {
  return outcome !== undefined && !('error' in outcome && outcome.error.transient);
}

type Refused = { error: WeirError & { transient: false } };

/** How many events Weir still takes in this minute, where it refuses a request because there are more. Else 0. */
function roomIn({ status, headers, isFromWeir }: Answer): number {
  if (!isFromWeir || status !== 429) return 0;
  return Number(/"events-per-key";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? 0);
}

function isLate({ status, code }: WeirError): boolean {
  return status === 408 || code === 'timeout';
}

/** The codes by which Weir refuses a whole batch because of one event. Any other is about the request: its key, its address, its HTTP. */
const OF_CONTENT = new Set(['malformed_json', 'payload_too_large']);

/** What a proxy does not say of the content of a request: the key, the address, the time, the number of requests. */
const NOT_OF_CONTENT = new Set([401, 404, 405, 407, 408, 429]);

/** Whether one event may be why the whole request was refused. A proxy may take an event for an attack, by many a status. */
function isAboutContent(error: unknown): error is WeirError {
  if (!(error instanceof WeirError)) return false;
  const { status, code, isFromWeir } = error;
  if (isFromWeir) return OF_CONTENT.has(code);
  return status >= 400 && status < 500 && !NOT_OF_CONTENT.has(status);
}

/**
 * Whether the one event of a request is why it was refused, for certain. Weir names an event that is no JSON: a proxy that takes bodies
 * off, or spoils them, has it say only that the body is none. Nothing on the way makes a body too large.
 */
function isAboutEvent({ code, errors, isFromWeir }: WeirError): boolean {
  if (!isFromWeir) return false;
  return code === 'payload_too_large' || errors.some(({ path }) => path.startsWith('events['));
}
