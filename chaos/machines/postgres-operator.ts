// Who is the primary of Postgres: what Patroni, a cloud or a person at the console decides. It looks at both through the network, as one
// who stands outside. A primary that is away gives way to a standby that has all that was acknowledged; a standby that is away is not
// waited for any more, until it is back and has caught up. Nothing of this is Weir's.

import { STANDBY } from '@weir/services/standby';
import { errorCodeOf } from '@weir/shared/errors';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Edge } from '../environment/edge.ts';
import type { Network } from './network.ts';
import type { PostgresName } from './placement.ts';
import type { PostgresNode, PostgresPair } from './postgres-pair.ts';

const LOOK_MS = 100;

/** Who does not answer in this time is silent. */
const ANSWER_MS_MAX = 400;

/** So long somebody has to be away, or a standby not to follow, until something is done. */
const AWAY_MS = { refused: 150, silent: 700 };

export interface OperatorDeps {
  pair: PostgresPair;
  network: Network;
  /** The ways of those who call the address of Postgres. */
  address: readonly Edge[];
  /** Where the operator reaches each of the two. */
  portOf(name: PostgresName): number;
  log: (line: string) => void;
}

/** What one look at a Postgres finds. */
export type Look = { isThere: true; isFollowed: boolean } | { isThere: false; isSilent: boolean };

/** How long it is so, in milliseconds. */
export interface Since {
  away: number;
  unfollowed: number;
}

export type Decision = 'promote' | 'wait for nobody' | 'wait for the standby' | undefined;

/** What is to be done. `isSync`: the primary waits for its standby, so that this one has all that was acknowledged. */
export function decide(
  primary: { look: Look; since: Since },
  standby: { look: Look; since: Since },
  isSync: boolean,
): Decision {
  if (!primary.look.isThere) {
    const isGone = primary.since.away >= (primary.look.isSilent ? AWAY_MS.silent : AWAY_MS.refused);
    return isGone && isSync && standby.look.isThere ? 'promote' : undefined;
  }
  if (!isSync) return primary.look.isFollowed && standby.look.isThere ? 'wait for the standby' : undefined;
  const isStandbyGone =
    !standby.look.isThere && standby.since.away >= (standby.look.isSilent ? AWAY_MS.silent : AWAY_MS.refused);
  return isStandbyGone || primary.since.unfollowed >= AWAY_MS.silent ? 'wait for nobody' : undefined;
}

export class PostgresOperator {
  readonly #deps: OperatorDeps;
  readonly #eyes = new Map<PostgresName, Eye>();
  #isSync = false;
  #isClosed = false;
  #isPaused = false;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: OperatorDeps) {
    this.#deps = deps;
  }

  /** Whether what is acknowledged is on two machines. */
  get isSync(): boolean {
    return this.#isSync;
  }

  begin(): void {
    this.#running = this.#run();
  }

  /** Nobody looks for so long, as one who has not noticed yet. */
  async whilePaused<T>(action: () => Promise<T>): Promise<T> {
    this.#isPaused = true;
    try {
      return await action();
    } finally {
      for (const eye of this.#eyes.values()) eye.forget();
      this.#isPaused = false;
    }
  }

  /** Promotes the standby now, and has the address lead to it. */
  async promote(): Promise<void> {
    const { pair, network, address, log } = this.#deps;
    await pair.promote();
    this.#isSync = false;
    network.move(address, pair.primary.name, pair.primary.port);
    log(`${pair.primary.name} is the primary of Postgres now.`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    for (const eye of this.#eyes.values()) eye.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        if (!this.#isPaused) await this.#step();
      } catch (error) {
        // Whoever it was about is away by now, which the next look sees.
        this.#deps.log(`The operator of Postgres: ${error instanceof Error ? error.message : String(error)}`);
      }
      await delay(LOOK_MS);
    }
  }

  async #step(): Promise<void> {
    const { pair } = this.#deps;
    const eyes = [this.#eyeOn(pair.primary), this.#eyeOn(pair.standby)] as const;
    const [primary, standby] = await Promise.all([eyes[0].look(), eyes[1].look()]);
    if (this.#isPaused || this.#isClosed) return;
    const decision = decide(primary, standby, this.#isSync);
    if (decision === 'promote') await this.promote();
    else if (decision !== undefined) await this.#setSync(eyes[0], decision === 'wait for the standby');
  }

  async #setSync(eye: Eye, isSync: boolean): Promise<void> {
    await eye.query(`ALTER SYSTEM SET synchronous_standby_names = '${isSync ? STANDBY : ''}'`);
    await eye.query('SELECT pg_reload_conf()');
    this.#isSync = isSync;
    this.#deps.log(isSync ? 'Postgres waits for its standby.' : 'Postgres waits for no standby.');
  }

  #eyeOn({ name }: PostgresNode): Eye {
    const { pair, portOf } = this.#deps;
    const eye = this.#eyes.get(name) ?? new Eye(pair.urlAt(portOf(name)));
    this.#eyes.set(name, eye);
    return eye;
  }
}

/** Looks at one Postgres again and again, on one connection as long as that stands. */
class Eye {
  readonly #url: string;
  #client: pg.Client | undefined;
  #awaySince: number | undefined;
  #unfollowedSince: number | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async look(): Promise<{ look: Look; since: Since }> {
    const beganAt = performance.now();
    const look = await this.#look();
    const now = performance.now();
    this.#awaySince = look.isThere ? undefined : (this.#awaySince ?? beganAt);
    this.#unfollowedSince = look.isThere && look.isFollowed ? undefined : (this.#unfollowedSince ?? beganAt);
    return {
      look,
      since: { away: now - (this.#awaySince ?? now), unfollowed: now - (this.#unfollowedSince ?? now) },
    };
  }

  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    this.#client ??= await connected(this.#url);
    return (await this.#client.query<Row>(text)).rows;
  }

  /** What was seen before counts no more. */
  forget(): void {
    this.#awaySince = undefined;
    this.#unfollowedSince = undefined;
  }

  close(): void {
    const client = this.#client;
    this.#client = undefined;
    // One that is silent would not be waited for.
    client?.end().catch(() => {});
  }

  async #look(): Promise<Look> {
    try {
      const [row] = await this.query<{ followed: boolean }>(
        "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming') AS followed",
      );
      return { isThere: true, isFollowed: row?.followed === true };
    } catch (error) {
      this.close();
      const isSilent = errorCodeOf(error) === undefined && /timeout|timed out/i.test(String(error));
      return { isThere: false, isSilent };
    }
  }
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    client.end().catch(() => {});
    throw error;
  }
}
