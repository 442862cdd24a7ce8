// The direct way: an API records a flush itself where Redis does not take it (docs/decisions/0070-the-direct-way.md). Who may send,
// what is written and what is counted as accepted are of one transaction, so an event that is refused leaves nothing. Events keep
// their ids: one that Redis has as well is recorded once, whoever comes first.

import { errorCodeOf } from '@weir/shared/errors';
import { keyClaimOf, type KeyClaim, type StagedEvent } from '@weir/shared/event';
import { withinMs } from '@weir/shared/within';
import type pg from 'pg';
import { countAccepted } from './accepted.ts';
import { plainArray } from './array-text.ts';
import { isDatabaseAway, isLockTimeout, isTimedOut, type Database } from './database.ts';
import { holdKnown, knownForRecording } from './known-for-recording.ts';
import { poolTransaction } from './pool-transaction.ts';
import { findHeld, findReused, type HeldEvent } from './held-keys.ts';
import { claimKeys, forgetClaims, type KeyHolder } from './pending-claims.ts';
import { insertPerhapsStaged } from './perhaps-staged.ts';
import { notRecorded, onceEach, recordBatch, recordOrSplit, validateAll, type AcceptedEvent } from './record-batch.ts';
import { BARRIER } from './standby.ts';
import {
  deleteRejected,
  organizationsOf,
  recordOnce,
  rejectEvents,
  whileRetried,
  type Recorded,
  type RejectedEvent,
} from './record.ts';

/** An event, and the API key that it came with; null where that was looked at before. One that is replayed was counted before as well. */
export interface DirectEvent {
  event: StagedEvent;
  apiKeyId: string | null;
  /** The digest of its payload; empty for an event without an idempotency key. */
  fingerprint: string;
}

export interface DirectOptions {
  /** Redis may have them as well. */
  isPerhapsStaged: boolean;
  /** Their idempotency keys are claimed until Redis is told of them (pending-claims.ts). */
  claimsKeys: boolean;
  /** Milliseconds after which it is given up, unless it commits just then. Without it, it takes as long as it takes. */
  msMax?: number;
}

/**
 * What became of an event. `taken`: it is recorded. `rejected`: it is taken, and its meter rejects it. `held`: its idempotency key belongs
 * to the event `id`. `locked`: somebody changes usage of its organization for longer than is waited for, and nothing of it is kept.
 * `failed`: Postgres does not take it now; it may be recorded only where that is said.
 */
export type DirectAnswer =
  | { outcome: 'taken' }
  | { outcome: 'rejected' }
  | { outcome: 'held'; id: string; isSamePayload: boolean }
  | { outcome: 'revoked' }
  | { outcome: 'locked'; error: unknown }
  | { outcome: 'failed'; error: unknown; isPerhapsTaken: boolean };

const TAKEN: DirectAnswer = { outcome: 'taken' };
const REJECTED: DirectAnswer = { outcome: 'rejected' };
const REVOKED: DirectAnswer = { outcome: 'revoked' };
const NOTHING: Recorded = { recorded: 0, duplicates: 0, reused: [] };

/** How often what deadlocked, or whose commit was not answered, is done again. */
const ATTEMPTS_MAX = 3;

/** What has taken so long is given up before its commit: with that it would be answered too late for its clients. */
export const DIRECT_MS_MAX = 1_500;

/** For its commit it has so long besides. That waits for the disk, and for a standby, and no time-out of Postgres ends it. */
const COMMIT_MS_MAX = 1_000;

/**
 * For how long a flush waits for a lock, of the time that somebody waits for its answer. Of several organizations it leaves the others as
 * much again, to be recorded apart. One that is alone keeps nobody waiting, and is given up just before the statement would be.
 */
const LOCK_SHARE = { together: 0.4, alone: 0.8 };

class TooSlow extends Error {}

const isTooSlow = (error: unknown): boolean => error instanceof TooSlow;

/**
 * Records the events of a flush, each once. The answers are in their order. Never throws for what Postgres says: those of whom nothing is
 * known are `failed`.
 */
export async function recordDirectly(
  database: Database,
  flush: readonly DirectEvent[],
  options: DirectOptions,
): Promise<DirectAnswer[]> {
  const answers = new Map<string, DirectAnswer>();
  const events = flush.map(({ event }) => event);
  const msMax = options.msMax ?? Infinity;
  const progress = { isPerhapsTaken: false };
  const context: Flush = {
    database,
    options,
    answers,
    sent: new Map(flush.map((sent) => [sent.event.id, sent])),
    progress,
    deadline: performance.now() + msMax,
    lockMsMax: msMax * (organizationsOf(flush).size > 1 ? LOCK_SHARE.together : LOCK_SHARE.alone),
  };
  let failure: unknown;
  try {
    const recorded = recordAll(context, events).catch((error: unknown) => recordApart(context, events, error));
    // What goes on after that records nothing more.
    await (options.msMax === undefined ? recorded : withinMs(options.msMax + COMMIT_MS_MAX, recorded));
  } catch (error) {
    failure = error;
  }
  const failed: DirectAnswer = { outcome: 'failed', error: failure, isPerhapsTaken: progress.isPerhapsTaken };
  return flush.map(({ event }) => answers.get(event.id) ?? failed);
}

async function recordAll(flush: Flush, events: readonly StagedEvent[]): Promise<void> {
  const { database, answers } = flush;
  const replayed = events.filter((event) => event.replayed === true);
  const fresh = events.filter((event) => event.replayed !== true);
  const { accepted, rejected } = validateAll(fresh);
  const { refused } = await recordOrSplit(database, accepted, (part) => inTransaction(flush, part, recordPart));
  await inTransaction(flush, [...rejected, ...refused], rejectPart);
  for (const { event } of [...rejected, ...refused])
    if (answers.get(event.id) === TAKEN) answers.set(event.id, REJECTED);
  if (replayed.length > 0) await recordReplayed(flush, replayed);
}

/**
 * Records what is not recorded yet organization by organization, so that only those hear of a lock whose it is. Each may wait for its
 * share of the time that is left, and one share is left to the work.
 */
async function recordApart(flush: Flush, events: readonly StagedEvent[], error: unknown): Promise<void> {
  if (!isLockTimeout(error) || flush.progress.isPerhapsTaken) throw error;
  const parts = apartByOrganization(events.filter(({ id }) => !flush.answers.has(id)));
  for (const [index, part] of parts.entries()) {
    const msLeft = flush.deadline - performance.now();
    flush.lockMsMax = msLeft / (parts.length - index + 1);
    try {
      // Where the time is over, locks have taken it.
      if (msLeft <= 0) throw error;
      await recordAll(flush, part);
    } catch (error) {
      if ((!isLockTimeout(error) && !isTooSlow(error)) || flush.progress.isPerhapsTaken) throw error;
      for (const { id } of part) if (!flush.answers.has(id)) flush.answers.set(id, { outcome: 'locked', error });
    }
  }
}

/** One organization each, or a few where there are many. */
function apartByOrganization(events: readonly StagedEvent[]): StagedEvent[][] {
  // Each has a transaction of its own: so many fit into the time that is left.
  const partsMax = 32;
  const numbers = new Map<string, number>();
  const parts: StagedEvent[][] = [];
  for (const event of events) {
    const number = numbers.get(event.organization_id) ?? numbers.size;
    numbers.set(event.organization_id, number);
    (parts[number % partsMax] ??= []).push(event);
  }
  return parts;
}

/**
 * Records events that are replayed. An event that counts from here on stands no more among the rejected ones in the same moment: nobody comes
 * again to take it off there, as the batch of a worker does. What is left is settled as a worker settles it.
 */
async function recordReplayed(flush: Flush, replayed: readonly StagedEvent[]): Promise<void> {
  const { database, answers, progress } = flush;
  // Their keys are not claimed: they are found by the events that were rejected.
  const unclaimed: Flush = { ...flush, answers: new Map(), options: { ...flush.options, claimsKeys: false } };
  const open = await notRecorded(database, onceEach(validateAll(replayed)).accepted);
  await recordOrSplit(database, open, (part) => inTransaction(unclaimed, part, recordReplayedPart));
  progress.isPerhapsTaken = true;
  await recordBatch(database, replayed);
  progress.isPerhapsTaken = false;
  for (const { id } of replayed) answers.set(id, TAKEN);
}

interface Flush {
  database: Database;
  options: DirectOptions;
  answers: Map<string, DirectAnswer>;
  /** The events, by their ids. */
  sent: ReadonlyMap<string, DirectEvent>;
  /** Whether a commit was sent that is not answered. */
  progress: { isPerhapsTaken: boolean };
  /** By `performance.now()`. */
  deadline: number;
  /** For how long a lock is waited for, where somebody waits for the answer. */
  lockMsMax: number;
}

/** The transaction that a part of a flush is written in; `mustHold` as {@link whileRetried} says it. */
interface Attempt {
  pool: pg.Pool;
  client: pg.PoolClient;
  mustHold: boolean;
}

/** Writes a part of a flush. Returns those whose key another event was recorded with, and which events count as accepted by this. */
type Write<Part> = (attempt: Attempt, part: readonly Part[]) => Promise<{ held: HeldEvent[]; counted: StagedEvent[] }>;

/** Writes a part and counts it, or does nothing. Events keep their ids, so what was not answered is done again. */
async function inTransaction<Part extends { event: StagedEvent }>(
  flush: Flush,
  part: readonly Part[],
  write: Write<Part>,
): Promise<Recorded> {
  if (part.length === 0) return NOTHING;
  const { pool } = flush.database;
  // Of the first attempt whose commit was sent: that may have recorded the others, and what is recorded is not refused.
  let revoked: ReadonlySet<string> | undefined;
  for (let attempt = 1; ; attempt += 1) {
    let isCommitting = false;
    try {
      const committed = await whileRetried((mustHold) =>
        poolTransaction(
          pool,
          async (client) => {
            requireTime(flush);
            // Zero would be without an end.
            const lockMs = Math.max(1, Math.floor(flush.lockMsMax));
            if (flush.options.msMax !== undefined) await client.query(`SET LOCAL lock_timeout = ${lockMs}`);
            const refused = revoked ?? (await findRevoked(flush, client, part));
            const open = refused.size === 0 ? part : part.filter(({ event }) => !refused.has(event.id));
            const { first, later } = apartByKey(open);
            const claims = flush.options.claimsKeys ? claimsOf(flush, first) : [];
            const claimed = await claimKeys(client, claims);
            requireTime(flush);
            const free = claimed.size === 0 ? first : first.filter(({ event }) => !claimed.has(event.id));
            const { held, counted } = await write({ pool, client, mustHold }, free);
            const answers = await answersOf(flush, client, { first, later, claimed, held });
            if (held.length > 0) await forgetClaims(client, claims.filter(isOneOf(held)));
            // What was there already may be on this server alone: the commit waits for the standby.
            if (counted.length < open.length) await client.query(BARRIER);
            if (flush.options.isPerhapsStaged) await insertPerhapsStaged(client, counted);
            else await countAccepted(client, counted);
            for (const { event } of part) if (refused.has(event.id)) answers.set(event.id, REVOKED);
            requireTime(flush);
            isCommitting = true;
            flush.progress.isPerhapsTaken = true;
            revoked = refused;
            return answers;
          },
          isTooSlow,
        ),
      );
      for (const [id, answer] of committed) flush.answers.set(id, answer);
      flush.progress.isPerhapsTaken = false;
      return NOTHING;
    } catch (error) {
      // To give a slow Postgres less at once would take longer than a client waits.
      if (flush.options.msMax !== undefined && isTimedOut(error))
        throw new TooSlow('Postgres takes too long', { cause: error });
      const isWorthIt = isCommitting ? isDatabaseAway(error) : isCollision(error);
      if (attempt === ATTEMPTS_MAX || !isWorthIt) throw error;
    }
  }
}

function requireTime({ deadline }: Flush): void {
  if (performance.now() > deadline) throw new TooSlow('Postgres takes too long');
}

/** Serialization failures and deadlocks: the others have done their part by now. */
function isCollision(error: unknown): boolean {
  return errorCodeOf(error)?.startsWith('40') === true;
}

/** Which events came with an API key that is deleted by now. A deletion that commits after this answers after this flush began. */
async function findRevoked(
  { sent }: Flush,
  client: pg.PoolClient,
  part: readonly { event: StagedEvent }[],
): Promise<ReadonlySet<string>> {
  const keyOf = ({ id }: StagedEvent) => sent.get(id)?.apiKeyId ?? null;
  const organizations = new Map<string, string>();
  for (const { event } of part) {
    const key = keyOf(event);
    if (key !== null) organizations.set(key, event.organization_id);
  }
  if (organizations.size === 0) return new Set();
  const { rows } = await client.query<{ id: string }>({
    name: 'api-keys-there',
    text: `SELECT id FROM api_keys WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
      AND 'usage.write' = ANY (scopes) AND revoked_at IS NULL`,
    values: [plainArray([...organizations.values()]), plainArray([...organizations.keys()])],
  });
  if (rows.length === organizations.size) return new Set();
  const there = new Set(rows.map(({ id }) => id));
  const isRevoked = (key: string | null) => key !== null && !there.has(key);
  return new Set(part.flatMap(({ event }) => (isRevoked(keyOf(event)) ? [event.id] : [])));
}

const recordPart: Write<AcceptedEvent> = async ({ pool, client, mustHold }, part) => {
  const known = mustHold ? await holdKnown(pool, client, organizationsOf(part)) : knownForRecording(pool);
  const held: HeldEvent[] = [];
  let recorded = 0;
  for (let open = part; open.length > 0;) {
    const once = await recordOnce(known, client, open);
    recorded += once.recorded;
    held.push(...once.held);
    open = once.unsettled;
  }
  const isHeld = isOneOf(held);
  const own = part.flatMap(({ event }) => (isHeld({ eventId: event.id }) ? [] : [event]));
  // Some were there: a worker had them from Redis, which has counted them, or an earlier attempt was committed after all.
  return { held, counted: recorded === own.length ? own : await findOfThisTransaction(client, own) };
};

/** They were counted when they were accepted first. */
const recordReplayedPart: Write<AcceptedEvent> = async (attempt, part) => {
  const { held } = await recordPart(attempt, part);
  const isHeld = isOneOf(held);
  await deleteRejected(
    attempt.client,
    part.flatMap(({ event }) => (isHeld({ eventId: event.id }) ? [] : [event])),
  );
  return { held, counted: [] };
};

/** A key is its first event's. Given with that one, another would have it by chance: the statements go by ids. */
function apartByKey<Part extends { event: StagedEvent }>(
  part: readonly Part[],
): { first: readonly Part[]; later: Part[] } {
  const keys = new Set<string>();
  const later = part.filter(({ event: { organization_id, idempotency_key } }) => {
    if (idempotency_key === undefined) return false;
    const countBefore = keys.size;
    return keys.add(organization_id + idempotency_key).size === countBefore;
  });
  const isLater = new Set(later);
  return { first: later.length === 0 ? part : part.filter((each) => !isLater.has(each)), later };
}

function claimsOf({ sent }: Flush, part: readonly { event: StagedEvent }[]): KeyClaim[] {
  return part.flatMap(({ event }) => keyClaimOf(event, sent.get(event.id)?.fingerprint ?? '') ?? []);
}

function isOneOf(held: readonly HeldEvent[]): (claim: { eventId: string }) => boolean {
  const ids = new Set(held.map(({ event }) => event.id));
  return ({ eventId }) => ids.has(eventId);
}

interface Settled {
  first: readonly { event: StagedEvent }[];
  later: readonly { event: StagedEvent }[];
  claimed: ReadonlyMap<string, KeyHolder>;
  held: readonly HeldEvent[];
}

/** What is answered: a later one of a key hears of whatever holds it in the end. Payloads are compared where they are known. */
async function answersOf(
  { sent }: Flush,
  client: pg.PoolClient,
  { first, later, claimed, held }: Settled,
): Promise<Map<string, DirectAnswer>> {
  const fingerprintOf = ({ id }: StagedEvent) => sent.get(id)?.fingerprint ?? '';
  const recorded = new Map(held.map(({ event, holder }) => [event.id, holder]));
  const toCompare = [...held];
  const answers = new Map<string, DirectAnswer>();
  const settle = (event: StagedEvent, known: KeyHolder | undefined, holder: string | undefined) => {
    if (holder !== undefined) toCompare.push({ event, holder });
    else if (known === undefined) answers.set(event.id, TAKEN);
    else {
      const isSamePayload = known.fingerprint === fingerprintOf(event);
      answers.set(event.id, { outcome: 'held', id: known.id, isSamePayload });
    }
  };
  for (const { event } of first) if (!recorded.has(event.id)) settle(event, claimed.get(event.id), undefined);
  if (later.length > 0) {
    const keyOf = (event: StagedEvent) => event.organization_id + (event.idempotency_key ?? '');
    const firsts = new Map(first.map(({ event }) => [keyOf(event), event]));
    for (const { event } of later) {
      const before = firsts.get(keyOf(event)) ?? event;
      const known = claimed.get(before.id) ?? { id: before.id, fingerprint: fingerprintOf(before) };
      settle(event, known, recorded.get(before.id));
    }
  }
  const reused = await findReused(client, toCompare);
  for (const { event, holder } of toCompare)
    answers.set(event.id, { outcome: 'held', id: holder, isSamePayload: !reused.has(event.id) });
  return answers;
}

async function findOfThisTransaction(client: pg.PoolClient, events: readonly StagedEvent[]): Promise<StagedEvent[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT e.id::text FROM events e JOIN unnest($1::uuid[], $2::uuid[]) AS t (organization_id, id)
       ON (e.organization_id, e.id) = (t.organization_id, t.id)
     WHERE e.id = ANY ($2::uuid[]) AND e.xmin::text = (pg_current_xact_id()::text::bigint & 4294967295)::text`,
    [plainArray(events.map((event) => event.organization_id)), plainArray(events.map(({ id }) => id))],
  );
  const ids = new Set(rows.map(({ id }) => id));
  return events.filter(({ id }) => ids.has(id));
}

const rejectPart: Write<RejectedEvent> = async ({ client }, part) => {
  const events = part.map(({ event }) => event);
  const held = await findHeld(client, events);
  const isHeld = isOneOf(held);
  const fresh = await rejectEvents(
    client,
    held.length === 0 ? part : part.filter(({ event }) => !isHeld({ eventId: event.id })),
  );
  return { held, counted: events.filter(({ id }) => fresh.has(id)) };
};
