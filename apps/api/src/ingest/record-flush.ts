// One flush of the direct way, from top to bottom: whose queue it is and which keys are claimed there, as long as Redis answers; then
// Postgres, which decides; then Redis is told of the keys, so that whoever asks it from now on hears of these events.

import type { Database } from '@weir/db/database';
import { DIRECT_MS_MAX, recordDirectly, type DirectAnswer } from '@weir/db/record-directly';
import type { Candidate } from '@weir/queue/admit';
import { findClaims, type Holder } from '@weir/queue/claims';
import type { QueueConnection } from '@weir/queue/connection';
import { stagedEvents } from '@weir/queue/staged';
import type { Refusal } from '@weir/shared/errors';
import { keyClaimOf, type KeyClaim, type StagedEvent } from '@weir/shared/event';
import type { FastifyBaseLogger } from 'fastify';

export interface RecordFlushDeps {
  database: Database;
  queue: QueueConnection;
  /** Throws where the queue belongs to another database, and what Redis or Postgres says. `refusal`: as far as is known. */
  ownership: { check(): Promise<void>; refusal(): Refusal | undefined };
  /** Whether Redis answers, though it is not to be given events. */
  isRedisThere(): boolean;
  /** Whether claims are made now; they are not while memory is short. */
  makesClaims(): boolean;
  tell(claims: readonly KeyClaim[]): Promise<void>;
  log: FastifyBaseLogger;
}

/** Records a flush; the answers are in its order. Throws the Refusal of all of it where the queue is not ours. */
export async function recordFlush(
  deps: RecordFlushDeps,
  flush: readonly Candidate[],
  isPerhapsStaged: boolean,
): Promise<DirectAnswer[]> {
  const claimed = deps.isRedisThere() ? await askRedis(deps, flush) : new Map<string, never>();
  const open = claimed.size === 0 ? flush : flush.filter(({ id }) => !claimed.has(id));
  const events = stagedEvents(open.map(({ event }) => event));
  const recorded = await recordDirectly(
    deps.database,
    events.map((event, index) => ({
      event,
      apiKeyId: open[index]?.sender?.apiKeyId ?? null,
      fingerprint: open[index]?.claim?.fingerprint ?? '',
    })),
    // While memory is short no process makes claims, so nobody would ask for these.
    { isPerhapsStaged, claimsKeys: !deps.isRedisThere() || deps.makesClaims(), msMax: DIRECT_MS_MAX },
  );
  // Asked again, since events may be about to go through Redis again by now.
  if (deps.isRedisThere()) await tellRedis(deps, claimsOf(open, events, recorded));
  const answers = recorded[Symbol.iterator]();
  return flush.map(({ id }): DirectAnswer => {
    const holder = claimed.get(id);
    if (holder === 'revoked') return { outcome: 'revoked' };
    if (holder !== undefined) return { outcome: 'held', ...holder };
    const answer: IteratorResult<DirectAnswer> = answers.next();
    if (answer.done === true) throw new Error('a flush was answered for fewer events than it has');
    return answer.value;
  });
}

/** Keys of events that wait in Redis, which Postgres does not know yet. */
async function askRedis(
  { queue, ownership, log }: RecordFlushDeps,
  flush: readonly Candidate[],
): Promise<ReadonlyMap<string, Holder>> {
  try {
    const [, claimed] = await Promise.all([ownership.check(), findClaims(queue, flush)]);
    return claimed;
  } catch (error) {
    const refusal = ownership.refusal();
    if (refusal !== undefined) throw refusal;
    // It has gone meanwhile: Postgres decides alone.
    log.debug({ err: error }, 'Redis could not be asked about a flush');
    return new Map();
  }
}

async function tellRedis({ tell, log }: RecordFlushDeps, claims: readonly KeyClaim[]): Promise<void> {
  try {
    await tell(claims);
  } catch (error) {
    log.debug({ err: error }, 'Redis could not be told of a flush; it is later');
  }
}

function claimsOf(
  flush: readonly Candidate[],
  events: readonly StagedEvent[],
  answers: readonly DirectAnswer[],
): KeyClaim[] {
  return events.flatMap((event, index) => {
    const claim = flush[index]?.claim ?? null;
    const outcome = answers[index]?.outcome;
    const isAccepted = outcome === 'taken' || outcome === 'rejected';
    return isAccepted && claim !== null ? (keyClaimOf(event, claim.fingerprint) ?? []) : [];
  });
}
