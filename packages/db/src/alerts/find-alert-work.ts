// Where alerts have something to do. Each process looks every second, and remembers where its look at an organization begins: behind the
// changes that are gone for good.
//
// While an old snapshot is open, of a backup or of a count of all events, Postgres keeps every row that was taken since. A look from the
// first of them on would pass over all of these, and after some hours take longer than a statement may.
//
// A change that is committed late has a lower id than others that were taken before. Nothing moves on over it: an id is handed out
// within a transaction that has its number already, and only what was handed out before the oldest transaction that still runs is
// passed. So it is found by the first look behind its commit, as any other, within a second and the turns of other organizations.

import type pg from 'pg';
import type { Database } from '../database.ts';
import { poolTransaction } from '../pool-transaction.ts';
import type { Runs } from '../runs.ts';

/** Until when ids of changes were handed out, and to whom: read before the transaction `own` got its number. */
interface HandedOut {
  /** Changes when Postgres is started or recovers from a crash, or another server is. */
  server: string;
  last: bigint;
  own: bigint;
  /** The oldest transaction that may still change something. */
  oldest: bigint;
}

/** An organization, and the first change of it that may be there. */
type KnownPlace = readonly [organizationId: string, place: string];

/** Where a process begins to look for changes of usage, by organization. */
export class TouchedPlaces {
  readonly #places = new Map<string, bigint>();
  #server = '';
  #mark: Pick<HandedOut, 'last' | 'own'> | undefined;
  #decided: bigint | undefined;
  #isBehind = false;

  /** Whether looks begin behind what is gone; not so at first, or behind a change of the server. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** The first change of an organization that may be there. */
  of(organizationId: string): string {
    return String(this.#places.get(organizationId) ?? 0n);
  }

  known(): KnownPlace[] {
    return [...this.#places].map(([id, place]) => [id, String(place)]);
  }

  /**
   * Learns which ids are decided: whoever looks from now on sees the change, or nobody ever does. A Postgres that has gone back in time
   * hands out ids again, so all begins anew: also where it has gone back to ids that are not decided, but about to be.
   */
  learn({ server, last, own, oldest }: HandedOut): void {
    if (server !== this.#server || last < (this.#mark?.last ?? 0n)) {
      this.#places.clear();
      this.#mark = undefined;
      this.#decided = undefined;
      this.#isBehind = false;
    }
    this.#server = server;
    if (this.#mark !== undefined && this.#mark.own < oldest) {
      this.#decided = this.#mark.last;
      this.#mark = undefined;
    }
    this.#mark ??= { last, own };
  }

  /** Moves each to the first change that is there, be it in somebody's hands; null: none is. All that a look is about are moved at once. */
  move(firsts: Iterable<readonly [organizationId: string, first: string | null]>): void {
    const next = this.#decided === undefined ? 0n : this.#decided + 1n;
    for (const [id, first] of firsts)
      this.#places.set(id, first === null || BigInt(first) > next ? next : BigInt(first));
    this.#isBehind = this.#decided !== undefined;
  }
}

/** A look that begins with the first of all that an old snapshot has Postgres keep may take so long. */
const FIRST_LOOK_MS_MAX = 60_000;

/** Organizations with changes that wait, from one to the next: each may have very many. */
const FIND_TOUCHED = `
WITH RECURSIVE touched (id) AS (
  (SELECT organization_id FROM touched_usage ORDER BY organization_id LIMIT 1)
  UNION ALL SELECT (SELECT organization_id FROM touched_usage WHERE organization_id > touched.id ORDER BY organization_id LIMIT 1)
  FROM touched WHERE id IS NOT NULL
)
SELECT id FROM touched WHERE id IS NOT NULL`;

/**
 * Those that have alerts, and those that are known ($1, each with its place, $2): without what has nothing to do and is known. What has waited
 * longest is looked for among the next thousand changes: what takes too long to be read has a later id than what came after it.
 */
const FIND_WAITING = `
WITH known AS MATERIALIZED (SELECT * FROM unnest($1::uuid[], $2::bigint[]) AS known (id, place)),
alerting AS MATERIALIZED (
  SELECT organization_id AS id, bool_or(status = 'DELETED' OR status = 'ACTIVE' AND looked_after IS NOT NULL) AS has_own,
    min(look_asked_at) FILTER (WHERE status = 'ACTIVE' AND looked_after IS NOT NULL) AS asked_at
  FROM alerts GROUP BY organization_id
)
SELECT coalesce(known.id, alerting.id) AS id, first_id, coalesce(has_own, false) AS has_own,
  extract(epoch FROM billing_now() - least(touched_at, asked_at))::float8 AS seconds
FROM known FULL JOIN alerting USING (id) LEFT JOIN LATERAL (
  SELECT min(next.id) AS first_id, min(touched_at) AS touched_at FROM (
    SELECT touched_usage.id, touched_at FROM touched_usage
    WHERE organization_id = coalesce(known.id, alerting.id) AND touched_usage.id >= coalesce(place, 0)
    ORDER BY touched_usage.id LIMIT 1000
  ) AS next
) AS first ON true
WHERE first_id IS NOT NULL OR has_own OR place IS NULL`;

interface WaitingRow {
  id: string;
  first_id: string | null;
  /** Whether an alert is new, or deleted. */
  has_own: boolean;
  /** How long the oldest change has waited, or the oldest new alert. */
  seconds: number | null;
}

/**
 * Organizations that alerts have something to do in. Changes that were noted while the last alert of one went are taken as well: left
 * there, they would tell its next alert of periods that are long over.
 */
export async function findAlertWork({ pool }: Database, places: TouchedPlaces): Promise<string[]> {
  places.learn(await readHandedOut(pool));
  return places.isBehind
    ? await findWork(findIn(pool), places)
    : await patiently(pool, (find) => findWork(find, places));
}

async function findWork(find: Find, places: TouchedPlaces): Promise<string[]> {
  const known = new Map(places.known());
  if (!places.isBehind)
    for (const { id } of await find<{ id: string }>(FIND_TOUCHED)) if (!known.has(id)) known.set(id, '0');
  const rows = await findWaiting(find, [...known]);
  const firsts = new Map<string, string | null>([...known.keys()].map((id) => [id, null]));
  for (const { id, first_id } of rows) firsts.set(id, first_id);
  places.move(firsts);
  return rows.filter(({ first_id, has_own }) => first_id !== null || has_own).map(({ id }) => id);
}

const findWaiting = (find: Find, known: readonly KnownPlace[]): Promise<WaitingRow[]> =>
  find<WaitingRow>(FIND_WAITING, [known.map(([id]) => id), known.map(([, place]) => place)]);

/** How long the oldest change of usage, or the oldest new alert, has waited, in seconds; 0 where nothing waits. */
export async function readAlertsOldestSeconds({ pool }: Database, places: TouchedPlaces): Promise<number> {
  const rows = await findWaiting(findIn(pool), places.known());
  return rows.reduce((oldest, { seconds }) => Math.max(oldest, seconds ?? 0), 0);
}

async function readHandedOut(pool: pg.Pool): Promise<HandedOut> {
  // In a transaction both come from one server.
  return await poolTransaction(pool, async (client) => {
    const { rows: sequences } = await client.query<{ last: string }>(
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM touched_usage_id_seq',
    );
    // Whoever was handed out an id before this has a lower number. One process that is killed has Postgres recover without a start, and ids
    // that it has not written to disk are handed out again: it counts its own statistics anew then, and not after a stop.
    const { rows: transactions } = await client.query<{ server: string; own: string; oldest: string }>(
      `SELECT concat(pg_postmaster_start_time(), ' ', pg_stat_get_bgwriter_stat_reset_time()) AS server,
         pg_current_xact_id()::text AS own,
         pg_snapshot_xmin(pg_current_snapshot())::text AS oldest`,
    );
    const [{ last } = { last: '0' }] = sequences;
    const [{ server, own, oldest } = { server: '', own: '0', oldest: '0' }] = transactions;
    return { server, last: BigInt(last), own: BigInt(own), oldest: BigInt(oldest) };
  });
}

type Find = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

const findIn =
  (connection: Runs, limits: object = {}): Find =>
  async <Row extends object>(text: string, values: readonly unknown[] = []) =>
    (await connection.query<Row>({ text, values: [...values], ...limits })).rows;

async function patiently<Value>(pool: pg.Pool, use: (find: Find) => Promise<Value>): Promise<Value> {
  return await poolTransaction(pool, async (client) => {
    await client.query(`SELECT set_config('statement_timeout', $1, true)`, [String(FIRST_LOOK_MS_MAX)]);
    return await use(findIn(client, { query_timeout: FIRST_LOOK_MS_MAX + 2_000 }));
  });
}
