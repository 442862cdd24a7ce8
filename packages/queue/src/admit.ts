// The moment of truth: after this step an event is on disk in Redis together with its claim, or it never was.
// The same step counts it, which is what `npm run reconcile` holds the rest against. What the script says is the whole
// answer to the client; the job that follows (record-jobs.ts) only makes it quick.

import { Refusal, errorCodeOf } from '@weir/shared/errors';
import { epochMsOfId, newId } from '@weir/shared/ids';
import { utcMonthOf } from '@weir/shared/months';
import { acceptedField } from './accepted-counts.ts';
import { CLAIM_LENGTH, claimText, readClaim } from './claim-text.ts';
import type { QueueConnection } from './connection.ts';
import type { QueueKeys } from './keys.ts';
import { isRefusedByRedis, RedisUnreachable } from './redis-away.ts';
import { loadScript } from './script.ts';
import { STAGED_SEPARATOR, stagedBytes } from './staged.ts';

/** Who sends an event. */
export interface Sender {
  organizationId: string;
  apiKeyId: string;
  /** The epoch of Redis when the API key was looked up. Its claims are made of it. */
  epoch: string;
}

/** An event that was read and waits to be admitted. */
export interface Candidate {
  /** Of the event: its claim names it, and its time says in which month it counts. */
  id: string;
  /** The event as it is staged (see staged.ts). */
  event: string;
  /** Null for an event that is replayed: it was admitted, and counted, before. */
  sender: Sender | null;
  /** Null for an event without an idempotency key. The fingerprint is a digest. */
  claim: { key: string; fingerprint: string } | null;
}

/**
 * What became of a candidate. `held`: its idempotency key belongs to the event `id`. `unsure`: Redis has another epoch than
 * when the API key was looked up, so that nobody knows whether it was deleted meanwhile.
 */
export type Admission =
  | { outcome: 'staged' }
  | { outcome: 'held'; id: string; isSamePayload: boolean }
  | { outcome: 'revoked' }
  | { outcome: 'unsure' };

const admitFlush = loadScript<(number | string)[]>('admit');

const NO_CLAIM = ' '.repeat(CLAIM_LENGTH);
const STAGED: Admission = { outcome: 'staged' };
const REVOKED: Admission = { outcome: 'revoked' };
const UNSURE: Admission = { outcome: 'unsure' };

/**
 * Admits the candidates of one flush under the batch's id; the answers are in their order. Where two copies are asked for, a replica
 * has what they say too. When Redis does not answer, or no replica does, throws a Refusal whose `outcome` says what that means:
 * `not_accepted` nothing was kept, `unknown` it may have been.
 * With `claimSeconds` 0 no claim is kept: events of this flush are held against those before it and each other, later ones are not.
 */
export async function admit(
  { redis, keys, secondCopy }: QueueConnection,
  batch: string,
  candidates: readonly Candidate[],
  claimSeconds: number,
): Promise<Admission[]> {
  const { keyArgs, valueArgs } = argumentsOf(keys, batch, candidates, claimSeconds);
  const isReady = secondCopy === undefined ? redis.status === 'ready' : secondCopy.isReady();
  if (!isReady) throw notAccepted(new RedisUnreachable('not connected'));
  let exceptions: (number | string)[];
  try {
    exceptions = await (secondCopy === undefined
      ? admitFlush(redis, keyArgs, valueArgs)
      : admitFlush.copied(secondCopy, keyArgs, valueArgs));
  } catch (error) {
    throw unanswered(error);
  }
  const admissions = candidates.map((): Admission => STAGED);
  for (let at = 0; at < exceptions.length; at += 2) {
    const index = Number(exceptions[at]) - 1;
    admissions[index] = exceptionOf(String(exceptions[at + 1]), candidates[index]);
  }
  return admissions;
}

function argumentsOf(keys: QueueKeys, batch: string, candidates: readonly Candidate[], claimSeconds: number) {
  const revoked: string[] = [];
  const claims: string[] = [];
  const perSender: string[] = [];
  const perRun: number[] = [];
  let claimed = '';
  const senders = new Map<string, number>();
  let last: { sender: Sender; month: string; number: number } | undefined;
  const numberOf = ({ id, sender }: Candidate): number => {
    if (sender === null) return 0;
    const month = utcMonthOf(epochMsOfId(id));
    if (last !== undefined && last.sender === sender && last.month === month) return last.number;
    // A flush at the turn of a month has its sender twice, once for each month.
    const name = sender.apiKeyId + sender.epoch + month;
    const number = senders.get(name) ?? senders.size + 1;
    if (number > senders.size) {
      revoked.push(keys.revoked(sender.apiKeyId));
      perSender.push(acceptedField(sender.organizationId, month), sender.epoch, sender.organizationId);
      senders.set(name, number);
    }
    last = { sender, month, number };
    return number;
  };
  let current = -1;
  let count = 0;
  let bytes = 0;
  for (const candidate of candidates) {
    const { claim, id, event } = candidate;
    const sender = numberOf(candidate);
    if (sender !== current) {
      if (count > 0) perRun.push(current, count, bytes);
      current = sender;
      count = 0;
      bytes = 0;
    }
    count += 1;
    bytes += stagedBytes(event);
    if (claim === null) claimed += NO_CLAIM;
    else {
      claims.push(claim.key);
      claimed += claimText(id, claim.fingerprint);
    }
  }
  if (claimed.length !== candidates.length * CLAIM_LENGTH)
    throw new Error('a fingerprint is not of the length of a digest');
  perRun.push(current, count, bytes);
  const events = candidates.map(({ event }) => event).join(STAGED_SEPARATOR);
  // A batch may go on in the next counts, which need another id than those before.
  const head = [batch, Date.now(), claimSeconds, newId(), senders.size, perRun.length / 3];
  return {
    keyArgs: [keys.batch(batch), keys.staged, keys.accepted, keys.epoch, keys.waiting, ...revoked, ...claims],
    valueArgs: [...head, ...perSender, ...perRun, claimed, CLAIM_LENGTH, events],
  };
}

function exceptionOf(answer: string, candidate: Candidate | undefined): Admission {
  if (answer === 'revoked') return REVOKED;
  if (answer === 'unsure') return UNSURE;
  return { outcome: 'held', ...readClaim(answer, candidate?.claim?.fingerprint) };
}

function unanswered(error: unknown): Refusal {
  const message = error instanceof Error ? error.message : String(error);
  const neverSent = message.includes("Stream isn't writeable") || errorCodeOf(error) === 'ECONNREFUSED';
  if (neverSent || isRefusedByRedis(error)) return notAccepted(error);
  return new Refusal(
    'unavailable',
    'The queue did not answer in time, so the event may have been taken or not: send it again with the same idempotency_key.',
    { outcome: 'unknown', retryAfterSeconds: 1 },
    error,
  );
}

function notAccepted(cause?: unknown): Refusal {
  return new Refusal(
    'unavailable',
    'The queue cannot take events now, and nothing was kept: send it again in a moment.',
    {
      outcome: 'not_accepted',
      retryAfterSeconds: 1,
    },
    cause,
  );
}
