// What a worker reads and writes to deliver to one endpoint. All that decides is here: an endpoint is in one turn's hands at a time, each
// event of the feed gets its row before it is sent, and what came of it is written after. Where a worker dies in between, the next turn
// sends it again.

import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { sql, type RawBuilder } from 'kysely';
import { appendFeed } from '../billing/feed.ts';
import type { Queries } from '../database.ts';
import { TEST_TYPE } from './deliveries.ts';
import type { Attempt, DisabledReason } from './webhook-tables.ts';

/** An endpoint of an organization. */
export interface EndpointKey {
  organizationId: string;
  endpointId: string;
}

/** An endpoint as it did last. */
export interface EndpointPace extends EndpointKey {
  failingSince: string | null;
  /** How long its last answer took. */
  answerMs: number | null;
  /** Whether no turn has had it in hand for some minutes: of one that is full a new event tries then whether it does well again. */
  isQuiet: boolean;
}

/** An endpoint that a turn has in hand. */
export interface HeldEndpoint extends EndpointPace {
  /** Names the turn. */
  heldBy: string;
  target: Target;
}

/** Where things are sent by now. An admin may change it at any time, also while a turn has the endpoint in hand. */
export interface Target {
  url: string;
  /** Each signs what is sent. */
  secrets: Buffer[];
  /** Tells the types that it takes from those that it took before: what was found to be due of those may be given up by now. */
  takes: string | null;
}

/** What a turn learns by a look at its endpoint: where to send by now, and what. */
export interface Look {
  target: Target;
  due: DueDelivery[];
}

/** Something to send. */
export interface DueDelivery {
  id: string;
  sequence: number | null;
  type: string;
  /** When it happened. */
  created_at: string;
  actor: string;
  data: Record<string, unknown>;
  /** Attempts since it was asked for, and all. */
  tries: number;
  attempt_count: number;
  /** Null: it has had no attempt. Whoever asks for it anew sets another time. */
  next_attempt_at: string | null;
}

/**
 * A turn has an endpoint in hand for so long after it has last read or written something. It is longer than an attempt and what is written
 * of it takes; after a worker that was killed another one waits for it.
 */
export const HELD_SECONDS = 30;

/** So many events are put among the deliveries at once. */
const STAGED_MAX = 100;

/** So much of the feed is searched at once for events of the types that an endpoint takes: some tenths of a second, where there are none. */
const SEARCHED_MAX = 100_000;

/**
 * Endpoints that have something to send, which nobody has in hand, by how long that is so: places go to those that come first. What counts
 * rows is asked last: of most that are full something is due.
 */
export async function findEndpointsWithWork(db: Queries): Promise<EndpointKey[]> {
  const { rows } = await sql<EndpointKey>`
    SELECT endpoints.organization_id AS "organizationId", endpoints.id AS "endpointId"
    FROM webhook_endpoints AS endpoints LEFT JOIN billing_feeds AS feeds USING (organization_id)
    WHERE endpoints.status = 'ACTIVE' AND ${isFree} AND (
      EXISTS (SELECT FROM ${pending} AND next_attempt_at IS NULL)
      OR (SELECT min(next_attempt_at) FROM ${pending}) <= now()
      OR (endpoints.last_sequence < feeds.last_sequence OR endpoints.replay_next IS NOT NULL) AND (${isQuiet} OR NOT ${isFull}))
    ORDER BY held_until NULLS FIRST`.execute(db);
  return rows;
}

/** Also where none ever had it. */
const isQuiet = sql`coalesce(held_until < now() - interval '5 minutes', true)`;

/** Nobody has it in hand, or who had it did not let go. */
const isFree = sql`(held_by IS NULL OR held_until < now())`;

const pending = sql.raw(`webhook_deliveries AS deliveries WHERE deliveries.organization_id = endpoints.organization_id
  AND deliveries.endpoint_id = endpoints.id AND deliveries.status = 'PENDING'`);

/**
 * Whether something was tried, and is tried again: it was due within the last day, or comes yet. Else nobody has tried the endpoint for long,
 * be it that there was nothing to send or no worker that sends.
 */
const isTriedAgain = sql`EXISTS (SELECT FROM ${pending} AND tries > 0 AND next_attempt_at > now() - interval '1 day')`;

/**
 * Whether so much waits that nothing more is taken for it. While it fails all counts that is tried again: a receiver that is gone fills no
 * disk. Of one that does well only what is due counts, which is sent now, and bounds a replay: what is tried again in hours keeps out nothing.
 */
const isFull = sql`CASE WHEN failing_since IS NULL
  THEN EXISTS (SELECT FROM ${pending} AND next_attempt_at <= now() OFFSET ${sql.lit(LIMITS.waitingDeliveries)} LIMIT 1)
  ELSE EXISTS (SELECT FROM ${pending} OFFSET ${sql.lit(LIMITS.waitingDeliveries)} LIMIT 1) END`;

/** How an endpoint did last. Undefined: another turn has it, or it is turned off or gone. */
export async function findPace(
  db: Queries,
  { organizationId, endpointId }: EndpointKey,
): Promise<EndpointPace | undefined> {
  const { rows } = await sql<Omit<EndpointPace, keyof EndpointKey>>`
    SELECT failing_since AS "failingSince", answer_ms AS "answerMs", ${isQuiet} AS "isQuiet" FROM webhook_endpoints
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND status = 'ACTIVE'
      AND ${isFree}`.execute(db);
  return rows[0] && { organizationId, endpointId, ...rows[0] };
}

/** Takes an endpoint in hand, which was quiet or not. Undefined: another turn has it, or it is turned off or gone. */
export async function holdEndpoint(
  db: Queries,
  { organizationId, endpointId, isQuiet }: EndpointKey & Pick<EndpointPace, 'isQuiet'>,
): Promise<HeldEndpoint | undefined> {
  const heldBy = newId();
  const { rows } = await sql<TargetRow & { failing_since: string | null; answer_ms: number | null }>`
    UPDATE webhook_endpoints SET held_by = ${heldBy}, held_until = now() + make_interval(secs => ${HELD_SECONDS})
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND status = 'ACTIVE'
      AND ${isFree}
    RETURNING ${targetColumns}, failing_since, answer_ms`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { failing_since: failingSince, answer_ms: answerMs } = row;
  return { organizationId, endpointId, heldBy, target: targetOf(row), failingSince, answerMs, isQuiet };
}

interface TargetRow {
  url: string;
  secret: Buffer;
  previous: Buffer | null;
  takes: string | null;
}

const targetColumns = sql.raw(
  'url, secret, CASE WHEN previous_secret_until > now() THEN previous_secret END AS previous, event_types::text AS takes',
);

const targetOf = ({ url, secret, previous, takes }: TargetRow): Target => ({
  url,
  secrets: previous === null ? [secret] : [secret, previous],
  takes,
});

/** Lets go of an endpoint, so that the next turn need not wait. When that was stays. */
export async function releaseEndpoint(
  db: Queries,
  { organizationId, endpointId, heldBy }: HeldEndpoint,
): Promise<void> {
  await sql`UPDATE webhook_endpoints SET held_by = NULL, held_until = now()
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND held_by = ${heldBy}`.execute(db);
}

interface KeptEndpoint extends TargetRow {
  last_sequence: string;
  event_types: string[] | null;
  replay_next: string | null;
  replay_last: string | null;
}

/** Keeps an endpoint in hand and locks its row. Undefined: it is this turn's no more, turned off or gone. */
async function keep(
  transaction: Queries,
  { organizationId, endpointId, heldBy }: HeldEndpoint,
): Promise<KeptEndpoint | undefined> {
  const { rows } = await sql<KeptEndpoint>`
    UPDATE webhook_endpoints SET held_until = now() + make_interval(secs => ${HELD_SECONDS})
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND held_by = ${heldBy} AND status = 'ACTIVE'
    RETURNING ${targetColumns}, last_sequence, event_types, replay_next, replay_last`.execute(transaction);
  return rows[0];
}

/** Where to send by now, and nothing else. Undefined: the turn is over. */
export async function lookAtTarget(db: Queries, held: HeldEndpoint): Promise<Look | undefined> {
  const endpoint = await keep(db, held);
  return endpoint && { target: targetOf(endpoint), due: [] };
}

/**
 * Takes what is new from the feed and what is to be replayed, and finds deliveries that have had no attempt, in the order of the feed,
 * behind those that this turn has begun (`after`). For one that was quiet and is full, the first look of a turn takes one of each; else
 * nobody would know for hours that it does well again. Undefined: the turn is over.
 */
export async function stageDeliveries(
  db: Queries,
  held: HeldEndpoint,
  after: number,
  isFirst = false,
): Promise<Look | undefined> {
  return await db.transaction().execute(async (transaction) => {
    const endpoint = await keep(transaction, held);
    if (endpoint === undefined) return undefined;
    const target = targetOf(endpoint);
    const waiting = await findFirsts(transaction, held, after);
    if (waiting.length > 0) return { target, due: waiting };
    const hasRoom = !(await isFullNow(transaction, held));
    if (!hasRoom && !(isFirst && held.isQuiet)) return { target, due: [] };
    const most = hasRoom ? STAGED_MAX : 1;
    await stageNew(transaction, held, endpoint, most);
    await stageReplay(transaction, held, endpoint, most);
    return { target, due: await findFirsts(transaction, held, after) };
  });
}

async function isFullNow(transaction: Queries, { organizationId, endpointId }: HeldEndpoint): Promise<boolean> {
  const { rows } = await sql<{ isFull: boolean }>`
    SELECT ${isFull} AS "isFull" FROM webhook_endpoints AS endpoints
    WHERE organization_id = ${organizationId} AND id = ${endpointId}`.execute(transaction);
  return rows[0]?.isFull === true;
}

/** Reads on in the feed. How far it has come stands, whatever it has found: the next turn goes on from there. */
async function stageNew(transaction: Queries, held: HeldEndpoint, endpoint: KeptEndpoint, most: number): Promise<void> {
  const { organizationId, endpointId } = held;
  // First of all: an event that comes after it is for the next time.
  const told = await sql<{ last_sequence: string }>`
    SELECT last_sequence FROM billing_feeds WHERE organization_id = ${organizationId}`.execute(transaction);
  const end = Number(told.rows[0]?.last_sequence ?? 0);
  const { last_sequence, event_types } = endpoint;
  const { sequences, until } = await searchFeed(transaction, held, event_types, Number(last_sequence) + 1, end, most);
  await sql`INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, sequence)
    SELECT ${organizationId}, id, ${endpointId}, sequence FROM ${withIds(sequences)}
    ON CONFLICT (organization_id, endpoint_id, sequence) DO NOTHING`.execute(transaction);
  await sql`UPDATE webhook_endpoints SET last_sequence = greatest(last_sequence, ${until})
    WHERE organization_id = ${organizationId} AND id = ${endpointId}`.execute(transaction);
}

/** What has had its first attempt is sent again behind what has not. */
async function stageReplay(
  transaction: Queries,
  held: HeldEndpoint,
  { event_types, replay_next, replay_last }: KeptEndpoint,
  most: number,
): Promise<void> {
  const { organizationId, endpointId } = held;
  if (replay_next === null || replay_last === null) return;
  const last = Number(replay_last);
  const { sequences, until } = await searchFeed(transaction, held, event_types, Number(replay_next), last, most);
  await sql`INSERT INTO webhook_deliveries AS deliveries (organization_id, id, endpoint_id, sequence, next_attempt_at)
    SELECT ${organizationId}, id, ${endpointId}, sequence, now() FROM ${withIds(sequences)}
    ON CONFLICT (organization_id, endpoint_id, sequence) DO UPDATE
    SET status = 'PENDING', tries = 0, next_attempt_at = now(), delivered_at = NULL
    WHERE deliveries.next_attempt_at IS NOT NULL`.execute(transaction);
  const isDone = until >= last;
  await sql`UPDATE webhook_endpoints SET replay_next = ${isDone ? null : until + 1}, replay_last = ${isDone ? null : last}
    WHERE organization_id = ${organizationId} AND id = ${endpointId}`.execute(transaction);
}

/** At most so many events of a part of the feed that are of these types (null: of any), and up to where it was searched. */
async function searchFeed(
  transaction: Queries,
  { organizationId }: HeldEndpoint,
  types: string[] | null,
  first: number,
  last: number,
  most: number,
): Promise<{ sequences: string[]; until: number }> {
  const end = Math.min(last, first + SEARCHED_MAX - 1);
  const { rows } = await sql<{ sequence: string }>`
    SELECT sequence FROM billing_events
    WHERE organization_id = ${organizationId} AND sequence BETWEEN ${first} AND ${end}
      AND (${types}::text[] IS NULL OR type = ANY (${types}::text[]))
    ORDER BY sequence LIMIT ${most}`.execute(transaction);
  const sequences = rows.map(({ sequence }) => sequence);
  return { sequences, until: sequences.length === most ? Number(sequences.at(-1)) : end };
}

const withIds = (sequences: string[]) =>
  sql`unnest(${sequences.map(() => newId())}::uuid[], ${sequences}::bigint[]) AS staged (id, sequence)`;

/** Events that have had no attempt. */
async function findFirsts(transaction: Queries, held: HeldEndpoint, after: number): Promise<DueDelivery[]> {
  return await findDue(
    transaction,
    held,
    sql`deliveries.next_attempt_at IS NULL AND deliveries.sequence > ${after} ORDER BY deliveries.sequence LIMIT ${STAGED_MAX}`,
  );
}

/** What is to be tried again by now, or is a test; without those that this turn has under way. Undefined: the turn is over. */
export async function findRetries(
  db: Queries,
  held: HeldEndpoint,
  underWay: readonly string[],
  limit: number,
): Promise<Look | undefined> {
  const endpoint = await keep(db, held);
  if (endpoint === undefined) return undefined;
  const due = await findDue(
    db,
    held,
    sql`deliveries.next_attempt_at <= now() AND deliveries.id <> ALL (${underWay}::uuid[])
      ORDER BY deliveries.next_attempt_at, deliveries.sequence LIMIT ${limit}`,
  );
  return { target: targetOf(endpoint), due };
}

/** The event of each is looked up by itself: in a join, Postgres may hold each delivery against each event of the organization. */
async function findDue(
  db: Queries,
  { organizationId, endpointId }: HeldEndpoint,
  which: RawBuilder<unknown>,
): Promise<DueDelivery[]> {
  const { rows } = await sql<Omit<DueDelivery, 'sequence'> & { sequence: string | null }>`
    SELECT due.id, due.sequence, due.tries, due.attempt_count, due.next_attempt_at, coalesce(events.type, ${TEST_TYPE}) AS type,
      coalesce(events.created_at, due.created_at) AS created_at, coalesce(events.actor, 'weir') AS actor,
      coalesce(events.data, '{}') AS data
    FROM (
      SELECT id, sequence, tries, attempt_count, next_attempt_at, created_at FROM webhook_deliveries AS deliveries
      WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId} AND status = 'PENDING' AND ${which}
    ) AS due
    LEFT JOIN LATERAL (
      SELECT type, created_at, actor, data FROM billing_events
      WHERE organization_id = ${organizationId} AND billing_events.sequence = due.sequence OFFSET 0
    ) AS events ON true
    ORDER BY due.next_attempt_at NULLS FIRST, due.sequence`.execute(db);
  return rows.map((row) => ({ ...row, sequence: row.sequence === null ? null : Number(row.sequence) }));
}

/** What came of an attempt. */
export interface Outcome {
  delivery: DueDelivery;
  /** To where it was sent. */
  url: string;
  attempt: Attempt;
  /** When it is tried again, in milliseconds from now. `DELIVERED`, `FAILED`: never. */
  next: { retryMs: number } | 'DELIVERED' | 'FAILED';
  /** Whether the receiver says that there is nobody any more. */
  isGone: boolean;
}

/** What an endpoint has come to by some outcomes. */
export interface EndpointState {
  failingSince: string | null;
  /** Why it is turned off by now; null: it is not. */
  disabledReason: DisabledReason | null;
}

/**
 * Writes down what came of attempts, in the order in which they ended, and turns the endpoint off where it has failed for too long, which
 * the feed tells. What came of a former address of it says nothing of how it does now, nor does a failure of what was given up or done
 * meanwhile. Where it was turned off meanwhile nothing would end a failing that begins. Undefined: the endpoint is gone.
 */
export async function recordOutcomes(
  db: Queries,
  held: HeldEndpoint,
  outcomes: readonly Outcome[],
): Promise<EndpointState | undefined> {
  const { organizationId, endpointId } = held;
  return await db.transaction().execute(async (transaction) => {
    const { rows: targets } = await sql<{ url: string }>`SELECT url FROM webhook_endpoints
      WHERE organization_id = ${organizationId} AND id = ${endpointId} FOR NO KEY UPDATE`.execute(transaction);
    const present = outcomes.filter(({ url }) => url === targets[0]?.url);
    const failed = present.filter(({ next }) => next !== 'DELIVERED');
    const waiting = await findWaiting(transaction, organizationId, failed);
    const state = stateAfter(present.filter(({ delivery, next }) => next === 'DELIVERED' || waiting.has(delivery.id)));
    // After silence a failure is the first one of its own days: what it followed says nothing of how the endpoint does now.
    const { rows } = await sql<{ failing_since: string | null; disabled_reason: DisabledReason | null }>`
      UPDATE webhook_endpoints AS endpoints SET failing_since = CASE WHEN status <> 'ACTIVE' THEN failing_since ELSE CASE ${state}
          WHEN 'well' THEN NULL WHEN 'untold' THEN failing_since
          WHEN 'failed' THEN CASE WHEN ${isTriedAgain} THEN coalesce(failing_since, now()) ELSE now() END
          ELSE now() END END,
        answer_ms = ${outcomes.at(-1)?.attempt.ms ?? 0},
        held_until = CASE WHEN held_by = ${held.heldBy} THEN now() + make_interval(secs => ${HELD_SECONDS}) ELSE held_until END
      WHERE organization_id = ${organizationId} AND id = ${endpointId}
      RETURNING failing_since, CASE WHEN status <> 'ACTIVE' THEN NULL WHEN ${present.some(({ isGone }) => isGone)} THEN 'GONE'
        WHEN ${state === 'failed'} AND failing_since <= now() - make_interval(days => ${LIMITS.failingDays}) THEN 'FAILING' END AS disabled_reason`.execute(
      transaction,
    );
    const [endpoint] = rows;
    if (endpoint === undefined) return undefined;
    await updateDeliveries(transaction, organizationId, outcomes);
    const { failing_since: failingSince, disabled_reason: disabledReason } = endpoint;
    if (disabledReason !== null) {
      await sql`UPDATE webhook_endpoints SET status = 'DISABLED', disabled_reason = ${disabledReason}
        WHERE organization_id = ${organizationId} AND id = ${endpointId}`.execute(transaction);
      const data = { id: endpointId, reason: disabledReason, failing_since: failingSince };
      await appendFeed(transaction, organizationId, [{ type: 'webhook_endpoint.disabled', actor: 'weir', data }]);
    }
    return { failingSince, disabledReason };
  });
}

/** Those that still wait to be sent, by their ids. */
async function findWaiting(
  transaction: Queries,
  organizationId: string,
  outcomes: readonly Outcome[],
): Promise<Set<string>> {
  if (outcomes.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM webhook_deliveries WHERE organization_id = ${organizationId}
      AND id = ANY (${outcomes.map(({ delivery }) => delivery.id)}::uuid[]) AND status = 'PENDING'`.execute(
    transaction,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Whether the last of them did well; else whether one before it did. A test that fails tells nothing: it is sent before a receiver is there. */
function stateAfter(outcomes: readonly Outcome[]): 'well' | 'failed_anew' | 'failed' | 'untold' {
  const telling = outcomes.filter(({ delivery, next }) => next === 'DELIVERED' || delivery.sequence !== null);
  if (telling.length === 0) return 'untold';
  if (telling.at(-1)?.next === 'DELIVERED') return 'well';
  return telling.some(({ next }) => next === 'DELIVERED') ? 'failed_anew' : 'failed';
}

/**
 * It stays as it was asked for, and is tried once more, or as it was given up: what came of an attempt of before is only listed. One that
 * was given up meanwhile and has come all the same is delivered.
 */
const isAskedAnew = sql`(deliveries.next_attempt_at IS DISTINCT FROM outcome.due_at
  AND (deliveries.status <> 'FAILED' OR outcome.status <> 'DELIVERED'))`;

async function updateDeliveries(
  transaction: Queries,
  organizationId: string,
  outcomes: readonly Outcome[],
): Promise<void> {
  const rows = outcomes.map(({ delivery, attempt, next }) => ({
    id: delivery.id,
    seen: delivery.attempt_count,
    due_at: delivery.next_attempt_at,
    tries: delivery.tries + 1,
    status: typeof next === 'string' ? next : 'PENDING',
    wait: typeof next === 'string' ? 0 : next.retryMs / 1000,
    attempt,
  }));
  // One that another turn has tried meanwhile is as that one found it.
  await sql`
    UPDATE webhook_deliveries AS deliveries SET
      status = CASE WHEN ${isAskedAnew} THEN deliveries.status ELSE outcome.status END,
      tries = CASE WHEN ${isAskedAnew} THEN deliveries.tries ELSE outcome.tries END,
      next_attempt_at = CASE WHEN ${isAskedAnew} THEN deliveries.next_attempt_at
        ELSE now() + make_interval(secs => outcome.wait) END,
      delivered_at = CASE WHEN NOT ${isAskedAnew} AND outcome.status = 'DELIVERED' THEN now() END,
      attempt_count = deliveries.attempt_count + 1,
      attempts = CASE WHEN jsonb_array_length(deliveries.attempts) >= ${LIMITS.deliveryAttempts} THEN deliveries.attempts - 0
        ELSE deliveries.attempts END || outcome.attempt
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      AS outcome (id uuid, seen integer, due_at timestamptz, tries integer, status text, wait float8, attempt jsonb)
    WHERE deliveries.organization_id = ${organizationId} AND deliveries.id = outcome.id
      AND deliveries.attempt_count = outcome.seen`.execute(transaction);
}

/** Webhooks, as one looks at them from outside. */
export interface WebhookState {
  /** Endpoints whose last attempt failed, of those that are on; and those that Weir turned off. */
  failing: number;
  disabled: number;
  /**
   * How long the oldest waits of what is to be sent by now to an endpoint which is on, and which no worker has had in hand for ten minutes,
   * in seconds; 0 where nothing is. What a receiver keeps waiting is not for Weir to send sooner. A new event waits since it happened. What is sent again waits since it was asked for, or since its time came: it may be as old as the feed.
   */
  oldestSeconds: number;
}

/** Where something was to be sent, a worker that is there would have taken it in hand since. */
const isLeftAlone = sql`coalesce(held_until < now() - interval '10 minutes', true)`;

export async function readWebhookState(db: Queries): Promise<WebhookState> {
  const { rows } = await sql<{ failing: number; disabled: number; seconds: number | null }>`
    SELECT count(*) FILTER (WHERE status = 'ACTIVE' AND failing_since IS NOT NULL)::integer AS failing,
      count(disabled_reason)::integer AS disabled,
      extract(epoch FROM now() - min(CASE WHEN status = 'ACTIVE' AND ${isLeftAlone} THEN least(
        (SELECT min(created_at) FROM ${pending} AND next_attempt_at IS NULL),
        (SELECT min(next_attempt_at) FROM ${pending}),
        (SELECT created_at FROM billing_events AS events WHERE events.organization_id = endpoints.organization_id
          AND events.sequence > endpoints.last_sequence AND (failing_since IS NULL OR NOT ${isFull})
          ORDER BY events.sequence LIMIT 1)) END))::float8 AS seconds
    FROM webhook_endpoints AS endpoints`.execute(db);
  const [row] = rows;
  return {
    failing: row?.failing ?? 0,
    disabled: row?.disabled ?? 0,
    oldestSeconds: Math.max(0, row?.seconds ?? 0),
  };
}
