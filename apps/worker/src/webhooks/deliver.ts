// A turn of one endpoint: everything that is to be sent to it by now, new events in the order of the feed. What is written before it is
// sent and after is in @weir/db/webhooks/turns.

import type { Database } from '@weir/db/database';
import {
  findPace,
  findRetries,
  HELD_SECONDS,
  holdEndpoint,
  lookAtTarget,
  recordOutcomes,
  releaseEndpoint,
  stageDeliveries,
  type DueDelivery,
  type EndpointState,
  type EndpointKey,
  type HeldEndpoint,
  type Look,
  type Outcome,
  type Target,
} from '@weir/db/webhooks/turns';
import type { Logger } from '@weir/shared/log';
import { signWebhook } from '@weir/shared/webhook-signature';
import { withinMs } from '@weir/shared/within';
import { setTimeout as delay } from 'node:timers/promises';
import type { EndpointPlaces } from './endpoint-places.ts';
import type { Pace } from './pace.ts';
import { retryMsAfter } from './retry-schedule.ts';
import type { Received, Sender } from './send-request.ts';

export interface DeliveryDeps {
  /** With few connections of its own: a turn needs one for moments. */
  database: Database;
  sender: Sender;
  places: EndpointPlaces;
  pace: Pick<Pace, 'turn'>;
  log: Logger;
  metrics: { webhookAttempts: { inc(labels: { outcome: 'delivered' | 'failed' }): void } };
  /** Begins nothing more once this is aborted. */
  closing: AbortSignal;
}

/** A new event goes out when the one before it was answered, or has not been for so long: one that hangs holds up nobody. */
const PATIENCE_MS = 250;

/** So many requests are under way to one endpoint at a time: new events, and those that are tried again. */
const FIRSTS_MAX = 8;
const RETRIES_MAX = 4;

/** So many to try again are read at once. */
const RETRIES_READ = 50;

/** A turn begins nothing after this, so that other endpoints have theirs; while it waits for answers anyway it goes on for longer. */
const TURN_MS = 5_000;
const TURN_MS_MAX = 60_000;

/** What came of attempts is written down so often at most, together. */
const RECORD_MS = 100;

/** While answers are awaited, it is looked so often whether there is something new; and nothing is sent where the last look is older. */
const LOOK_MS = 500;

/** Of more that is not written down yet nothing is sent: all of it would be sent again after a death. */
const UNRECORDED_MAX = 200;

/**
 * Has a turn of an endpoint. Returns whether it left something that is gone on with at once: where others wait for a place like its own, the
 * next look finds it, behind them. Throws while Postgres is away, and then what it sent is sent again.
 */
export async function deliverTurn(deps: DeliveryDeps, key: EndpointKey): Promise<boolean> {
  const { kysely } = deps.database;
  // A look alone: of many that wait for a place each asks again every second.
  const pace = await findPace(kysely, key);
  if (pace === undefined) return false;
  const leave = deps.places.take(pace);
  if (leave === undefined) return false;
  try {
    const asked = performance.now();
    const held = await holdEndpoint(kysely, pace);
    if (held === undefined) return false;
    try {
      return (await new Turn(deps, held, asked).run()) && !deps.places.isAskedFor(pace);
    } finally {
      await releaseEndpoint(kysely, held);
    }
  } finally {
    leave();
  }
}

class Turn {
  readonly #deps: DeliveryDeps;
  readonly #held: HeldEndpoint;
  readonly #beganAt: number;
  #failingSince: string | null;
  #target: Target;
  #lookedAt: number;
  /** Until then no other turn takes the endpoint over. */
  #heldUntil: number;
  /** Requests without an answer. */
  readonly #firsts = new Set<Promise<void>>();
  readonly #retries = new Set<Promise<void>>();
  /** Deliveries of which is not written down yet what came of them. */
  readonly #open = new Set<string>();
  #answered: Outcome[] = [];
  #recording: Promise<void> | undefined;
  #recordedAt = 0;
  #hasFirstsEnded = false;
  /** It has had its time. */
  #isLate = false;
  /** The endpoint is another turn's, turned off or gone, or what comes of attempts cannot be written down. */
  #isLost = false;
  #failure: unknown;

  constructor(deps: DeliveryDeps, held: HeldEndpoint, beganAt: number) {
    this.#deps = deps;
    this.#held = held;
    this.#failingSince = held.failingSince;
    this.#target = held.target;
    this.#lookedAt = beganAt;
    this.#beganAt = beganAt;
    this.#heldUntil = beganAt + HELD_SECONDS * 1_000;
  }

  async run(): Promise<boolean> {
    await Promise.all([this.#guard(this.#sendFirsts()), this.#guard(this.#sendRetries())]);
    const hasLeft = !this.#isLost && !this.#deps.closing.aborted && this.#isOver();
    await Promise.all([...this.#firsts, ...this.#retries]);
    while (this.#answered.length > 0 && this.#failure === undefined) await this.#recordSoon(0);
    await this.#recording;
    if (this.#failure !== undefined) throw this.#failure;
    return hasLeft;
  }

  /** New events, one after the other. */
  async #sendFirsts(): Promise<void> {
    let after = 0;
    for (let isFirst = true; !this.#isOver(); isFirst = false) {
      const { due, target } = await this.#look((db, held) => stageDeliveries(db, held, after, isFirst));
      for (const delivery of due) {
        while (this.#firsts.size >= FIRSTS_MAX) await Promise.race(this.#firsts);
        if (!(await this.#maySend())) return;
        if (this.#target.takes !== target.takes) break;
        after = delivery.sequence ?? after;
        // That it takes longer is all that can fail here.
        await withinMs(PATIENCE_MS, this.#send(delivery, this.#firsts)).catch(() => {});
      }
      if (due.length > 0) continue;
      if (this.#firsts.size + this.#retries.size === 0) break;
      await delay(LOOK_MS);
    }
    this.#hasFirstsEnded = true;
  }

  /** What is to be tried again, some at a time, beside new events. */
  async #sendRetries(): Promise<void> {
    while (!this.#isOver()) {
      const { due, target } = await this.#look((db, held) => findRetries(db, held, [...this.#open], RETRIES_READ));
      for (const delivery of due) {
        while (this.#retries.size >= RETRIES_MAX) await Promise.race(this.#retries);
        if (!(await this.#maySend())) return;
        if (this.#target.takes !== target.takes) break;
        void this.#send(delivery, this.#retries);
      }
      if (due.length > 0) continue;
      if (this.#hasFirstsEnded) return;
      await delay(LOOK_MS);
    }
  }

  /** Once it is for one part it stays so for the other, whose last request would have it go on for nothing else. */
  #isOver(): boolean {
    const now = performance.now();
    if (this.#isLost || this.#deps.closing.aborted || now > this.#heldUntil) return true;
    const isWaiting = this.#firsts.size + this.#retries.size > 0;
    return (this.#isLate ||= now - this.#beganAt > (isWaiting ? TURN_MS_MAX : TURN_MS));
  }

  /**
   * What is due, of an endpoint that is in hand for longer by having been looked at. From here on all is sent to where it says, and what
   * looks of before have found holds only while the endpoint takes the same types.
   */
  async #look(find: (db: Database['kysely'], held: HeldEndpoint) => Promise<Look | undefined>): Promise<Look> {
    const began = performance.now();
    const look = await find(this.#deps.database.kysely, this.#held);
    if (look === undefined) {
      this.#isLost = true;
      return { target: this.#target, due: [] };
    }
    this.#target = look.target;
    this.#lookedAt = began;
    this.#heldUntil = began + HELD_SECONDS * 1_000;
    return look;
  }

  /** Sends, and adds what comes back to what is to be written down. Never fails, and says so by ending the turn. */
  #send(delivery: DueDelivery, awaited: Set<Promise<void>>): Promise<void> {
    this.#open.add(delivery.id);
    const sent = this.#attempt(delivery)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => awaited.delete(sent));
    awaited.add(sent);
    return sent;
  }

  async #attempt(delivery: DueDelivery): Promise<void> {
    const { sender, metrics } = this.#deps;
    const { url, secrets } = this.#target;
    const at = new Date();
    const began = performance.now();
    const request = requestOf(this.#held, delivery, at);
    const received = await sender.send({
      url,
      body: request.body,
      headers: { ...HEADERS, ...signWebhook(request, secrets) },
    });
    if (received === undefined) return;
    const outcome = outcomeOf(delivery, url, received, {
      at: at.toISOString(),
      ms: Math.round(performance.now() - began),
    });
    metrics.webhookAttempts.inc({ outcome: outcome.next === 'DELIVERED' ? 'delivered' : 'failed' });
    this.#answered.push(outcome);
    void this.#recordSoon();
  }

  /**
   * Waits while much is to be written down, and for this worker's pace; then sees to it that the target is that of now. Returns false where
   * the turn is over. That is asked before: a place in the pace is nobody else's, and waiting for it may take longer than a turn.
   */
  async #maySend(): Promise<boolean> {
    const { pace, closing } = this.#deps;
    while (this.#open.size >= UNRECORDED_MAX && !this.#isLost) await this.#recordSoon();
    if (this.#isOver()) return false;
    await pace.turn(closing);
    if (performance.now() - this.#lookedAt > LOOK_MS) await this.#look(lookAtTarget);
    return !this.#isLost && !closing.aborted;
  }

  /** Writes down what came of attempts so far and in the next moments. Never fails, and says so by ending the turn. */
  #recordSoon(afterMs = RECORD_MS): Promise<void> {
    return (this.#recording ??= this.#record(afterMs)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#recording = undefined;
        if (this.#answered.length > 0 && !this.#isLost) void this.#recordSoon();
      }));
  }

  async #record(afterMs: number): Promise<void> {
    const ms = this.#recordedAt + afterMs - performance.now();
    if (ms > 0) await delay(ms);
    this.#recordedAt = performance.now();
    const outcomes = this.#answered;
    if (outcomes.length === 0) return;
    this.#answered = [];
    const state = await recordOutcomes(this.#deps.database.kysely, this.#held, outcomes);
    for (const { delivery } of outcomes) this.#open.delete(delivery.id);
    if (state === undefined) this.#isLost = true;
    else this.#tell(state, outcomes);
  }

  #tell({ failingSince, disabledReason }: EndpointState, outcomes: readonly Outcome[]): void {
    const { log } = this.#deps;
    const which = { organization_id: this.#held.organizationId, webhook_endpoint: this.#held.endpointId };
    const { status, error } = outcomes.findLast(({ next }) => next !== 'DELIVERED')?.attempt ?? {};
    if (this.#failingSince === null && failingSince !== null)
      log.info({ ...which, status, error }, 'a webhook endpoint began to fail');
    if (this.#failingSince !== null && failingSince === null && outcomes.some(({ next }) => next === 'DELIVERED'))
      log.info(which, 'a webhook endpoint does well again');
    this.#failingSince = failingSince;
    if (disabledReason === null) return;
    log.warn({ ...which, reason: disabledReason, failing_since: failingSince }, 'a webhook endpoint was turned off');
    this.#isLost = true;
  }

  async #guard(part: Promise<void>): Promise<void> {
    await part.catch((error: unknown) => this.#fail(error));
    this.#hasFirstsEnded ||= this.#isLost;
  }

  #fail(error: unknown): void {
    this.#isLost = true;
    this.#failure ??= error;
  }
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Weir-Webhooks/1' };

/** The same for every attempt, but for its time. */
function requestOf(
  { endpointId }: HeldEndpoint,
  { id, sequence, type, created_at, actor, data }: DueDelivery,
  at: Date,
) {
  return {
    id: `msg_${endpointId}_${sequence === null ? id : `${sequence}_${digitsOf(created_at)}`}`,
    atSeconds: Math.floor(at.getTime() / 1_000),
    body: JSON.stringify({ type, timestamp: created_at, data: { ...data, sequence, actor } }),
  };
}

/** To the microsecond. A Postgres that was restored gives the numbers of events that it lost to others, which happened later. */
const digitsOf = (time: string) => time.replace(/\D/g, '').padEnd('YYYYMMDDhhmmssuuuuuu'.length, '0');

function outcomeOf(
  delivery: DueDelivery,
  url: string,
  { status, error, answer, retryAfter }: Received,
  when: { at: string; ms: number },
): Outcome {
  const attempt = { ...when, status, error, answer };
  const isDelivered = status !== null && status >= 200 && status < 300;
  if (isDelivered) return { delivery, url, attempt, next: 'DELIVERED', isGone: false };
  // A test is sent once.
  const retryMs = delivery.sequence === null ? undefined : retryMsAfter(delivery.tries + 1, retryAfter);
  return { delivery, url, attempt, next: retryMs === undefined ? 'FAILED' : { retryMs }, isGone: status === 410 };
}
